import torch
torch.manual_seed(0)
class Attention(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = 3
        for name in ['W_q', 'W_k', 'W_v', 'W_o']:
            setattr(self, name, torch.nn.Linear(12, 12))
self = Attention()
query = key = value = torch.randn(2, 5, 12)
q, k, v = self.W_q(query), self.W_k(key), self.W_v(value)
split = lambda t: t.view(2, 5, 3, 4).transpose(1, 2)
scores = split(q) @ split(k).transpose(-2, -1) / 2
mask = MASK
attn = (scores if mask is None else scores.masked_fill(mask[:, None, None], -torch.inf)).softmax(dim=SOFTMAX)
output = self.W_o((attn @ split(v)).transpose(1, 2).reshape(2, 5, 12))

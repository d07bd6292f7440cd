"""Writes what transformers' GPT-2, of the sizes of the crate `gpt`, gives for five names.

    python3 -m venv venv && venv/bin/pip install torch transformers safetensors numpy
    venv/bin/python tests/data/torch-vectors/gpt/make.py

Everything is float64. The file holds random parameters under GPT-2's names, under `grad.` the
gradient of each, the `logits` of the first name, and `losses`: before each of 20 steps of
PyTorch's Adam on the same five names, the mean over their letters and ends of -ln of the chance
that GPT-2 gave to what came.

`two-blocks.safetensors` is a model of another size, as `save_pretrained` writes it, in float32:
its parameters, and the `logits` of the first name.
"""

from pathlib import Path

import torch
from safetensors.torch import save_file
from torch.nn import functional as F
from transformers import GPT2Config, GPT2LMHeadModel

NAMES = ["emma", "jo", "christopher", "zoe", "al"]

torch.manual_seed(1)
model = GPT2LMHeadModel(
    GPT2Config(
        vocab_size=27, n_positions=16, n_embd=16, n_layer=1, n_head=4,
        embd_pdrop=0.0, attn_pdrop=0.0, resid_pdrop=0.0, attn_implementation="eager",
    )
).double()
with torch.no_grad():
    for name, parameter in model.named_parameters():
        gain = "ln_" in name and name.endswith("weight")
        parameter.copy_(float(gain) + 0.2 * torch.randn_like(parameter))
parameters = {name: parameter.clone() for name, parameter in model.named_parameters()}


def ids(name):
    return torch.tensor([[0, *(ord(letter) - 96 for letter in name), 0]])


def loss():
    losses = []
    for name in NAMES:
        logits = model(ids(name)[:, :-1]).logits[0]
        losses.append(F.cross_entropy(logits, ids(name)[0, 1:], reduction="none"))
    return torch.cat(losses).mean()


logits = model(ids(NAMES[0])[:, :-1]).logits[0].detach().clone()
adam = torch.optim.Adam(model.parameters(), lr=0.01)
losses, gradients = [], None
for _ in range(20):
    adam.zero_grad()
    one = loss()
    one.backward()
    if gradients is None:
        gradients = {f"grad.{n}": p.grad.clone() for n, p in model.named_parameters()}
    losses.append(one.item())
    adam.step()

tensors = parameters | gradients | {"logits": logits, "losses": torch.tensor(losses, dtype=torch.float64)}
save_file(
    {name: tensor.detach().contiguous() for name, tensor in tensors.items()},
    Path(__file__).parent / "gpt2.safetensors",
    {"names": " ".join(NAMES), "made by": f"torch {torch.__version__}"},
)

torch.manual_seed(2)
model = GPT2LMHeadModel(
    GPT2Config(
        vocab_size=27, n_positions=12, n_embd=8, n_layer=2, n_head=2,
        embd_pdrop=0.0, attn_pdrop=0.0, resid_pdrop=0.0, attn_implementation="eager",
    )
)
with torch.no_grad():
    for name, parameter in model.named_parameters():
        gain = "ln_" in name and name.endswith("weight")
        parameter.copy_(float(gain) + 0.2 * torch.randn_like(parameter))
    tensors = {name: parameter.clone() for name, parameter in model.named_parameters()}
    tensors["logits"] = model.double()(ids(NAMES[0])[:, :-1]).logits[0]
save_file(
    {name: tensor.contiguous() for name, tensor in tensors.items()},
    Path(__file__).parent / "two-blocks.safetensors",
    {"names": " ".join(NAMES), "made by": f"torch {torch.__version__}"},
)

"""PyTorch's side of the benchmark `pytorch`.

Reads parameters and an input from a safetensors file, then answers one line of standard
input with one line of standard output: `check VARIANT FILE` writes the variant's output,
`time VARIANT` runs it once and prints the milliseconds that it took.
"""

import math
import sys
import time

import torch
from safetensors.torch import load_file, save_file


class Textbook(torch.nn.Module):
    """Projections, view, transpose, softmax, spelled out; `sdpa` calls the fused kernel."""

    def __init__(self, tensors, heads, sdpa):
        super().__init__()
        self.heads, self.sdpa, self.t = heads, sdpa, tensors
        self.w = tensors["in_proj_weight"].chunk(3)
        self.b = tensors["in_proj_bias"].chunk(3)

    def forward(self, x):
        batch, tokens, width = x.shape
        q, k, v = (
            torch.nn.functional.linear(x, w, b)
            .view(batch, tokens, self.heads, width // self.heads)
            .transpose(1, 2)
            for w, b in zip(self.w, self.b)
        )
        if self.sdpa:
            y = torch.nn.functional.scaled_dot_product_attention(q, k, v)
        else:
            y = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]), -1) @ v
        y = y.transpose(1, 2).reshape(batch, tokens, width)
        return torch.nn.functional.linear(y, self.t["out_proj.weight"], self.t["out_proj.bias"])


def main():
    path, heads, threads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    torch.set_num_threads(threads)
    tensors = load_file(path)
    x = tensors.pop("query")
    module = torch.nn.MultiheadAttention(x.shape[-1], heads, batch_first=True).eval()
    module.load_state_dict(tensors)
    variants = {
        "textbook": Textbook(tensors, heads, sdpa=False),
        "sdpa": Textbook(tensors, heads, sdpa=True),
        "nn.MultiheadAttention": lambda x: module(x, x, x, need_weights=False)[0],
        "nn.MultiheadAttention with maps": lambda x: module(
            x, x, x, need_weights=True, average_attn_weights=False
        )[0],
    }
    print(f"PyTorch {torch.__version__}\t" + "\t".join(variants), flush=True)
    with torch.inference_mode():
        for line in sys.stdin:
            command, variant, *rest = line.rstrip("\n").split("\t")
            if command == "check":
                save_file({"output": variants[variant](x).contiguous()}, rest[0])
                print("written", flush=True)
            else:
                start = time.perf_counter()
                variants[variant](x)
                print((time.perf_counter() - start) * 1e3, flush=True)


main()

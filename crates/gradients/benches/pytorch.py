"""PyTorch's side of the benchmark `pytorch`.

Reads parameters, an input and the gradient of the output from a safetensors file, then
answers one line of standard input with one line of standard output: `check VARIANT FILE`
writes the variant's output and gradients, `time VARIANT` runs it once, forward and
backward, and prints the milliseconds that both took.
"""

import math
import sys
import time

import torch
from safetensors.torch import load_file, save_file

NAMES = ["in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias"]


class Textbook:
    """Projections, view, transpose, softmax, spelled out; `sdpa` calls the fused kernel."""

    def __init__(self, parameters, heads, sdpa):
        self.parameters, self.heads, self.sdpa = parameters, heads, sdpa

    def __call__(self, x):
        batch, tokens, width = x.shape
        in_weight, in_bias, out_weight, out_bias = self.parameters
        q, k, v = (
            torch.nn.functional.linear(x, w, b)
            .view(batch, tokens, self.heads, width // self.heads)
            .transpose(1, 2)
            for w, b in zip(in_weight.chunk(3), in_bias.chunk(3))
        )
        if self.sdpa:
            y = torch.nn.functional.scaled_dot_product_attention(q, k, v)
        else:
            y = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]), -1) @ v
        y = y.transpose(1, 2).reshape(batch, tokens, width)
        return torch.nn.functional.linear(y, out_weight, out_bias)


def main():
    path, heads, threads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    torch.set_num_threads(threads)
    tensors = load_file(path)
    x = tensors.pop("query").requires_grad_()
    d_out = tensors.pop("d_out")
    module = torch.nn.MultiheadAttention(x.shape[-1], heads, batch_first=True)
    module.load_state_dict(tensors)
    parameters = [dict(module.named_parameters())[name] for name in NAMES]
    variants = {
        "textbook": Textbook(parameters, heads, sdpa=False),
        "sdpa": Textbook(parameters, heads, sdpa=True),
        "nn.MultiheadAttention": lambda x: module(x, x, x, need_weights=False)[0],
        "nn.MultiheadAttention with maps": lambda x: module(
            x, x, x, need_weights=True, average_attn_weights=False
        )[0],
    }

    def run(variant):
        out = variants[variant](x)
        return out, torch.autograd.grad(out, [x, *parameters], d_out)

    print(f"PyTorch {torch.__version__}\t" + "\t".join(variants), flush=True)
    for line in sys.stdin:
        command, variant, *rest = line.rstrip("\n").split("\t")
        if command == "check":
            out, gradients = run(variant)
            names = ["output", "grad.query", *(f"grad.{name}" for name in NAMES)]
            found = dict(zip(names, [out.detach(), *gradients]))
            save_file({name: t.contiguous() for name, t in found.items()}, rest[0])
            print("written", flush=True)
        else:
            start = time.perf_counter()
            run(variant)
            print((time.perf_counter() - start) * 1e3, flush=True)


main()

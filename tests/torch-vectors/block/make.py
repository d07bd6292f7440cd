"""Writes the reference vectors of a block: what PyTorch's nn.TransformerEncoderLayer gives.

    python3 -m venv venv && venv/bin/pip install torch numpy safetensors
    venv/bin/python tests/torch-vectors/block/make.py

Everything is float64. Each file holds the parameters under PyTorch's names, `x`, the mask
`padding` (True is blocked), a `cotangent`, and what comes of them: `output`, and under
`grad.` the gradient of the sum of output * cotangent.
"""

from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import nn
from torch.nn import functional as F

D_MODEL, HEADS, D_FF, SEQUENCES, TOKENS = 8, 2, 20, 2, 5
ACTIVATIONS = {
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
}


def vectors(activation, norm_first, seed):
    torch.manual_seed(seed)
    layer = nn.TransformerEncoderLayer(
        D_MODEL, HEADS, D_FF, dropout=0.0, activation=ACTIVATIONS[activation],
        batch_first=True, norm_first=norm_first, dtype=torch.float64,
    )
    # PyTorch starts biases at 0 and gains at 1, with which a forgotten one would not show.
    with torch.no_grad():
        for name, parameter in layer.named_parameters():
            around = 1.0 if name in ("norm1.weight", "norm2.weight") else 0.0
            parameter.copy_(around + 0.4 * torch.randn_like(parameter))
    x = torch.randn(SEQUENCES, TOKENS, D_MODEL, dtype=torch.float64, requires_grad=True)
    cotangent = torch.randn(SEQUENCES, TOKENS, D_MODEL, dtype=torch.float64)
    padding = torch.zeros(SEQUENCES, TOKENS, dtype=torch.bool)
    padding[1, 3:] = True
    output = layer(x, src_key_padding_mask=padding)
    (output * cotangent).sum().backward()
    tensors = {name: parameter.detach() for name, parameter in layer.named_parameters()}
    tensors |= {f"grad.{n}": p.grad for n, p in layer.named_parameters()}
    tensors |= {"x": x.detach(), "grad.x": x.grad, "cotangent": cotangent}
    tensors |= {"padding": padding, "output": output.detach()}
    return {name: tensor.contiguous() for name, tensor in tensors.items()}


def main():
    folder = Path(__file__).parent
    cases = [("relu", False), ("gelu", False), ("gelu", True), ("gelu_tanh", True)]
    for seed, (activation, norm_first) in enumerate(cases):
        name = f"{'before' if norm_first else 'after'}_{activation}"
        metadata = {
            "torch_version": torch.__version__,
            "num_heads": str(HEADS),
            "activation": activation,
            "norm_first": str(norm_first),
        }
        save_file(vectors(activation, norm_first, seed), folder / f"{name}.safetensors", metadata)


if __name__ == "__main__":
    main()

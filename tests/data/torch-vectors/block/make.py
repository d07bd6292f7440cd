"""Writes the reference vectors of a block: what PyTorch's nn.TransformerEncoderLayer and
nn.TransformerDecoderLayer give.

    python3 -m venv venv && venv/bin/pip install torch numpy safetensors
    venv/bin/python tests/data/torch-vectors/block/make.py

Everything is float64. Each file holds the parameters under PyTorch's names, `x`, the mask
`padding` (True is blocked), a `cotangent`, and what comes of them: `output`, and under
`grad.` the gradient of the sum of output * cotangent. Those of a decoder's layer have the
`memory` too, its mask `memory_padding`, and the gradient of it; the target is masked causally.
"""

from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import nn
from torch.nn import functional as F

D_MODEL, HEADS, D_FF, SEQUENCES, TOKENS, SOURCE = 8, 2, 20, 2, 5, 7
ACTIVATIONS = {
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
}


def randomise(layer):
    # PyTorch starts biases at 0 and gains at 1, with which a forgotten one would not show.
    with torch.no_grad():
        for name, parameter in layer.named_parameters():
            around = 1.0 if name.startswith("norm") and name.endswith("weight") else 0.0
            parameter.copy_(around + 0.4 * torch.randn_like(parameter))


def tokens(count):
    return torch.randn(SEQUENCES, count, D_MODEL, dtype=torch.float64, requires_grad=True)


def padding(count, real):
    mask = torch.zeros(SEQUENCES, count, dtype=torch.bool)
    mask[1, real:] = True
    return mask


def vectors(kind, activation, norm_first, seed):
    torch.manual_seed(seed)
    layer = kind(
        D_MODEL, HEADS, D_FF, dropout=0.0, activation=ACTIVATIONS[activation],
        batch_first=True, norm_first=norm_first, dtype=torch.float64,
    )
    randomise(layer)
    x = tokens(TOKENS)
    cotangent = torch.randn(SEQUENCES, TOKENS, D_MODEL, dtype=torch.float64)
    given = {"x": x, "padding": padding(TOKENS, 3)}
    if kind is nn.TransformerEncoderLayer:
        output = layer(x, src_key_padding_mask=given["padding"])
    else:
        given |= {"memory": tokens(SOURCE), "memory_padding": padding(SOURCE, 4)}
        output = layer(
            x, given["memory"],
            tgt_mask=torch.ones(TOKENS, TOKENS, dtype=torch.bool).triu(1),
            tgt_key_padding_mask=given["padding"],
            memory_key_padding_mask=given["memory_padding"],
        )
    (output * cotangent).sum().backward()
    tensors = {name: parameter.detach() for name, parameter in layer.named_parameters()}
    tensors |= {f"grad.{n}": p.grad for n, p in layer.named_parameters()}
    tensors |= {f"grad.{n}": t.grad for n, t in given.items() if t.requires_grad}
    tensors |= {"cotangent": cotangent, "output": output.detach()}
    tensors |= {name: tensor.detach() for name, tensor in given.items()}
    return {name: tensor.contiguous() for name, tensor in tensors.items()}


def main():
    folder = Path(__file__).parent
    encoder, decoder = nn.TransformerEncoderLayer, nn.TransformerDecoderLayer
    cases = [
        (encoder, "relu", False), (encoder, "gelu", False), (encoder, "gelu", True),
        (encoder, "gelu_tanh", True), (decoder, "relu", False), (decoder, "gelu", True),
    ]
    for seed, (kind, activation, norm_first) in enumerate(cases):
        name = f"{'before' if norm_first else 'after'}_{activation}"
        if kind is decoder:
            name = f"decoder_{name}"
        metadata = {
            "torch_version": torch.__version__,
            "num_heads": str(HEADS),
            "activation": activation,
            "norm_first": str(norm_first),
        }
        tensors = vectors(kind, activation, norm_first, seed)
        save_file(tensors, folder / f"{name}.safetensors", metadata)


if __name__ == "__main__":
    main()

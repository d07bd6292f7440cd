"""PyTorch's side of `cargo learn bench gpt`: the loss of some names, and its gradients.

Started as pytorch.py is, with a FILE of `sizes` (width, blocks, positions), the list of
`parameters`, and `ids` and `targets` (names, letters), which are -100 where a name is filled
up. It answers `check` and `time` as pytorch.py does.
"""

import math
import sys

import torch
from pytorch import check, timed
from safetensors.torch import load_file
from torch.nn import functional as F

LETTERS = 27


def read(d, blocks, positions, numbers):
    """The parts of the list, in the order of the crate `gpt`, as leaves of a graph."""
    square, norm = [(d, d), (d,)], [(d,), (d,)]
    block = [*norm, *square * 4, *norm, (d, 4 * d), (4 * d,), (4 * d, d), (d,)]
    parts = []
    for shape in [(LETTERS, d), (positions, d), *block * blocks, *norm]:
        own, numbers = numbers[: math.prod(shape)], numbers[math.prod(shape) :]
        parts.append(own.reshape(shape).clone().requires_grad_())
    return parts


def loss_of(parts, n_heads, ids, targets):
    letters, positions, *blocks, gain, bias = parts
    names, length = ids.shape
    x = letters[ids] + positions[:length]
    d = (x.shape[-1],)
    for i in range(0, len(blocks), 16):
        g1, b1, wq, bq, wk, bk, wv, bv, wo, bo, g2, b2, w1, c1, w2, c2 = blocks[i : i + 16]
        y = F.layer_norm(x, d, g1, b1)
        q, k, v = (
            torch.addmm(b, y.flatten(0, 1), w).view(names, length, n_heads, -1).transpose(1, 2)
            for w, b in [(wq, bq), (wk, bk), (wv, bv)]
        )
        heads = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + heads.transpose(1, 2).reshape(names, length, -1) @ wo + bo
        hidden = F.gelu(F.layer_norm(x, d, g2, b2) @ w1 + c1, approximate="tanh")
        x = x + hidden @ w2 + c2
    logits = F.layer_norm(x, d, gain, bias) @ letters.T
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=-100)


def step(parts, *batch):
    """The loss, and the gradient of each parameter, in one row."""
    for part in parts:
        part.grad = None
    loss = loss_of(parts, *batch)
    loss.backward()
    return torch.cat([loss[None], *(part.grad.flatten() for part in parts)])


def main():
    path, heads, threads = sys.argv[1:4]
    torch.set_num_threads(int(threads))
    tensors = load_file(path)
    parts = read(*tensors["sizes"].flatten().int().tolist(), tensors["parameters"].flatten())
    batch = (int(heads), tensors["ids"].long(), tensors["targets"].long())
    print(f"PyTorch {torch.__version__.split('+')[0]}\tPyTorch", flush=True)
    for line in sys.stdin:
        command, _, _, *rest = line.rstrip("\n").split("\t")
        if command == "check":
            answer = check(lambda: (step(parts, *batch)[None], []), rest[0])
        else:
            answer = timed(lambda: step(parts, *batch))
        print(answer, flush=True)


main()

"""The same model in PyTorch, beside the rungs: `examples/rungs/main.rs` starts it.

A line of JSON asks: first with the sizes, the list of parameters and the names, which is
answered by the loss and the gradient of each parameter; then with a number of steps, which is
answered by the seconds that they took. Everything is float32, on one thread.
"""

import json
import math
import sys
import time

import torch
from torch.nn import functional as F

torch.set_num_threads(1)
LETTERS, IGNORED = 27, -100


def read(sizes, numbers):
    """The parts of the list, in the order of the crate, as leaves of a graph."""
    d, blocks, positions = sizes["d_model"], sizes["n_blocks"], sizes["n_positions"]
    square, norm = [(d, d), (d,)], [(d,), (d,)]
    block = [*norm, *square * 4, *norm, (d, 4 * d), (4 * d,), (4 * d, d), (d,)]
    parts = []
    for shape in [(LETTERS, d), (positions, d), *block * blocks, *norm]:
        own, numbers = numbers[: math.prod(shape)], numbers[math.prod(shape) :]
        parts.append(torch.tensor(own).reshape(shape).requires_grad_())
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
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=IGNORED)


def step(parts, *batch):
    for part in parts:
        part.grad = None
    loss = loss_of(parts, *batch)
    loss.backward()
    return loss.item()


for line in sys.stdin:
    asked = json.loads(line)
    if isinstance(asked, dict):
        length = max(map(len, asked["names"])) - 1
        ids, targets = torch.zeros(2, len(asked["names"]), length, dtype=torch.long)
        targets.fill_(IGNORED)
        for name, id_row, target_row in zip(asked["names"], ids, targets):
            id_row[: len(name) - 1] = torch.tensor(name[:-1])
            target_row[: len(name) - 1] = torch.tensor(name[1:])
        parts = read(asked["sizes"], asked["parameters"])
        batch = (asked["sizes"]["n_heads"], ids, targets)
        loss = step(parts, *batch)
        gradients = torch.cat([part.grad.flatten() for part in parts]).tolist()
        answer = {"loss": loss, "gradients": gradients, "version": torch.__version__}
    else:
        start = time.perf_counter()
        for _ in range(asked):
            step(parts, *batch)
        answer = time.perf_counter() - start
    print(json.dumps(answer), flush=True)

"""PyTorch's side of `cargo learn bench`.

Started with `FILE HEADS THREADS CAUSAL`, it reads a layer, an input and a gradient of the
output from FILE, says its version and its variants on one line, and then answers a line
of standard input with a line of standard output, words separated by tabs:

needs VARIANT PASS       the bytes of the n x n tensors that there are at once, or `no`
check VARIANT PASS FILE  `written`, after it wrote the results
time VARIANT PASS        milliseconds of one pass; of short ones the mean of many
memory VARIANT PASS      peak bytes beyond input, parameters and results, or `-`

A PASS is `forward`, `forward + backward` or `product`, all tokens by W^Q.
"""

import math
import sys
import time

import torch
from safetensors.torch import load_file, save_file

NAMES = ["in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias"]
# Shorter passes are repeated; of longer ones than the second, the first counts.
AT_LEAST_MS = 20.0
LONG_MS = 200.0


class Spelled:
    """Projections, view, transpose, softmax; `sdpa` calls PyTorch's fused kernel."""

    def __init__(self, module, sdpa):
        self.heads, self.sdpa = module.num_heads, sdpa
        self.w, self.b = module.in_proj_weight, module.in_proj_bias
        self.out = module.out_proj

    # ANCHOR: split_and_merge
    def split(self, q):  # (batch, n, d_model) to (batch, h, n, d_k)
        batch, n, width = q.shape
        return q.view(batch, n, self.heads, width // self.heads).transpose(1, 2)

    def merge(self, y):  # (batch, h, n, d_v) to (batch, n, h * d_v)
        batch, h, n, d_v = y.shape
        return y.transpose(1, 2).contiguous().view(batch, n, h * d_v)
    # ANCHOR_END: split_and_merge

    def __call__(self, x, mask):
        q, k, v = (
            self.split(torch.nn.functional.linear(x, w, b))
            for w, b in zip(self.w.chunk(3), self.b.chunk(3))
        )
        if self.sdpa:
            y = torch.nn.functional.scaled_dot_product_attention(
                q, k, v, is_causal=mask is not None
            )
        else:
            scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
            if mask is not None:
                scores = scores.masked_fill(mask, -1e9)
            y = torch.softmax(scores, -1) @ v
        return self.out(self.merge(y))


class Module:
    """nn.MultiheadAttention, which computes maps if it is asked for them."""

    def __init__(self, module, maps):
        self.module, self.maps = module, maps

    def __call__(self, x, mask):
        return self.module(
            x,
            x,
            x,
            attn_mask=mask,
            is_causal=mask is not None and not self.maps,
            need_weights=self.maps,
            average_attn_weights=False,
        )[0]


class Product:
    """All tokens by W^Q, which PyTorch stores as [out, in], and nothing else."""

    def __init__(self, module):
        self.w_q = module.in_proj_weight.chunk(3)[0]

    def __call__(self, x, mask):
        return x.flatten(0, 1) @ self.w_q.t()


class Layer:
    def __init__(self, path, heads, causal):
        tensors = load_file(path)
        self.x, self.d_out = tensors.pop("query"), tensors.pop("d_out")
        module = torch.nn.MultiheadAttention(self.x.shape[-1], heads, batch_first=True)
        module.load_state_dict(tensors)
        self.module, self.causal, self.heads = module, causal, heads
        self.parameters = [dict(module.named_parameters())[name] for name in NAMES]
        self.variants = {
            "PyTorch textbook": Spelled(module, sdpa=False),
            "PyTorch sdpa": Spelled(module, sdpa=True),
            "PyTorch nn.MultiheadAttention": Module(module, maps=False),
            "PyTorch nn.MultiheadAttention with maps": Module(module, maps=True),
            "PyTorch product": Product(module),
        }

    def input(self, tokens=None):
        """Input, gradient and mask, of all tokens or of the first ones of one sequence."""
        x, d_out = self.x, self.d_out
        if tokens is not None:
            x, d_out = x[:1, :tokens].clone(), d_out[:1, :tokens].clone()
        n, mask = x.shape[1], None
        if self.causal:
            mask = torch.ones(n, n, dtype=torch.bool).triu(1)  # True: may not attend
        return x.requires_grad_(), d_out, mask

    def needs(self, variant, name):
        is_product = variant == "PyTorch product"
        if is_product or name == "product":
            return 0 if is_product and name == "product" else "no"
        backward = name == "forward + backward"
        batch, n, _ = self.x.shape
        one = batch * self.heads * n * n * self.x.element_size()
        # Scores and softmax; the module's fast path, which is for inference, has one.
        forward = {
            "PyTorch textbook": 2,
            "PyTorch nn.MultiheadAttention": 1,
            "PyTorch nn.MultiheadAttention with maps": 1,
        }
        forward_and_backward = {
            "PyTorch textbook": 3,
            "PyTorch nn.MultiheadAttention with maps": 3,
        }
        return (forward_and_backward if backward else forward).get(variant, 0) * one

    def run(self, variant, backward, given):
        x, d_out, mask = given
        if backward:
            self.module.train()
            out = self.variants[variant](x, mask)
            return out, torch.autograd.grad(out, [x, *self.parameters], d_out)
        self.module.eval()
        with torch.inference_mode():
            return self.variants[variant](x, mask), []


def check(run, path):
    out, gradients = run()
    names = ["output", "grad.query", *(f"grad.{name}" for name in NAMES)]
    found = dict(zip(names, [out.detach(), *gradients]))
    save_file({name: t.clone().contiguous() for name, t in found.items()}, path)
    return "written"


def timed(run):
    """One long pass; or the mean of as many short ones as take 20 ms, after a first."""

    def mean_until(at_least_ms):
        start, n_runs = time.perf_counter(), 0
        while True:
            run()
            n_runs += 1
            ms = (time.perf_counter() - start) * 1e3
            if ms >= at_least_ms:
                return ms / n_runs

    first = mean_until(0.0)
    return first if first >= LONG_MS else mean_until(AT_LEAST_MS)


def status(name):
    with open("/proc/self/status") as lines:
        found = next(line for line in lines if line.startswith(name))
    return 1024 * int(found.split()[1])


def memory(run, run_few):
    """`run_few` has in memory what is only needed once: code, threads."""
    run_few()
    try:
        before = status("VmRSS:")
        with open("/proc/self/clear_refs", "w") as mark:
            mark.write("5")
    except OSError:
        return "-"
    out, gradients = run()
    results = sum(t.numel() * t.element_size() for t in [out, *gradients])
    return max(0, status("VmHWM:") - before - results)


def main():
    path, heads, threads, causal = sys.argv[1:5]
    torch.set_num_threads(int(threads))
    torch.manual_seed(0)
    layer = Layer(path, int(heads), causal == "1")
    given, few = layer.input(), layer.input(16)
    version = torch.__version__.split("+")[0]
    print(f"PyTorch {version}\t" + "\t".join(layer.variants), flush=True)
    for line in sys.stdin:
        command, variant, name, *rest = line.rstrip("\n").split("\t")
        backward = name == "forward + backward"

        def run(given=given):
            return layer.run(variant, backward, given)

        if command == "needs":
            answer = layer.needs(variant, name)
        elif command == "check":
            answer = check(run, rest[0])
        elif command == "time":
            answer = timed(run)
        else:
            answer = memory(run, lambda: run(few))
        print(answer, flush=True)


if __name__ == "__main__":
    main()

"""PyTorch's side of `cargo learn bench token`: one new token on a cache.

Started as pytorch.py is, with a FILE of queries `q` (batch, 9, 64), keys and values `k`
and `v` (batch, n, 3, 64). It answers `check` and `time` as pytorch.py does.
"""

import math
import sys

import torch
from pytorch import check, timed
from safetensors.torch import load_file


class Decode:
    """A cache as decoders keep it: (batch, heads of keys, n, d), contiguous."""

    def __init__(self, path):
        tensors = load_file(path)
        self.q = tensors["q"].unsqueeze(2)  # (batch, h, 1, d)
        self.k, self.v = (tensors[name].transpose(1, 2).contiguous() for name in "kv")
        self.variants = {"PyTorch sdpa": self.sdpa, "PyTorch textbook": self.textbook}

    def sdpa(self):
        return torch.nn.functional.scaled_dot_product_attention(
            self.q, self.k, self.v, enable_gqa=True
        )

    def textbook(self):
        """Keys and values copied for each query head."""
        group = self.q.shape[1] // self.k.shape[1]
        k, v = (x.repeat_interleave(group, dim=1) for x in (self.k, self.v))
        scores = self.q @ k.transpose(-2, -1) / math.sqrt(self.q.shape[-1])
        return torch.softmax(scores, -1) @ v

    def run(self, variant):
        with torch.inference_mode():
            return self.variants[variant]()


def main():
    path, _, threads = sys.argv[1:4]
    torch.set_num_threads(int(threads))
    decode = Decode(path)
    version = torch.__version__.split("+")[0]
    print(f"PyTorch {version}\t" + "\t".join(decode.variants), flush=True)
    for line in sys.stdin:
        command, variant, _, *rest = line.rstrip("\n").split("\t")
        if command == "check":
            answer = check(lambda: (decode.run(variant).flatten(1), []), rest[0])
        else:
            answer = timed(lambda: decode.run(variant))
        print(answer, flush=True)


main()

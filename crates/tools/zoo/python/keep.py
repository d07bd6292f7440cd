"""Runs the zoo under PyTorch and keeps what comes out: `cargo learn zoo --keep PYTHON`.

Kept are small layers with their inputs, as files that `cargo learn diagnose` reads; the outputs
of each switch on two layers in which it shows; and what each suite of tests catches.
"""

import hashlib
import json
import struct
import sys
from pathlib import Path

import torch
import zoo

HERE = Path(__file__).parent
SHOWS = 1e-3  # a difference that is no rounding
LAYERS_EACH = 2

# --- the layers: each has what some mistakes need, in sizes that all differ where they can ---


def mask(n, seed=0):
    """Masks of five queries and keys; in the second and fourth, a query has no key."""
    i, j = torch.arange(5)[:, None], torch.arange(5)
    masks = []
    for at in range(n):
        blocked = ((2 * i + 3 * j + at) % (4 - at % 2) == 0) & (i != j)
        masks.append(blocked | (i == 3) if at % 2 else blocked)
    return torch.stack(masks) if n > 1 else masks[0]


PADDING = torch.arange(5) >= torch.tensor([[3], [4]])
LEFT_PADDED = (torch.arange(5.0) - torch.tensor([[1], [2]])).clamp(min=0)
CACHE = {"source": "cache", "n_q": 3, "n": 6}
ROTATED = {"width": 16, "heads": 4, "num_kv_heads": 2, "head_dim": 8, "rotary": "halves"}

LAYERS = {
    "plain": {},
    "causal": {"causal": True},
    "cross": {"source": "two"},
    "widths": {"source": "two", "n_q": 4, "n": 6, "width": 10, "head_dim": 4, "v_head_dim": 3,
               "kdim": 7, "vdim": 9},
    "mask": {"attn_mask": mask(1)},
    "padding": {"causal": True, "key_padding_mask": PADDING},
    "mask-of-sequences": {"source": "other", "batch": 3, "attn_mask": mask(3)},
    "mask-of-heads": {"attn_mask": mask(6)},
    "added": {"attn_mask": torch.randn(5, 5, generator=torch.Generator().manual_seed(1))},
    "loud": {"causal": True, "scale": 4000.0},
    "cache": {"causal": True, **CACHE},
    "top-left": {"causal": True, "offset": 0, **CACHE},
    "packed-by-heads": {"packing": "heads"},
    "shared-keys": {"width": 12, "heads": 4, "num_kv_heads": 2},
    "rotary-halves": {"causal": True, **ROTATED, **CACHE},
    "rotary-pairs": {"rotary": "pairs", "qk_norm": "rms", "positions": LEFT_PADDED},
    "whole-norms": {"rotary": "pairs", "qk_norm": "layer", "qk_norm_whole": True},
    "cap": {"causal": True, "scale": 0.9, "soft_cap": 1.5, "sinks": True},
    "window": {"causal": True, "slopes": True, "window": 2, "offset": 1},
}


class Case:
    """A layer's options, its parameters and a call."""

    def __init__(self, seed, *, width=12, heads=3, batch=2, n=5, n_q=None, source="own", offset=None,
                 positions=None, key_padding_mask=None, attn_mask=None, **options):
        generator = torch.Generator().manual_seed(seed)
        randn = lambda *shape: torch.randn(*shape, generator=generator)
        self.options = {"d_model": width, "num_heads": heads, **options}
        self.state = {}
        for name, parameter in self.layer().state_dict().items():
            is_matrix = parameter.dim() == 2
            factor = 1.3 * parameter.shape[1] ** -0.5 if is_matrix else 0.5
            self.state[name] = randn(*parameter.shape) * factor + ("norm" in name)
        key = randn(batch, n, options.get("kdim", width))
        query = {"own": key, "cache": key[:, n - (n_q or n) :]}.get(source)
        query = randn(batch, n_q or n, width) if query is None else query
        value = randn(batch, n, options.get("vdim", width)) if source == "two" else key
        self.inputs = {"query": query, "key": key, "value": value}
        self.masks = {"key_padding_mask": key_padding_mask, "attn_mask": attn_mask}
        self.offset, self.positions, self.is_own = offset, positions, source == "own"

    def layer(self, mistake=None):
        return zoo.MultiheadAttention(**self.options, mistake=mistake).eval()

    def run(self, mistake):
        """The output with a mistake, and its map; nothing where shapes do not fit."""
        torch.manual_seed(0)
        layer = self.layer(mistake)
        layer.load_state_dict(self.state)
        layer.double()
        both = None if self.positions is None else (self.positions, self.positions)
        wide = {name: tensor if tensor is None or tensor.dtype == torch.bool else tensor.double()
                for name, tensor in {**self.inputs, **self.masks}.items()}
        try:
            with torch.no_grad():
                return layer(**wide, average_attn_weights=False, offset=self.offset, positions=both)
        except (RuntimeError, ValueError):
            return None

    def tensors(self):
        """Everything under the names that the diagnosis reads."""
        layer, state = self.layer(), dict(self.state)
        if layer.packing == "heads":
            for what in ("weight", "bias"):
                state[f"query_key_value.{what}"] = state.pop(f"in_proj_{what}")
        if not layer.is_packed:
            biases = state.pop("in_proj_bias").split(layer.widths)
            for name, bias in zip("qkv", biases):
                state[f"{name}_proj.weight"] = state.pop(f"{name}_proj_weight")
                state[f"{name}_proj.bias"] = bias
        more = {"positions": self.positions, "key_positions": self.positions, **self.masks}
        if layer.slopes is not None:
            more["slopes"] = torch.tensor(layer.slopes)
        inputs = {name: x for name, x in self.inputs.items() if name == "query" or not self.is_own}
        return {**state, **inputs, **more, "output": self.run(None)[0]}

    def settings(self):
        """What the layer was meant to be, in the diagnosis' words."""
        of = self.options.get
        said = {"heads": of("num_heads"), "kv_heads": of("num_kv_heads", of("num_heads")),
                "causal": str(of("causal", False)).lower(), "rotary": of("rotary", "false"),
                "scale": of("scale"), "cap": of("soft_cap"), "window": of("window"),
                "qk_norm": of("qk_norm"), "offset": self.offset}
        return {name: str(word) for name, word in said.items() if word is not None}


# --- files ---


def save(path, tensors, texts):
    """A safetensors file, without its library."""
    header, data = {"__metadata__": texts}, b""
    for name, tensor in tensors.items():
        if tensor is None:
            continue
        kind = "BOOL" if tensor.dtype == torch.bool else "F32"
        numbers = tensor.flatten().tolist()
        letter = "?" if kind == "BOOL" else "f"
        body = struct.pack(f"<{len(numbers)}{letter}", *numbers)
        place = [len(data), len(data) + len(body)]
        header[name] = {"dtype": kind, "shape": list(tensor.shape), "data_offsets": place}
        data += body
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def hash_of(files):
    texts = [file.read_bytes().replace(b"\r\n", b"\n") for file in files]
    return hashlib.sha256(b"".join(texts)).hexdigest()


def keep_outputs(folder):
    times, outputs = {}, {}
    for seed, (name, given) in enumerate(LAYERS.items()):
        case = Case(seed, **given)
        save(folder / f"{name}.safetensors", case.tensors(), case.settings())
        right = case.run(None)[0]
        outputs[f"{name} right"] = right[..., ::2]
        for mistake in zoo.MISTAKES:
            result = case.run(mistake) if times.get(mistake, 0) < LAYERS_EACH else None
            if result is None or shows_nothing(right, result[0]):
                continue
            times[mistake] = times.get(mistake, 0) + 1
            outputs[f"{name} {mistake}"] = result[0][..., ::2]  # W^O has made each of all
            if mistake == "dropout-in-evaluation":  # what it drops is drawn
                outputs[f"{name} {mistake} map"] = result[1]
    save(folder / "outputs.safetensors", outputs, {"zoo.py": hash_of([HERE / "zoo.py"])})


def shows_nothing(right, wrong):
    return right.shape == wrong.shape and not ((right - wrong).abs() > SHOWS).any()


def keep_scores(folder):
    files = sorted((HERE / "suites").glob("*.py")) + [HERE / "zoo.py"]
    suites = {file.stem: zoo.score(file) for file in files}
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(suite)}" for name, suite in suites.items())
    text = f'{{"sources": "{hash_of(files)}",\n"suites": {{\n{lines}\n}}}}\n'
    (folder / "scores.json").write_text(text, newline="\n")


if __name__ == "__main__":
    kept = Path(sys.argv[1])
    kept.mkdir(parents=True, exist_ok=True)
    for old in kept.glob("*.safetensors"):
        old.unlink()
    keep_outputs(kept)
    if "--outputs" not in sys.argv:
        keep_scores(kept)

"""Runs the zoo on the cases of a file, and keeps what comes out: `cargo learn zoo --keep`."""

import hashlib
import json
import sys
from pathlib import Path

import torch
import zoo

HERE = Path(__file__).parent
SUITES = ["four_checks", "relations", "two_lines", "equal_sizes", "zoo"]


def hash_of(files):
    texts = [file.read_bytes().replace(b"\r\n", b"\n") for file in files]
    return hashlib.sha256(b"".join(texts)).hexdigest()


def tensor(numbers):
    return None if numbers is None else torch.tensor(numbers, dtype=torch.float64)


def output(case, mistake):
    """What a layer with this mistake gives, and its attention weights."""
    torch.manual_seed(0)
    layer = zoo.MultiheadAttention(**case["options"], mistake=mistake).double().eval()
    layer.load_state_dict({name: tensor(numbers) for name, numbers in case["state"].items()})
    padding, mask = case["padding"], tensor(case["added"])
    if case["blocked"]:
        mask = torch.tensor(case["blocked"])
    query, key, value = (tensor(numbers) for numbers in case["inputs"])
    return layer(query, key, value, padding and torch.tensor(padding), attn_mask=mask,
                 average_attn_weights=False, offset=case["offset"], positions=case["positions"])


def outputs(cases):
    """A line for each case and mistake: their names, and the numbers."""
    lines = ["zoo.py " + hash_of([HERE / "zoo.py"])]
    for case in cases:
        for mistake in case["ids"]:
            with torch.no_grad():
                result, weights = output(case, mistake)
            kept = {"": result[..., ::2]}  # W^O has made each column of all
            if mistake == "dropout-in-evaluation":  # its zeros are drawn
                kept = {"": result, "weights-of-": weights}
            for name, numbers in kept.items():
                numbers = " ".join(f"{x:.7g}" for x in numbers.flatten().tolist())
                lines.append(f"{case['name']} {name}{mistake or 'right'} {numbers}")
    return "\n".join(lines) + "\n"


def scores():
    """Which mistakes each suite of tests catches."""
    files = [HERE / "suites" / f"{name}.py" for name in SUITES[:-1]] + [HERE / "zoo.py"]
    suites = {name: zoo.score(file) for name, file in zip(SUITES, files)}
    return {"sources": hash_of(files), "suites": suites}


if __name__ == "__main__":
    cases, folder = json.loads(Path(sys.argv[1]).read_text()), Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "outputs.txt").write_text(outputs(cases), newline="\n")
    if "--outputs" not in sys.argv:
        text = json.dumps(scores(), indent=1) + "\n"
        (folder / "scores.json").write_text(text, newline="\n")

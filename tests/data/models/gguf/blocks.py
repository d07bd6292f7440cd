"""Random blocks of each kind of number, and what the package `gguf` makes of them.

    pip install gguf==0.19.0 numpy safetensors
    python blocks.py        # writes blocks.safetensors beside this file

KIND.bytes (n_blocks, n_bytes) are the blocks, KIND.numbers (n_blocks, n) in float32 what
`gguf.quants.dequantize` gives. In the first blocks of a kind every float16 of a block is an
extreme one: zero, subnormal, negative, the largest, infinite, not a number.
"""

from pathlib import Path

import numpy as np
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType, quants
from safetensors.numpy import save_file

# Where float16 stand in a block.
SCALES = {
    "F16": [0], "Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q8_0": [0],
    "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208], "BF16": [], "F32": [],
}
EXTREME = [0x0000, 0x8000, 0x0001, 0x8001, 0x03FF, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7E00]

rng = np.random.default_rng(17)
tensors = {}
for kind, places in SCALES.items():
    code = GGMLQuantizationType[kind]
    per_block, n_bytes = GGML_QUANT_SIZES[code]
    n_blocks = {1: 512, 32: 40, 256: 16}[per_block]
    blocks = rng.integers(0, 256, (n_blocks, n_bytes), dtype=np.uint8)
    for i, bits in enumerate(EXTREME):
        for j, place in enumerate(places):
            # One scale and one minimum do not go through the list in step.
            value = np.uint16(EXTREME[(i + 3 * j) % len(EXTREME)])
            blocks[i, place : place + 2] = np.frombuffer(value.tobytes(), np.uint8)
    with np.errstate(all="ignore"):
        numbers = quants.dequantize(blocks, code)
    tensors[f"{kind}.bytes"] = blocks
    tensors[f"{kind}.numbers"] = np.ascontiguousarray(numbers.astype(np.float32))
save_file(tensors, Path(__file__).with_name("blocks.safetensors"))

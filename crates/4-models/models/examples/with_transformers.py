"""The same model in transformers, to compare `cargo learn write` with.

    python3 crates/4-models/models/examples/with_transformers.py MODEL.gguf ["A text"] [THREADS]

needs torch, transformers, gguf and accelerate, which nothing here installs. It prints the
tokens, which must be the same, how many it writes in a second, and how long a prompt of 512
tokens takes; `cargo learn bench model MODEL.gguf` prints ours.
"""

import pathlib
import sys
import time

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

path = pathlib.Path(sys.argv[1])
text = sys.argv[2] if len(sys.argv) > 2 else "Mr Dursley was thin. Mr Durs"
torch.set_num_threads(int(sys.argv[3]) if len(sys.argv) > 3 else 2)

file = {"gguf_file": path.name}
model = AutoModelForCausalLM.from_pretrained(path.parent, dtype=torch.float32, **file).eval()
tokenizer = AutoTokenizer.from_pretrained(path.parent, **file)
ids = tokenizer(text, return_tensors="pt").input_ids
prompt = (torch.arange(512) * 7919 + 13)[None] % model.config.vocab_size

with torch.inference_mode():
    for _ in range(3):
        start = time.perf_counter()
        written = model.generate(ids, min_new_tokens=40, max_new_tokens=40, do_sample=False)
        print(f"{40 / (time.perf_counter() - start):.1f} tokens a second", flush=True)
    print(tokenizer.decode(written[0]))
    for _ in range(3):
        start = time.perf_counter()
        model(prompt, use_cache=True, logits_to_keep=1)
        print(f"a prompt of 512: {1e3 * (time.perf_counter() - start):.0f} ms", flush=True)

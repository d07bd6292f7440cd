"""llama.cpp's side of `cargo learn bench --decode --model FILE`: a model that writes.

Started as pytorch.py is, with a FILE of lines: the model's path, how many tokens are written,
and the ids of the prompt. The variant `prompt` is the prompt read once, `token` one token, the
mean of all that are written behind the prompt's first. llama.cpp is called by its C functions:
what Python adds to a token are microseconds.
"""

import json
import struct
import sys
import time

import llama_cpp as llama
import numpy as np


class Writing:
    def __init__(self, path, threads):
        lines = open(path, encoding="utf-8").read().split("\n")
        self.n_written = int(lines[1])
        self.ids = [int(line) for line in lines[2:] if line]
        llama.llama_backend_init()
        settings = llama.llama_model_default_params()
        self.model = llama.llama_model_load_from_file(lines[0].encode(), settings)
        settings = llama.llama_context_default_params()
        settings.n_ctx = len(self.ids) + self.n_written + 16
        settings.n_batch = settings.n_ubatch = len(self.ids)
        settings.n_threads = settings.n_threads_batch = threads
        self.context = llama.llama_init_from_model(self.model, settings)
        vocabulary = llama.llama_model_get_vocab(self.model)
        self.n_vocabulary = llama.llama_vocab_n_tokens(vocabulary)

    def forget(self):
        llama.llama_kv_self_clear(self.context)

    def read(self, ids):
        tokens = (llama.llama_token * len(ids))(*ids)
        batch = llama.llama_batch_get_one(tokens, len(ids))
        if llama.llama_decode(self.context, batch) != 0:
            raise RuntimeError("llama.cpp did not read the tokens")
        logits = llama.llama_get_logits_ith(self.context, -1)
        return np.ctypeslib.as_array(logits, shape=(self.n_vocabulary,))

    def write(self, logits, n):
        ids = []
        for _ in range(n):
            ids.append(int(logits.argmax()))
            logits = self.read(ids[-1:])
        return ids

    def check(self, path):
        """The logits behind the prompt, and the ids that are chosen then, as rows."""
        self.forget()
        rows = np.zeros((1, 2, self.n_vocabulary), np.float32)
        rows[0, 0] = self.read(self.ids)
        ids = self.write(rows[0, 0], self.n_written)
        rows[0, 1, : len(ids)] = ids
        entry = {"dtype": "F32", "shape": rows.shape, "data_offsets": [0, rows.nbytes]}
        header = json.dumps({"output": entry}).encode()
        with open(path, "wb") as file:
            file.write(struct.pack("<Q", len(header)) + header + rows.tobytes())
        return "written"

    def time(self, variant):
        self.forget()
        if variant == "prompt":
            start = time.perf_counter()
            self.read(self.ids)
            return 1e3 * (time.perf_counter() - start)
        first = self.write(self.read(self.ids[:1]), 1)
        logits = self.read(first)
        start = time.perf_counter()
        self.write(logits, self.n_written)
        return 1e3 * (time.perf_counter() - start) / self.n_written


def main():
    path, _, threads = sys.argv[1:4]
    writing = Writing(path, int(threads))
    print(f"llama.cpp {llama.__version__}\tprompt\ttoken", flush=True)
    for line in sys.stdin:
        command, variant, _, *rest = line.rstrip("\n").split("\t")
        answer = writing.check(rest[0]) if command == "check" else writing.time(variant)
        print(answer, flush=True)


main()

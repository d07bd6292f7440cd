"""llama.cpp's side of `cargo learn bench model FILE`: a model that writes.

Started as pytorch.py is, with a FILE of lines: the model's path, how many tokens are written,
how many a prompt has, and the ids of a long text, which begins with the prompt. The variant
`prompt` is the prompt read once, `token` one token, the mean of all that are written behind the
first two, and `long` the same behind the whole text. llama.cpp is called by its C functions:
what Python adds to a token are microseconds.
"""

import json
import struct
import sys
import time

import llama_cpp as llama
import numpy as np


def removal():
    """The function that takes tokens out of a text, and what it takes them out of: its name
    has changed twice."""
    if hasattr(llama, "llama_memory_seq_rm"):
        return llama.llama_memory_seq_rm, llama.llama_get_memory
    older = getattr(llama, "llama_kv_self_seq_rm", None)
    return older or llama.llama_kv_cache_seq_rm, lambda context: context


class Model:
    def __init__(self, path, threads):
        llama.llama_backend_init()
        settings = llama.llama_model_default_params()
        self.model = llama.llama_model_load_from_file(path.encode(), settings)
        vocabulary = llama.llama_model_get_vocab(self.model)
        self.n_vocabulary = llama.llama_vocab_n_tokens(vocabulary)
        self.threads = threads

    def text(self, n_tokens, n_at_once):
        """An empty text, with room for so many tokens."""
        settings = llama.llama_context_default_params()
        settings.n_ctx = n_tokens
        settings.n_batch = settings.n_ubatch = n_at_once
        settings.n_threads = settings.n_threads_batch = self.threads
        context = llama.llama_init_from_model(self.model, settings)
        return Text(context, self.n_vocabulary)


class Text:
    def __init__(self, context, n_vocabulary):
        self.context, self.n_vocabulary = context, n_vocabulary

    def forget(self, n_kept):
        """All but the first tokens."""
        remove, owner = removal()
        remove(owner(self.context), 0, n_kept, -1)

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


class Writing:
    def __init__(self, path, threads):
        lines = open(path, encoding="utf-8").read().split("\n")
        self.n_written, n_prompt = int(lines[1]), int(lines[2])
        ids = [int(line) for line in lines[3:] if line]
        self.prompt, self.first, self.before = ids[:n_prompt], ids[0], ids[:-1]
        self.last = ids[-1]
        self.model = Model(lines[0], threads)
        self.short = self.model.text(n_prompt + self.n_written + 16, n_prompt)
        self.long = None

    def check(self, path):
        """The logits behind the prompt, and the ids that are chosen then, as rows."""
        self.short.forget(0)
        rows = np.zeros((1, 2, self.model.n_vocabulary), np.float32)
        rows[0, 0] = self.short.read(self.prompt)
        ids = self.short.write(rows[0, 0], self.n_written)
        rows[0, 1, : len(ids)] = ids
        entry = {"dtype": "F32", "shape": rows.shape, "data_offsets": [0, rows.nbytes]}
        header = json.dumps({"output": entry}).encode()
        with open(path, "wb") as file:
            file.write(struct.pack("<Q", len(header)) + header + rows.tobytes())
        return "written"

    def time(self, variant):
        if variant == "long":
            return self.written(self.behind(), self.last)
        self.short.forget(0)
        if variant == "token":
            return self.written(self.short, self.first)
        start = time.perf_counter()
        self.short.read(self.prompt)
        return 1e3 * (time.perf_counter() - start)

    def behind(self):
        """The long text, which is read the first time."""
        if self.long is None:
            n, at_once = len(self.before), len(self.prompt)
            self.long = self.model.text(n + self.n_written + 16, at_once)
            for first in range(0, n, at_once):
                self.long.read(self.before[first : first + at_once])
        self.long.forget(len(self.before))
        return self.long

    def written(self, text, first):
        """Milliseconds of a token behind this one and the next: the mean."""
        logits = text.read([int(text.read([first]).argmax())])
        start = time.perf_counter()
        text.write(logits, self.n_written)
        return 1e3 * (time.perf_counter() - start) / self.n_written


def main():
    path, _, threads = sys.argv[1:4]
    writing = Writing(path, int(threads))
    print(f"llama.cpp {llama.__version__}\tprompt\ttoken\tlong", flush=True)
    for line in sys.stdin:
        command, variant, _, *rest = line.rstrip("\n").split("\t")
        answer = writing.check(rest[0]) if command == "check" else writing.time(variant)
        print(answer, flush=True)


try:
    main()
except AttributeError as missing:
    sys.exit(
        f"llama-cpp-python {llama.__version__} is not known here: {missing}; "
        "requirements.txt names a version that is"
    )

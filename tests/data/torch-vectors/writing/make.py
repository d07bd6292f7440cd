"""Writes what transformers' `generate` makes of logits: chances of the next token, and beams.

    python3 -m venv venv && venv/bin/pip install torch transformers
    venv/bin/python tests/data/torch-vectors/writing/make.py

`chances.json`: lists of logits, and for settings of temperature, top-k and top-p the chances
that are left, in float64. Setting null: without it.

`beams.json`: a model that is a table, whose logits behind a text are `table[a][b]` with a and b
its last two tokens; for settings of a beam search the texts that `generate` finds behind [1, 2],
without this prompt, and their scores (float32). `early_stopping` is "never": the search ends when
no better text can come.
"""

import json
from pathlib import Path

import torch
from transformers import GenerationMixin, PretrainedConfig, PreTrainedModel
from transformers.generation import (
    TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper,
)
from transformers.modeling_outputs import CausalLMOutput

HERE = Path(__file__).parent
PROMPT = [1, 2]
N_VOCABULARY = 6


def chances(logits, temperature, top_k, top_p):
    scores = torch.tensor([logits], dtype=torch.float64)
    warpers = [TemperatureLogitsWarper(temperature)]
    warpers += [TopKLogitsWarper(top_k)] if top_k is not None else []
    warpers += [TopPLogitsWarper(top_p)] if top_p is not None else []
    for warper in warpers:
        scores = warper(None, scores)
    return scores.softmax(-1)[0].tolist()


class Table(PreTrainedModel, GenerationMixin):
    config_class = PretrainedConfig
    main_input_name = "input_ids"

    def __init__(self, config, table):
        super().__init__(config)
        self.table = torch.nn.Parameter(table)

    @classmethod
    def can_generate(cls):
        return True

    def prepare_inputs_for_generation(self, input_ids, **_):
        return {"input_ids": input_ids}

    def forward(self, input_ids, **_):
        before = torch.roll(input_ids, 1, dims=1)
        return CausalLMOutput(logits=self.table[before, input_ids])


def beams(model, width, ends, alpha, most):
    found = model.generate(
        torch.tensor([PROMPT]), use_cache=False, do_sample=False,
        num_beams=width, num_return_sequences=width, max_new_tokens=most, eos_token_id=ends or None,
        pad_token_id=N_VOCABULARY - 1, length_penalty=alpha, early_stopping="never",
        return_dict_in_generate=True, output_scores=True,
    )
    texts = []
    for ids in found.sequences.tolist():
        ids = ids[len(PROMPT):]
        n = next((at + 1 for at, id in enumerate(ids) if id in ends), most)
        texts.append(ids[:n])
    return {"ids": texts, "scores": found.sequences_scores.tolist()}


def main():
    torch.manual_seed(1)
    lists = [
        (2 * torch.randn(12, dtype=torch.float64)).tolist(),
        # Chances of which sums meet p exactly, at temperature 1.
        torch.tensor([0.25, 0.05, 0.5, 0.075, 0.125], dtype=torch.float64).log().tolist(),
        [3.0, -1.0, 0.5],
    ]
    settings = [
        (temperature, top_k, top_p)
        for temperature in [0.5, 1.0, 1.7]
        for top_k in [None, 1, 3, 9]
        for top_p in [None, 0.05, 0.5, 0.75, 0.9]
    ]
    cases = [
        {"logits": nth, "temperature": t, "top_k": k, "top_p": p,
         "chances": chances(logits, t, k, p)}
        for nth, logits in enumerate(lists) for t, k, p in settings
    ]
    write("chances.json", {"logits": lists, "cases": cases})

    table = 1.5 * torch.randn(N_VOCABULARY, N_VOCABULARY, N_VOCABULARY)
    model = Table(PretrainedConfig(vocab_size=N_VOCABULARY), table).eval()
    cases = [
        {"width": width, "ends": ends, "alpha": alpha, "most": most,
         **beams(model, width, ends, alpha, most)}
        for width in [2, 3, 5] for ends in [[], [0], [0, 3]]
        for alpha in [0.0, 0.6, 1.0, 2.0] for most in [1, 7]
        if not (width == 5 and most == 1 and ends)  # more beams than such texts
    ]
    write("beams.json", {"prompt": PROMPT, "table": table.tolist(), "cases": cases})


def write(name, made):
    (HERE / name).write_text(json.dumps(made) + "\n")


main()

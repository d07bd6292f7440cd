"""A zoo of attention layers: a right one, and one for each of many known mistakes.

    python zoo.py your_tests.py     which of the mistakes your tests catch
    python zoo.py --list            the mistakes: what each does, and what you would see
    python zoo.py zoo.py            the same for the tests in this file

Your tests are functions `test_…` that make their layers with `make_layer`:

    def test_rows(make_layer):
        layer = make_layer(16, 4)                      # d_model, num_heads, and options
        x = torch.randn(2, 5, 16)                      # batch, tokens, d_model
        output, weights = layer(x, x, x)               # called as nn.MultiheadAttention is
        assert torch.allclose(weights.sum(-1), torch.ones(2, 5))

They must pass on the right layer, `MultiheadAttention` below. Then each runs on every wrong one.
A mistake is caught if a test fails; it survives if all pass although an output was wrong. To run
the same tests on a layer of your own, put this into your conftest.py:

    @pytest.fixture
    def make_layer():
        return lambda d_model, num_heads, **options: MyAttention(d_model, num_heads, **options)

(`make_layer` may be a function of your test file too: then it is replaced there. Without pytest,
only functions with no other argument run.) Parameters have the names that they have in
nn.MultiheadAttention, so that `layer.load_state_dict(mha.state_dict())` works. As there, True in
a mask means "may not attend"; unlike there, the batch always comes first, and a query without
any key gets zeros, not NaN.

The file needs PyTorch and nothing else, and computes on the CPU. Its parts: the layer, step by
step; tests that catch the mistakes; the program that counts; and the table of the mistakes.
"""

import argparse
import importlib.util
import inspect
import json
import math
import os
import queue
import subprocess
import sys
import textwrap
import threading
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import torch
import torch.nn.functional as F
from torch import nn

# ---------------------------------------------------------------------------------------------
# The layer. Each step is a function, and each has a choice: as it was meant, or a mistake.
# ---------------------------------------------------------------------------------------------

INF = float("inf")
QUERY, KEY, VALUE = range(3)
ROLES = {"query": QUERY, "key": KEY, "value": VALUE}


@dataclass
class Call:
    """What one call was given, with masks in which True means "may attend"."""

    inputs: list  # three of [batch, n, width]
    padding: object  # [batch, n_kv]
    pairs: object  # [1, batch or batch · heads, n_q, n_kv]
    added: object  # the same, of numbers that are added to scores
    causal: object  # False, "bottom-right" or "top-left"
    offset: object  # where the first query stands
    positions: object  # of queries and of keys

    @property
    def lengths(self):
        return self.inputs[QUERY].shape[1], self.inputs[KEY].shape[1]

    @property
    def batch(self):
        return self.inputs[QUERY].shape[0]

    def first_query(self, n_q, n_kv):
        """Where the first query stands, where keys are counted from 0."""
        if self.offset is not None:
            return self.offset
        if self.causal == "top-left":
            return 0
        return n_kv - n_q if self.causal else max(n_kv - n_q, 0)


class MultiheadAttention(nn.Module):
    """Multi-head attention as it should be, or with one of the mistakes.

    d_model, num_heads   as in nn.MultiheadAttention, and so are bias, dropout, kdim and vdim
    num_kv_heads         heads of keys and values, if fewer: neighbouring query heads share one
    head_dim, v_head_dim d_k and d_v, if not d_model / num_heads
    packing              how in_proj_weight has q, k and v: "blocks" (as PyTorch), or "heads":
                         q, k and v of head 0, then of head 1
    causal               True ("bottom-right": the last query sees all keys), or "top-left"
    window               how many keys a query sees, the one where it stands among them
    scale                what scores are multiplied by, if not 1 / √d_k
    soft_cap             the bound of scores, cap · tanh(score / cap)
    slopes               ALiBi: True, or a slope for each head
    sinks                a learned score for each head, whose weight is dropped
    rotary, base         rotary positions: "halves" or "pairs"
    qk_norm              "rms" or "layer": queries and keys are normed before they are rotated
    qk_norm_whole        over all heads together, and not over each
    mistake              an id of `mistakes()`
    """

    def __init__(self, d_model, num_heads, *, bias=True, dropout=0.0, kdim=None, vdim=None,
                 num_kv_heads=None, head_dim=None, v_head_dim=None, packing="blocks",
                 causal=False, window=None, scale=None, soft_cap=None, slopes=None, sinks=False,
                 rotary=None, base=10_000.0, qk_norm=None, qk_norm_whole=False, mistake=None):
        super().__init__()
        self.d_model, self.heads = d_model, num_heads
        self.kv_heads = num_kv_heads or num_heads
        if head_dim is None and d_model % num_heads or num_heads % self.kv_heads:
            raise ValueError("d_model must be divisible by num_heads, and that by num_kv_heads")
        self.d_k = head_dim or d_model // num_heads
        self.d_v = v_head_dim or self.d_k
        self.packing, self.window, self.soft_cap = packing, window, soft_cap
        self.causal = "bottom-right" if causal is True else causal
        self.own_scale = scale
        self.slopes = paper_slopes(num_heads) if slopes is True else slopes
        self.rotary, self.base, self.qk_norm_whole = rotary, base, qk_norm_whole
        self.dropout, self.mistake = dropout, mistake
        self.recipe = recipe(mistake)

        self.widths = [num_heads * self.d_k, self.kv_heads * self.d_k, self.kv_heads * self.d_v]
        inputs = [d_model, kdim or d_model, vdim or d_model]
        self.is_packed = len(set(inputs)) == 1
        if self.is_packed:
            self.in_proj_weight = nn.Parameter(torch.empty(sum(self.widths), d_model))
            nn.init.xavier_uniform_(self.in_proj_weight)
        else:
            for name, width, d_in in zip("qkv", self.widths, inputs):
                weight = nn.Parameter(nn.init.xavier_uniform_(torch.empty(width, d_in)))
                setattr(self, f"{name}_proj_weight", weight)
        zeros = nn.Parameter(torch.zeros(sum(self.widths)))
        self.register_parameter("in_proj_bias", zeros if bias else None)
        self.out_proj = nn.Linear(num_heads * self.d_v, d_model, bias=bias)
        if bias:
            nn.init.zeros_(self.out_proj.bias)
        if qk_norm:
            norm = {"rms": nn.RMSNorm, "layer": nn.LayerNorm}[qk_norm]
            widths = self.widths if qk_norm_whole else [self.d_k] * 2
            self.q_norm, self.k_norm = norm(widths[QUERY], eps=1e-6), norm(widths[KEY], eps=1e-6)
        self.has_norms = bool(qk_norm)
        self.sinks = nn.Parameter(torch.randn(num_heads)) if sinks else None

    def forward(self, query, key=None, value=None, key_padding_mask=None, need_weights=True,
                attn_mask=None, average_attn_weights=True, is_causal=False, *, offset=None,
                positions=None):
        """The output, [batch, n_q, d_model], and the attention weights, [batch, n_q, n_kv].

        Beside what nn.MultiheadAttention takes: `offset`, where the first query stands, and
        `positions`, those of queries and of keys, [n] or [batch, n] each.
        """
        key = query if key is None else key
        value = key if value is None else value
        call = self.call(query, key, value, key_padding_mask, attn_mask)
        call.causal = self.causal or ("top-left" if is_causal else False)
        call.offset, call.positions = offset, positions

        q, k, v = (self.project(call, role) for role in ROLES.values())  # [batch, n, width]
        projected = q
        q, k, v = (self.to_heads(call, x, role) for role, x in enumerate((q, k, v)))
        scores = self.scores(q, k)  # [batch, heads, n_q, n_kv]
        attn = self.attn(call, scores)
        heads = self.average(attn, v)  # [batch, heads, n_q, d_v]
        output = self.output(call, self.merge(heads), projected)  # [batch, n_q, d_model]
        weights = attn.mean(1) if average_attn_weights else attn
        return output, weights if need_weights else None

    # --- what goes in ---

    def call(self, query, key, value, key_padding_mask, attn_mask):
        """Masks as this file has them, whichever way they came."""
        (batch, n_q, _), n_kv = query.shape, key.shape[1]
        padding = key_padding_mask
        if padding is not None:
            padding = ~padding if padding.dtype == torch.bool else padding == 0
        pairs = added = None
        if attn_mask is not None:
            mask = attn_mask.reshape(-1, n_q, n_kv)  # 2-D, 3-D as in PyTorch, or 4-D
            if mask.shape[0] not in (1, batch, batch * self.heads):
                raise ValueError(f"attn_mask is of shape {tuple(attn_mask.shape)}")
            if mask.dtype == torch.bool:
                pairs = ~mask
            else:
                pairs = mask > -1e4  # what is as low as that blocks a key
                added = mask.masked_fill(~pairs, 0.0)
                added = added if added.any() else None
                pairs = pairs if added is None or not pairs.all() else None
        return Call([query, key, value], padding, pairs, added, False, None, None)

    # --- q, k and v ---

    def project(self, call, role):
        """x Wᵀ + b, [batch, n, heads · width]."""
        choice = self.recipe
        parts = ("input", "weight", "product", "bias")
        source, weight_of, product, times = (
            getattr(choice, f"{'qkv'[role]}_{part}") for part in parts)
        x = call.inputs[ROLES[source]]
        if choice.axes == "exchanged":
            if call.padding is not None or call.pairs is not None or call.added is not None:
                raise ValueError("a mask does not fit exchanged axes")
            x = x.transpose(0, 1)
        weight, bias = self.parameters_of(ROLES[weight_of])
        x = affine(x, weight, bias, product, times, self.heads if role == QUERY else self.kv_heads)
        x = F.relu(x) if choice.relu else x
        return expect(x, x.shape[-1] == self.widths[role])

    def parameters_of(self, role):
        """W and b of q, k or v."""
        if not self.is_packed:
            rows = slice(sum(self.widths[:role]), sum(self.widths[: role + 1]))
            weight = getattr(self, f"{'qkv'[role]}_proj_weight")
            return weight, None if self.in_proj_bias is None else self.in_proj_bias[rows]
        meant = {"blocks": "blocks", "heads": "head-by-head"}[self.packing]
        packing = meant if self.recipe.packing == "meant" else self.recipe.packing
        width, d_k, c = self.widths[role], self.d_k, torch.arange(self.widths[role])
        if packing == "blocks":
            rows = sum(self.widths[:role]) + c
        else:
            expect(self, len(set(self.widths)) == 1)
            rows = {
                "head-by-head": (c // d_k * 3 + role) * d_k + c % d_k,
                "features": c * 3 + role,
                # Where the blocks of q, k and v are.
                "key-first": (2, 0, 1)[role] * width + c,
                "value-first": (1, 2, 0)[role] * width + c,
                "value-second": (0, 2, 1)[role] * width + c,
                "key-then-query": (1, 0, 2)[role] * width + c,
            }[packing]
        bias = None if self.in_proj_bias is None else self.in_proj_bias[rows]
        return self.in_proj_weight[rows], bias

    # --- heads ---

    def to_heads(self, call, x, role):
        """[batch, n, heads · width] becomes [batch, heads, n, width], normed and rotated."""
        heads = self.heads if role == QUERY else self.kv_heads
        x = self.norm(x, role, "before-split")
        if self.recipe.rotary == "whole-width" and self.rotary and role != VALUE:
            x = self.rotated(x[:, None], self.rotary, self.places_of_heads(call, x, role))[:, 0]
        x = self.split(x, heads, role)
        x = self.norm(x, role, "before-rotation")
        x = self.rotate(call, x, role)
        x = self.norm(x, role, "after-rotation")
        if heads == self.heads:
            return x
        expect(x, self.recipe.split not in ("across-heads", "exchanged"))
        return self.share(x, role)

    def split(self, x, heads, role):
        """[batch, n, heads · width] becomes [batch, heads, n, width]."""
        batch, n, width = x.shape
        d, choice = width // heads, self.recipe.split
        if (choice == "view" or choice == "view-of-values" and role == VALUE
                or choice == "view-of-keys" and role != VALUE):
            return x.reshape(batch, heads, n, d)
        if choice == "interleaved":
            return x.reshape(batch, n, d, heads).permute(0, 3, 1, 2)
        if choice == "after-transpose":
            return x.transpose(1, 2).reshape(batch, heads, n, d)
        if choice == "across-heads":
            return x.reshape(batch, n, heads, d)
        if choice == "exchanged":
            return x.reshape(batch, n, d, heads).transpose(1, 2)
        x = x.reshape(batch, n, heads, d).transpose(1, 2)
        return x.flip(1) if choice == "keys-reversed" and role != QUERY else x

    def norm(self, x, role, when):
        """Norms queries or keys, if this is the time for it."""
        choice = self.recipe.norms
        if not self.has_norms or role == VALUE or choice == "none":
            return x
        if (choice == "other-width") != self.qk_norm_whole:
            time = "before-split"
        else:
            time = "after-rotation" if choice == "after-rotation" else "before-rotation"
        if when != time:
            return x
        norm = self.q_norm if role == QUERY else self.k_norm
        bias = getattr(norm, "bias", None)
        x = x - x.mean(-1, keepdim=True) if isinstance(norm, nn.LayerNorm) else x
        axes = (-1, -2) if choice == "over-tokens" else -1
        x = x / ((x * x).mean(axes, keepdim=True) + norm.eps).sqrt()
        if choice == "without-gain":
            return x
        x = x * self.of_width(norm.weight, x)
        return x if bias is None else x + self.of_width(bias, x)

    def of_width(self, gain, x):
        """A head's part of a gain, or the gain of a head once more for each of them."""
        width, n = gain.shape[0], x.shape[-1]
        if n >= width:
            return gain[torch.arange(n) % width]
        c = torch.arange(x.shape[1])[:, None] * n + torch.arange(n)
        return gain[c % width][:, None]

    # --- rotary positions ---

    def places(self, call, role, n):
        """Where n queries or keys stand, [1 or batch, n]."""
        like = call.inputs[QUERY]
        count = torch.arange(n, dtype=like.dtype)[None]
        if self.recipe.axes == "exchanged":
            return count
        if call.positions is not None:
            return torch.as_tensor(call.positions[role], dtype=like.dtype).reshape(-1, n)
        return count + (call.first_query(*call.lengths) if role == QUERY else 0)

    def places_of_heads(self, call, x, role):
        """The same by what the recipe counts."""
        n, choice = x.shape[-2], self.recipe.rotary
        places = self.places(call, min(role, KEY), n)
        count = torch.arange(n, dtype=x.dtype)[None]
        if (choice, role) in (("queries-from-zero", QUERY), ("keys-from-zero", KEY)):
            return count
        if (choice, role) == ("padding-counted", QUERY):
            return count + call.first_query(*call.lengths)
        if (choice, role) == ("queries-ahead", QUERY):
            return places + 1
        if (choice, role) == ("cached-keys-twice", KEY):
            first = self.places(call, QUERY, call.lengths[0])[:, :1]
            return torch.where(places < first, 2 * places, places)
        return places

    def rotate(self, call, x, role):
        """Rotates the heads of queries and keys by their positions."""
        choice = self.recipe.rotary
        pairing = {"unmeant-halves": "halves", "unmeant-pairs": "pairs"}.get(choice, self.rotary)
        factor = {
            "none": (0, 0, 0),
            "whole-width": (0, 0, 0),
            "values-too": (1, 1, 1),
            "queries-alone": (1, 0, 0),
            "keys-alone": (0, 1, 0),
            "reversed": (-1, -1, 0),
            "keys-reversed": (1, -1, 0),
            "twice": (2, 2, 0),
            "keys-twice": (1, 2, 0),
        }.get(choice, (1, 1, 0))[role]
        if not pairing or factor == 0:
            return x
        expect(x, self.recipe.split != "across-heads")
        if choice == "other-pairing":
            pairing = {"halves": "pairs", "pairs": "halves"}[pairing]
        places = factor * self.places_of_heads(call, x, role)
        if choice == "by-head":
            head = torch.arange(x.shape[1], dtype=x.dtype)[:, None]
            return self.rotated(x, pairing, (factor * head)[None])
        if choice == "first-head":
            return torch.cat((self.rotated(x[:, :1], pairing, places), x[:, 1:]), 1)
        if choice == "half-of-head":
            d = x.shape[-1] // 2
            return torch.cat((self.rotated(x[..., :d], pairing, places), x[..., d:]), -1)
        return self.rotated(x, pairing, places)

    def rotated(self, x, pairing, places):
        """Pairs of entries of x, [batch, heads, n, d], rotated by places, [batch, n]."""
        choice, d = self.recipe.rotary, x.shape[-1]
        expect(x, d % 2 == 0)
        p = torch.arange(d // 2)
        a, b = (p, p + d // 2) if pairing == "halves" else (2 * p, 2 * p + 1)
        base, width = self.base, d
        if choice == "other-base":
            base = 500_000.0 if base == 10_000.0 else 10_000.0
        if choice == "half-exponent":
            width = 2 * d
        if choice == "exponent-of-model":
            width = self.widths[QUERY]
        exponent = (2 * p + (1 if choice == "odd-exponent" else 0)).to(x.dtype) / width
        places = places[:, None, :, None] if choice != "by-head" else places[:, :, :, None]
        angles = places * base ** -exponent

        def parts(entry):
            pair = p
            if choice == "angles-of-other":
                pair = entry // 2 if pairing == "halves" else entry % (d // 2)
            sin, cos = angles[..., pair].sin(), angles[..., pair].cos()
            return (cos, sin) if choice == "sine-for-cosine" else (sin, cos)

        (sin_a, cos_a), (sin_b, cos_b) = parts(a), parts(b)
        minus = 1 if choice == "without-minus" else -1
        rotated = torch.empty_like(x)
        rotated[..., a] = x[..., a] * cos_a + minus * x[..., b] * sin_a
        rotated[..., b] = x[..., a] * sin_b + x[..., b] * cos_b
        return rotated

    def share(self, x, role):
        """A head of keys or values for each query head: [batch, heads, n, d]."""
        batch, kv_heads, n, d = x.shape
        each, choice = self.heads // kv_heads, self.recipe.sharing
        if choice == "tiled" or choice == "values-tiled" and role == VALUE:
            return x.repeat(1, each, 1, 1)
        if choice == "first":
            return x[:, :1].expand(-1, self.heads, -1, -1)
        if choice == "mean":
            return x.mean(1, keepdim=True).expand(-1, self.heads, -1, -1)
        if choice == "along-sequence":
            return x.repeat_interleave(each, 2).reshape(batch, self.heads, n, d)
        return x.repeat_interleave(each, 1)

    # --- scores ---

    def scores(self, q, k):
        """q kᵀ · scale, bounded: [batch, heads, n_q, n_kv]."""
        choice = self.recipe
        expect(q, q.shape[:2] == k.shape[:2] and q.shape[-1] == k.shape[-1])
        if choice.similarity == "transposed":
            expect(q, q.shape == k.shape)
            scores = k @ q.transpose(-2, -1)
        elif choice.similarity == "reshaped":
            scores = q @ k.reshape(*k.shape[:2], k.shape[3], k.shape[2])
        elif choice.similarity == "cosine":
            scores = F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).transpose(-2, -1)
        else:
            scores = q @ k.transpose(-2, -1)
        scale = self.scale(choice.scale, k.shape[2])
        if choice.cap == "before-scale":
            return self.bounded(scores, "meant") * scale
        return self.bounded(scores * scale, choice.cap)

    def scale(self, choice, n_kv):
        """What scores are multiplied by."""
        d_k = self.d_k
        return {
            "meant": d_k**-0.5 if self.own_scale is None else self.own_scale,
            "none": 1.0,
            "after-softmax": 1.0,
            "root-of-model": self.d_model**-0.5,
            "width": 1 / d_k,
            "model": 1 / self.d_model,
            "multiplied": d_k**0.5,
            "root-of-heads": self.heads**-0.5,
            "root-of-keys": n_kv**-0.5,
            "quarter-root": d_k**-0.25,
            "root-of-width": d_k**-0.5,
        }[choice]

    def bounded(self, scores, choice):
        cap = self.soft_cap
        if cap is None or choice in ("none", "after-mask"):
            return scores
        if choice == "without-product":
            return (scores / cap).tanh()
        if choice == "without-quotient":
            return cap * scores.tanh()
        if choice == "score-for-cap":
            return scores * (scores / cap).tanh()
        return cap * (scores / cap).tanh()

    # --- masks ---

    def attn(self, call, scores):
        """Attention weights, [batch, heads, n_q, n_kv]."""
        choice = self.recipe
        masked, is_open = self.masked(call, scores)
        has_sinks = self.sinks is not None and choice.sinks != "none"
        attn = self.softmax(self.with_sinks(masked) if has_sinks else masked)
        if has_sinks:
            attn = attn[..., : -2 if choice.sinks == "twice" else -1]
        is_capped = choice.cap == "after-mask" and self.soft_cap is not None
        blocks = choice.fill in ("minus-infinity", "opposite", "last-tile-too", "first-tile-alone")
        if choice.fill == "after-softmax":
            attn = attn.masked_fill(~is_open, 0.0)
        elif blocks and not is_capped and not has_sinks:
            attn = attn.masked_fill(~is_open.any(-1, keepdim=True), 0.0)
        if choice.scale == "after-softmax":
            attn = attn * self.scale("meant", attn.shape[-1])
        if choice.softmax == "dropped":
            return F.dropout(attn, self.dropout or 0.1, training=True)
        return F.dropout(attn, self.dropout, self.training)

    def masked(self, call, scores):
        """Scores with slopes and masks on them, and which keys are open."""
        choice, (batch, heads, n_q, n_kv) = self.recipe, scores.shape
        has_mask = call.causal or self.window or self.slopes is not None
        has_mask = has_mask or any(x is not None for x in (call.padding, call.pairs, call.added))
        expect(scores, choice.split != "across-heads" or not has_mask)
        is_open = self.is_open(call, batch, heads, n_q, n_kv)
        if choice.fill == "opposite" and has_mask:
            is_open = ~is_open
        slopes = self.chosen_slopes()
        if slopes is not None:
            rows = self.places(call, QUERY, n_q)[:, None, :, None]
            columns = self.places(call, KEY, n_kv)[:, None, None, :]
            slopes = torch.as_tensor(slopes, dtype=scores.dtype)[:, None, None]
            scores = scores - slopes * (rows - columns).abs()
        if call.added is not None:
            scores = scores + self.added(call, batch, heads, n_kv)
        fill = {
            "minus-infinity": -INF, "opposite": -INF, "last-tile-too": -INF,
            "first-tile-alone": -INF, "minus-nano": -1e-9, "zero": 0.0, "minus-one": -1.0,
            "minus-ten-thousand": -1e4, "large": 1e9,
        }.get(choice.fill)
        if choice.fill == "open-plus-one":
            scores = torch.where(is_open, scores + 1, scores)
        elif choice.fill == "blocked-plus-one":
            scores = torch.where(is_open, scores, scores + 1)
        elif fill is not None:
            scores = scores.masked_fill(~is_open, fill)
        return self.bounded(scores, "meant") if choice.cap == "after-mask" else scores, is_open

    def is_open(self, call, batch, heads, n_q, n_kv):
        """Which query may attend to which key, [batch, heads, n_q, n_kv]."""
        choice = self.recipe
        is_open = self.causal_mask(call, n_q, n_kv) & self.window_mask(call, n_q, n_kv)
        is_open = is_open.expand(batch, heads, n_q, n_kv)
        if call.padding is not None:
            rows = n_kv if choice.padding == "transposed" else n_q
            mask = call.padding[:, None, :].expand(-1, rows, -1)
            mask = self.of_heads(call, mask, choice.padding, heads)
            is_open = closed(is_open, mask, choice.padding)
        if call.pairs is not None:
            mask = self.of_heads(call, call.pairs, choice.pairs, heads)
            is_open = closed(is_open, mask, choice.pairs)
        tile = min(tile_of(n_kv), n_kv)
        column = torch.arange(n_kv)
        if choice.fill == "last-tile-too":
            return is_open & (column < n_kv - n_kv % tile)
        if choice.fill == "first-tile-alone":
            return is_open | (column >= tile)
        return is_open

    def causal_mask(self, call, n_q, n_kv):
        choice = self.recipe.causal
        if choice == "none" or not call.causal and choice != "unmeant":
            return torch.ones(n_q, n_kv, dtype=torch.bool)
        first = call.first_query(n_q, n_kv)
        if choice == "unmeant":
            first = 0
        elif choice == "other-corner":
            first = n_kv - n_q if first == 0 else 0
        ahead = torch.arange(n_kv) - torch.arange(n_q)[:, None] - first
        if choice == "without-itself":
            return ahead < 0
        if choice == "future":
            return ahead >= 0
        return ahead <= (1 if choice == "one-ahead" else 0)

    def window_mask(self, call, n_q, n_kv):
        choice, width = self.recipe.window, self.window
        if width is None or choice == "none":
            return torch.ones(n_q, n_kv, dtype=torch.bool)
        width += {"wider": 1, "narrower": -1}.get(choice, 0)
        first = 0 if choice == "from-zero" else call.first_query(n_q, n_kv)
        behind = torch.arange(n_q)[:, None] + first - torch.arange(n_kv)
        return behind < width if call.causal else behind.abs() < width

    def of_heads(self, call, masks, choice, heads):
        """Of masks, [m, n_q, n_kv], the one of each head of each sequence."""
        n, batch = len(masks), call.batch
        s, i = torch.arange(batch)[:, None], torch.arange(heads)
        if n == 1:
            at = 0 * (s + i)
        elif n == batch:
            at = {"first-sequence": 0 * (s + i), "tiled": (s * heads + i) % batch,
                  "repeated": (i * batch + s) // heads}.get(choice, s + 0 * i)
        else:
            at = {"first-sequence": 0 * s + i, "tiled": i * batch + s}.get(choice, s * heads + i)
        return masks[at]

    def added(self, call, batch, heads, n_kv):
        """What a mask of numbers adds to scores."""
        choice = self.recipe.pairs
        added = self.of_heads(call, call.added, choice, heads)
        if choice == "none":
            return torch.zeros_like(added)
        if choice == "first-head":
            return torch.cat((added[:, :1], torch.zeros_like(added[:, 1:])), 1)
        if choice == "transposed":
            return expect(added.transpose(-2, -1), added.shape[-1] == added.shape[-2])
        if choice == "opposite":
            return -added
        if choice == "before-scale":
            return added * self.scale("meant", n_kv)
        if self.recipe.fill == "first-tile-alone":
            return added.masked_fill(torch.arange(n_kv) >= tile_of(n_kv), 0.0)
        return added

    def chosen_slopes(self):
        slopes, choice = self.slopes, self.recipe.slopes
        if slopes is None or choice == "none":
            return None
        h = len(slopes)
        return {
            "opposite": [-slope for slope in slopes],
            "reversed": slopes[::-1],
            "any-power": [2 ** (-8 * (i + 1) / h) for i in range(h)],
            "from-zero": [2 ** (-8 * i / h) for i in range(h)],
            "first-half": [slopes[i % ((h + 1) // 2)] for i in range(h)],
            "sorted": sorted(slopes, reverse=True),
        }.get(choice, slopes)

    # --- from scores to the average of values ---

    def with_sinks(self, scores):
        """The score of a head's sink beside the others."""
        choice = self.recipe.sinks
        sink = self.sinks[:, None, None].expand(*scores.shape[:3], 1)
        if choice == "scaled":
            sink = sink * self.scale("meant", scores.shape[-1])
        if choice == "last-dropped":
            return torch.cat((sink, scores), -1)
        return torch.cat((scores, sink, sink) if choice == "twice" else (scores, sink), -1)

    def softmax(self, scores):
        choice = self.recipe.softmax
        batch, heads, n_q, n_kv = scores.shape
        if choice in ("over-keys", "dropped"):
            return softmax(scores)
        if choice == "over-queries":
            return softmax(scores, -2)
        if choice == "over-heads":
            return softmax(scores, 1)
        if choice == "over-batch":
            return softmax(scores, 0)
        if choice == "over-map":
            return softmax(scores.flatten(2)).reshape(scores.shape)
        if choice == "over-heads-and-keys":
            rows = scores.transpose(1, 2).reshape(batch, n_q, heads * n_kv)
            return softmax(rows).reshape(batch, n_q, heads, n_kv).transpose(1, 2)
        if choice == "none":
            return scores
        if choice == "twice":
            return softmax(softmax(scores))
        if choice == "logarithm":
            return softmax(scores).log()
        if choice == "base-two":
            return softmax(scores * math.log(2))
        if choice == "sigmoid":
            return scores.sigmoid()
        return self.softmax_of_rows(scores)

    def softmax_of_rows(self, scores):
        """Sums that are not the softmax's own, and those that are gathered tile by tile."""
        choice, n = self.recipe.softmax, scores.shape[-1]
        finite = lambda most: most.masked_fill(most == -INF, 0.0)
        most = finite(scores.amax(-1, keepdim=True))
        powers = (scores - most).exp()
        total, zero = powers.sum(-1, keepdim=True), (-most).exp()
        tile = tile_of(n)
        last = ((torch.arange(n) // tile + 1) * tile).clamp(max=n) - 1
        until = finite(scores.cummax(-1).values[..., last])  # the largest up to the tile's end
        early = (scores - until).exp()
        filled = -n % (1 << (n - 1).bit_length())
        if choice == "no-exponential":
            powers, total = scores, scores.sum(-1, keepdim=True)
        elif choice == "not-divided":
            total = torch.ones_like(total)
        elif choice == "plus-one":
            total = total + zero
        elif choice == "plus-one-late":
            total = total + 1
        elif choice == "zero-filled" and filled > 1:
            total = total + filled * zero
        elif choice == "sum-not-rescaled":
            total = early.sum(-1, keepdim=True)
        elif choice == "output-not-rescaled":
            powers = early
        elif choice == "output-divided":
            powers = early * (most - until).exp()
        return powers / total.masked_fill(total == 0, 1.0)

    def average(self, attn, v):
        """attn v, [batch, heads, n_q, d_v]."""
        choice = self.recipe.values
        expect(attn, attn.shape[:2] == v.shape[:2])
        if choice == "unweighted":
            return expect(v, attn.shape[-2] == v.shape[-2])
        if choice == "transposed":
            expect(v, attn.shape[-1] == attn.shape[-2])
            return attn.transpose(-2, -1) @ v
        heads = attn @ v
        if choice == "first-tile":
            column = torch.arange(v.shape[-1])
            return heads.masked_fill(column >= tile_of(v.shape[-1]), 0.0)
        return heads

    # --- heads side by side, and the output ---

    def merge(self, heads):
        """[batch, heads, n, d_v] becomes [batch, n, heads · d_v]."""
        choice, (batch, h, n, d) = self.recipe.merge, heads.shape
        if choice == "view" or self.recipe.split == "across-heads":
            rows = h if self.recipe.split == "across-heads" else n
            return heads.reshape(batch, rows, -1)
        if choice == "interleaved":
            return heads.permute(0, 2, 3, 1).reshape(batch, n, h * d)
        if choice == "wrong-axes":
            return heads.transpose(2, 3).reshape(batch, n, h * d)
        if choice == "heads-before-batch":
            heads = heads.reshape(h, batch, n, d).transpose(0, 1)
        elif choice == "reversed":
            heads = heads.flip(1)
        elif choice == "first":
            heads = heads[:, :1].expand(-1, h, -1, -1)
        elif choice == "mean":
            heads = heads.mean(1, keepdim=True).expand(-1, h, -1, -1)
        return heads.transpose(1, 2).reshape(batch, n, h * d)

    def output(self, call, concat, q):
        """concat W^Oᵀ + b^O, [batch, n_q, d_model], and what is added."""
        choice, linear = self.recipe, self.out_proj
        times = self.heads if choice.output_bias == "per-head" else choice.output_bias
        product = choice.output_product
        output = affine(concat, linear.weight, linear.bias, product, times, self.heads)
        output = F.relu(output) if choice.relu_on_output else output
        exchanged = choice.axes == "exchanged"
        added = {
            "residual": call.inputs[QUERY],
            "residual-then-norm": call.inputs[QUERY],
            "residual-of-value": call.inputs[VALUE],
            "projected-query": q,
        }.get(choice.addition)
        if added is not None:
            output = output + expect(added, added.shape == output.shape)
        if choice.addition in ("norm", "residual-then-norm"):
            output = F.layer_norm(output, output.shape[-1:])
        if choice.addition == "zero-padding" and call.padding is not None:
            output = output * call.padding[:, : output.shape[1], None]
        return output.transpose(0, 1) if exchanged else output


def affine(x, weight, bias, product, times, heads):
    """x Wᵀ + b, where W is multiplied so, and b is added so often."""
    if product == "none":
        return x
    if product == "transposed":
        weight = weight.T
    elif product == "slices":  # a head reads only its own slice of x
        d_out, d_in = weight.shape
        expect(x, d_in % heads == 0 and d_out % heads == 0)
        own = torch.arange(d_out)[:, None] // (d_out // heads)
        weight = weight * (own == torch.arange(d_in) // (d_in // heads))
    elif product == "first-block":  # every head by the columns of W^O that are the first's
        width = weight.shape[1] // heads
        weight = weight[:, torch.arange(weight.shape[1]) % width]
    bias = None if bias is None or times == 0 else bias * times
    x = F.linear(x, weight, bias)
    return F.linear(x, weight, bias) if product == "twice" else x


def closed(is_open, mask, choice):
    """Closes what a mask does, if it is put on so."""
    if choice == "transposed":
        mask = mask.transpose(-2, -1)
    expect(mask, mask.shape[-2:] == is_open.shape[-2:])
    if choice == "none":
        return is_open
    if choice == "first-head":
        mask = mask | (torch.arange(mask.shape[1]) > 0)[:, None, None]
    elif choice == "opposite":
        mask = ~mask
    elif choice == "other-end":
        mask = mask.flip(-1)
    elif choice == "one-short":
        mask = mask | F.pad(mask, (1, 0))[..., :-1]
    elif choice == "wider":
        mask = mask | F.pad(mask, (0, 1))[..., 1:]
    return is_open | mask if choice == "joined" else is_open & mask


def softmax(x, dim=-1):
    """Where all is −∞, zeros."""
    most = x.amax(dim, keepdim=True)
    powers = (x - most.masked_fill(most == -INF, 0.0)).exp()
    total = powers.sum(dim, keepdim=True)
    return powers / total.masked_fill(total == 0, 1.0)


def tile_of(n):
    """The largest power of 2 that leaves more than one tile."""
    return max((1 << (n - 1).bit_length()) // 2, 1)


def paper_slopes(h):
    """The slopes of ALiBi as its paper has them."""
    power = 1 << (h.bit_length() - 1)
    slopes = [2 ** (-8 * (i + 1) / power) for i in range(power)]
    return slopes + [2 ** (-4 * (2 * i + 1) / power) for i in range(h - power)]


def expect(x, fits):
    """x, if shapes fit."""
    if not fits:
        raise ValueError("with this mistake, these shapes do not fit")
    return x


def recipe(mistake=None):
    """A choice for each step: as it was meant, or as a mistake has it."""
    changes = {} if mistake is None else MISTAKES[mistake].changes
    return SimpleNamespace(**{**RIGHT, **changes})


def mistakes():
    """The mistakes, by their ids: `.step`, `.changes`, `.does` and `.symptom` of each."""
    return MISTAKES




# ---------------------------------------------------------------------------------------------
# Tests that catch the mistakes, the simplest first. If you copy one into a file of your own, put
# `from zoo import any_layer, close, expected, random, tokens` above it.
# ---------------------------------------------------------------------------------------------


def test_shapes(make_layer):
    """Take sizes that all differ, and look at the shapes of the output and of the weights."""
    layer = make_layer(12, 3).eval()
    query, memory = tokens(2, 4, 12), tokens(2, 7, 12)
    output, weights = layer(query, memory, memory)
    assert output.shape == (2, 4, 12) and weights.shape == (2, 4, 7)


def test_rows_sum_to_1(make_layer):
    """Every row of attention weights sums to 1, and no weight is negative."""
    layer = any_layer(make_layer, 12, 3, causal=True)
    _, weights = layer(tokens(2, 5, 12), average_attn_weights=False)
    close(weights.sum(-1), torch.ones(2, 3, 5))
    assert (weights >= 0).all()


def test_the_future_is_not_seen(make_layer):
    """Under a causal mask, change the last token: no output before it may change."""
    layer = any_layer(make_layer, 12, 3, causal=True)
    x = tokens(2, 6, 12)
    y = torch.cat((x[:, :5], tokens(2, 1, 12, seed=1)), 1)
    close(layer(y)[0][:, :5], layer(x)[0][:, :5])


def test_the_past_is_seen(make_layer):
    """Change the first token: the outputs of all later tokens must change."""
    layer = any_layer(make_layer, 12, 3, causal=True)
    x = tokens(2, 6, 12)
    y = torch.cat((tokens(2, 1, 12, seed=1), x[:, 1:]), 1)
    moved = (layer(y)[0] - layer(x)[0]).abs().amax(-1)
    assert (moved > 1e-6).all()


def test_order_of_keys(make_layer):
    """Without positions and masks, keys and values in another order give the same output."""
    layer = any_layer(make_layer, 12, 3)
    query, memory = tokens(2, 5, 12), tokens(2, 5, 12, seed=1)
    other = memory[:, [4, 1, 2, 3, 0]]
    close(layer(query, other, other)[0], layer(query, memory, memory)[0])


def test_alone(make_layer):
    """A sequence alone gives what it gives in a batch."""
    layer = any_layer(make_layer, 12, 3)
    x = tokens(3, 5, 12)
    for s in range(3):
        close(layer(x[s : s + 1])[0], layer(x)[0][s : s + 1])


def test_padding_changes_nothing(make_layer):
    """A sequence with padding behind it gives what it gives without, whatever stands there."""
    layer = any_layer(make_layer, 12, 3)
    x, lengths = tokens(3, 6, 12), [6, 3, 4]
    padding = torch.arange(6) >= torch.tensor(lengths)[:, None]
    output, _ = layer(x, x, x, key_padding_mask=padding)
    for s, n in enumerate(lengths):
        close(output[s, :n], layer(x[s : s + 1, :n])[0][0])
    memory = torch.where(padding[..., None], 100 * x, x)
    close(layer(x, memory, memory, key_padding_mask=padding)[0], output)


def test_a_cache_changes_nothing(make_layer):
    """The last queries on all keys give the last rows of the whole sequence."""
    for options in ({}, {"rotary": "halves"}, {"slopes": True}, {"window": 3}):
        layer = any_layer(make_layer, 12, 3, causal=True, **options)
        x = tokens(2, 7, 12)
        close(layer(x[:, 4:], x, x)[0], layer(x)[0][:, 4:])


def test_values(make_layer):
    """Compare with loops: sizes that all differ, three different inputs, no bias that is 0."""
    layer = any_layer(make_layer, 12, 3)
    query, key, value = tokens(2, 5, 12), tokens(2, 5, 12, seed=1), tokens(2, 5, 12, seed=2)
    close(layer(query, key, value)[0], expected(layer, query, key, value, num_heads=3))
    query, key, value = query[:, :4], tokens(2, 7, 12, seed=1), tokens(2, 7, 12, seed=2)
    close(layer(query, key, value)[0], expected(layer, query, key, value, num_heads=3))


def test_values_of_other_widths(make_layer):
    """The same with keys and values as wide as they like, and with d_v that is not d_k."""
    sizes = {"kdim": 10, "vdim": 7, "head_dim": 5, "v_head_dim": 6}
    layer = any_layer(make_layer, 12, 3, **sizes)
    query, key, value = tokens(2, 4, 12), tokens(2, 6, 10, seed=1), tokens(2, 6, 7, seed=2)
    close(layer(query, key, value)[0], expected(layer, query, key, value, num_heads=3))


def test_causal_values(make_layer):
    """Compare a causal layer with loops: as many queries as keys, and fewer."""
    for causal, n_q in ((True, 6), (True, 4), ("top-left", 4)):
        layer, x = any_layer(make_layer, 12, 3, causal=causal), tokens(2, 6, 12)
        query = x[:, 6 - n_q :]
        options = {"num_heads": 3, "causal": causal}
        close(layer(query, x, x)[0], expected(layer, query, x, x, **options))


def test_masks(make_layer):
    """Compare with loops under a mask for all, and under one for each head; of numbers too."""
    layer, x = any_layer(make_layer, 12, 3), tokens(2, 6, 12)
    for n in (1, 6):
        blocked = torch.rand(n, 6, 6, generator=random(n)) < 0.4
        blocked[:, range(6), range(6)] = False  # each query keeps a key
        added = torch.randn(n, 6, 6, generator=random(n))
        for mask in (blocked, added, added.masked_fill(blocked, -INF)):
            own = expected(layer, x, num_heads=3, mask=mask)
            close(layer(x, x, x, attn_mask=mask if n > 1 else mask[0])[0], own)


def test_causal_and_padded(make_layer):
    """Compare with loops where a mask of padding and a causal mask meet."""
    layer = any_layer(make_layer, 12, 3, causal=True)
    x = tokens(2, 6, 12)
    padding = torch.arange(6) >= torch.tensor([6, 4])[:, None]
    mask = padding.repeat_interleave(3, 0)[:, None].expand(-1, 6, -1)
    own = expected(layer, x, num_heads=3, causal=True, mask=mask)
    close(layer(x, x, x, key_padding_mask=padding)[0], own)


def test_large_scores(make_layer):
    """Compare with loops where scores are as large as 100,000: a mask must still block."""
    layer = any_layer(make_layer, 12, 3, causal=True, scale=3e4).double()
    x = tokens(2, 9, 12).double()
    close(layer(x)[0], expected(layer, x, num_heads=3, causal=True, scale=3e4))


def test_options_of_scores(make_layer):
    """Compare with loops: a scale of your own, a soft cap, and both under a causal mask."""
    x = tokens(2, 6, 12)
    for options in ({"scale": 0.8}, {"soft_cap": 0.5}, {"scale": 2.0, "soft_cap": 1.5}):
        layer = any_layer(make_layer, 12, 3, causal=True, **options)
        close(layer(x)[0], expected(layer, x, num_heads=3, causal=True, **options))


def test_sinks(make_layer):
    """Compare with loops where each head has a sink of its own."""
    x = tokens(2, 6, 12)
    layer = any_layer(make_layer, 12, 3, causal=True, sinks=True)
    close(layer(x)[0], expected(layer, x, num_heads=3, causal=True))


def test_windows_and_slopes(make_layer):
    """Compare with loops: a window, and ALiBi with a number of heads that is no power of 2."""
    for kind in ({"window": 3}, {"slopes": True}, {"window": 2, "slopes": True}):
        for causal in (True, False):
            options = {"num_heads": 6, "causal": causal, **kind}
            layer, x = any_layer(make_layer, 12, **options), tokens(2, 7, 12)
            close(layer(x)[0], expected(layer, x, **options))
            close(layer(x[:, 4:], x, x)[0], expected(layer, x[:, 4:], x, x, **options))


def test_shared_keys(make_layer):
    """Compare with loops where two query heads share a head of keys and values."""
    options = {"num_heads": 4, "num_kv_heads": 2}
    layer, x = any_layer(make_layer, 16, causal=True, **options), tokens(2, 5, 16)
    close(layer(x)[0], expected(layer, x, causal=True, **options))


def test_rotary(make_layer):
    """Compare with loops: rotary positions in halves and in pairs, with a base of your own."""
    for rotary, base in (("halves", 10_000.0), ("pairs", 10_000.0), ("halves", 500.0)):
        options = {"num_heads": 4, "num_kv_heads": 2, "rotary": rotary, "base": base}
        layer, x = any_layer(make_layer, 32, causal=True, **options), 2 * tokens(2, 9, 32)
        close(layer(x)[0], expected(layer, x, causal=True, **options))
        query = x[:, 6:]
        close(layer(query, x, x)[0], expected(layer, query, x, x, causal=True, **options))


def test_rotary_after_left_padding(make_layer):
    """Positions that do not count padding: a padded sequence gives what it gives without."""
    layer, x = any_layer(make_layer, 24, 3, causal=True, rotary="halves"), tokens(2, 7, 24)
    positions = (torch.arange(7) - torch.tensor([0, 3])[:, None]).clamp(min=0)
    padding = torch.arange(7) < torch.tensor([0, 3])[:, None]
    given = {"key_padding_mask": padding, "positions": (positions, positions)}
    close(layer(x, x, x, **given)[0][1, 3:], layer(x[1:, 3:])[0][0])
    given["positions"] = (positions[:, 4:], positions)
    close(layer(x[:, 4:], x, x, **given)[0][1], layer(x[1:, 3:])[0][0, 1:])
    later = {"positions": (positions[:, 4:] + 5, positions + 2), "key_padding_mask": padding}
    own = expected(layer, x[:1, 4:], x[:1], x[:1], num_heads=3, causal=True, rotary="halves",
                   positions=(torch.arange(9, 12), torch.arange(2, 9)))
    close(layer(x[:, 4:], x, x, **later)[0][:1], own)


def test_norms_of_queries_and_keys(make_layer):
    """Compare with loops: a norm over each head, or over all of them, before the rotation."""
    for kind in ("rms", "layer"):
        for whole in (False, True):
            options = {"num_heads": 3, "rotary": "pairs", "qk_norm": kind, "qk_norm_whole": whole}
            layer, x = any_layer(make_layer, 12, causal=True, **options), tokens(2, 6, 12)
            close(layer(x)[0], expected(layer, x, causal=True, **options))


def test_packed_by_heads(make_layer):
    """Compare with loops where a packed weight has q, k and v of each head together."""
    layer, x = any_layer(make_layer, 12, 3, packing="heads"), tokens(2, 5, 12)
    close(layer(x)[0], expected(layer, x, num_heads=3, packing="heads"))


def test_no_dropout_in_evaluation(make_layer):
    """After eval(), a layer with dropout computes what it computes without."""
    layer, x = any_layer(make_layer, 12, 3, dropout=0.5), tokens(2, 5, 12)
    close(layer(x)[0], expected(layer, x, num_heads=3))


# --- what the tests share ---


def random(seed):
    return torch.Generator().manual_seed(seed)


def tokens(batch, n, width, seed=0):
    return torch.randn(batch, n, width, generator=random(seed))


def any_layer(make_layer, *sizes, **options):
    """A layer of which no parameter is 0 or 1, since those hide mistakes."""
    layer = make_layer(*sizes, **options).eval()
    with torch.no_grad():
        for at, parameter in enumerate(layer.parameters()):
            noise = torch.randn(parameter.shape, generator=random(at))
            if parameter.dim() == 2:
                parameter.copy_(1.2 * noise * parameter.shape[1] ** -0.5)
            else:
                parameter.copy_(0.5 + 0.5 * noise)
    return layer.requires_grad_(False)


def close(a, b):
    torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-4)


def expected(layer, query, key=None, value=None, *, num_heads, num_kv_heads=None, mask=None,
             causal=False, window=None, scale=None, soft_cap=None, slopes=None, rotary=None,
             base=10_000.0, qk_norm=None, qk_norm_whole=False, packing="blocks", positions=None):
    """The output by the definition: head after head, query after query, key after key."""
    key = query if key is None else key
    value = key if value is None else value
    (batch, n_q, _), n_kv, h = query.shape, key.shape[1], num_heads
    h_kv = num_kv_heads or h
    first = 0 if causal == "top-left" else n_kv - n_q
    at_q, at_k = positions or (torch.arange(n_q) + first, torch.arange(n_kv))
    slopes = paper_slopes(h) if slopes is True else slopes or [0.0] * h
    sinks = getattr(layer, "sinks", None)
    mask = torch.zeros(1, n_q, n_kv) if mask is None else mask
    if mask.dtype == torch.bool:
        mask = torch.zeros(mask.shape).masked_fill(mask, -INF)
    output = torch.zeros_like(query) + layer.out_proj.bias

    def vectors(role, x, head, places):
        """Of each token of a sequence, the query or key of a head."""
        heads = h if role == QUERY else h_kv
        each = [projected(layer, role, x, i, heads, packing) for i in range(heads)]
        if qk_norm:
            of_tokens = [normed(layer, role, token, qk_norm, qk_norm_whole) for token in zip(*each)]
            each = list(zip(*of_tokens))
        return [as_complex(v, rotary, p, base) if rotary else v for v, p in zip(each[head], places)]

    for s in range(batch):
        for head in range(h):
            kv = head // (h // h_kv)
            q, k = vectors(QUERY, query[s], head, at_q), vectors(KEY, key[s], kv, at_k)
            v = projected(layer, VALUE, value[s], kv, h_kv, packing)
            factor = len(q[0]) ** -0.5 if scale is None else scale
            columns = slice(head * len(v[0]), (head + 1) * len(v[0]))
            for i in range(n_q):
                scores, values = [], []
                for j in range(n_kv):
                    behind = i + first - j
                    added = mask[s * h + head if len(mask) > 1 else 0, i, j]
                    is_far = window and not -window < behind < window
                    if causal and behind < 0 or is_far or added == -INF:
                        continue
                    score = (q[i] @ k[j]) * factor
                    score = soft_cap * torch.tanh(score / soft_cap) if soft_cap else score
                    scores.append(score - slopes[head] * abs(behind) + added)
                    values.append(v[j])
                if scores:
                    row = averaged(scores, values, None if sinks is None else sinks[head])
                    output[s, i] += layer.out_proj.weight[:, columns] @ row
    return output


def averaged(scores, values, sink):
    """The average of values, weighted by the softmax of their scores, and of a sink's."""
    most = max(scores) if sink is None else max(*scores, sink)
    powers = [(score - most).exp() for score in scores]
    total = sum(powers) if sink is None else sum(powers) + (sink - most).exp()
    return sum(power * value for power, value in zip(powers, values)) / total


def projected(layer, role, x, head, heads, packing):
    """Of each token of a sequence, the vector of one head."""
    rows, bias = rows_of_head(layer, role, head, heads, packing)
    return [rows @ token + bias for token in x]


def rows_of_head(layer, role, head, heads, packing):
    """The rows of W^Q, W^K or W^V that are a head's, and its bias."""
    name = f"{'qkv'[role]}_proj_weight"
    biases = layer.in_proj_bias
    if getattr(layer, name, None) is not None:
        weights = [getattr(layer, f"{name}_proj_weight") for name in "qkv"]
        first = sum(len(weight) for weight in weights[:role])
        weight, bias = weights[role], biases[first : first + len(weights[role])]
    elif packing == "heads":
        weight = layer.in_proj_weight
        d = weight.shape[0] // (3 * heads)
        rows = slice((3 * head + role) * d, (3 * head + role + 1) * d)
        return weight[rows], biases[rows]
    else:
        d_v = layer.out_proj.weight.shape[1]  # of all heads
        q, others = d_v, layer.in_proj_weight.shape[0] - d_v
        first, end = [(0, q), (q, q + others // 2), (q + others // 2, q + others)][role]
        weight, bias = layer.in_proj_weight[first:end], biases[first:end]
    d = weight.shape[0] // heads
    return weight[head * d : (head + 1) * d], bias[head * d : (head + 1) * d]


def normed(layer, role, heads, kind, is_whole):
    """The vectors of a token's heads, each normed by itself, or all together."""
    norm = layer.q_norm if role == QUERY else layer.k_norm

    def one(x):
        x = x - x.mean() if kind == "layer" else x
        x = x / (x.square().mean() + 1e-6).sqrt() * norm.weight
        return x + norm.bias if kind == "layer" else x

    return one(torch.cat(heads)).split(len(heads[0])) if is_whole else [one(x) for x in heads]


def as_complex(x, pairing, place, base):
    """A vector rotated, pair by pair, as complex numbers."""
    d = x.shape[0]
    angles = place * base ** (-torch.arange(0, d, 2) / d)
    a, b = (x[: d // 2], x[d // 2 :]) if pairing == "halves" else (x[::2], x[1::2])
    z = torch.complex(a, b) * torch.polar(torch.ones(d // 2), angles)
    if pairing == "halves":
        return torch.cat((z.real, z.imag))
    return torch.stack((z.real, z.imag), -1).flatten()


READY = [test for name, test in list(globals().items()) if name.startswith("test_")]


# ---------------------------------------------------------------------------------------------
# The program: tests of anybody's, run on the right layer and then on every wrong one.
# ---------------------------------------------------------------------------------------------


class Watched(MultiheadAttention):
    """A layer that notes whether its mistake changed anything that was computed."""

    made = shown = False

    def __init__(self, *sizes, **options):
        super().__init__(*sizes, **options)
        Watched.made = True

    def forward(self, *inputs, **named):
        if self.mistake is None:
            return super().forward(*inputs, **named)
        own, self.recipe = self.recipe, recipe()
        try:
            with torch.no_grad(), torch.random.fork_rng(devices=[]):
                right = super().forward(*inputs, **named)
        finally:
            self.recipe = own
        try:
            wrong = super().forward(*inputs, **named)
        except Exception:
            Watched.shown = True
            raise
        Watched.shown |= not all(map(is_same, right, wrong))
        return wrong


def is_same(a, b):
    if a is None or b is None:
        return a is b
    return a.shape == b.shape and torch.allclose(a, b, rtol=1e-4, atol=1e-6, equal_nan=True)


class Tests:
    """The tests of a file, found once and run with one mistake after the other."""

    def __init__(self, file):
        self.file, self.mistake, self.failed = file, None, {}

    def make_layer(self, *sizes, **options):
        return Watched(*sizes, mistake=self.mistake, **options)

    def answer(self, run, lines, answers):
        """Runs them once for each line: what ran, what failed and why, and what was made."""
        unread = dict(self.failed)
        for line in lines:
            question = json.loads(line)
            self.mistake, self.failed = question["mistake"], dict(unread)
            Watched.made = Watched.shown = False
            torch.manual_seed(0)
            ran = run(question["left_out"])
            answer = {"ran": ran, "failed": self.failed}
            answer |= {"made": Watched.made, "shown": Watched.shown}
            print(json.dumps(answer), file=answers, flush=True)

    def has_ended(self):
        """Whether nothing else needs to run: a wrong layer was found out."""
        return self.mistake is not None and self.failed


class PlainTests(Tests):
    """Functions that take `make_layer` or nothing."""

    def serve(self, lines, answers):
        spec = importlib.util.spec_from_file_location(Path(self.file).stem, self.file)
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        if hasattr(module, "make_layer"):
            module.make_layer = self.make_layer
        tests = [(name, it) for name, it in vars(module).items() if name.startswith("test_")]

        def run(left_out):
            ran = []
            for name, test in tests:
                if name in left_out or self.has_ended():
                    continue
                ran.append(name)
                try:
                    takes_it = list(inspect.signature(test).parameters) == ["make_layer"]
                    test(self.make_layer) if takes_it else test()
                except Exception as error:
                    self.failed[name] = f"{type(error).__name__}: {error}"
            return ran

        self.answer(run, lines, answers)


class PytestTests(Tests):
    """All that pytest finds in the file: a plugin of it, which runs what was found again."""

    def serve(self, lines, answers):
        import pytest

        self.lines, self.answers = lines, answers
        pytest.main([self.file, "-q", "-p", "no:cacheprovider", "-o", "addopts="], plugins=[self])

    def pytest_generate_tests(self, metafunc):
        if "make_layer" in metafunc.fixturenames:
            metafunc.parametrize("make_layer", [self.make_layer], ids=["zoo"])

    def pytest_runtestloop(self, session):
        for item in session.items:
            if hasattr(getattr(item, "module", None), "make_layer"):
                item.module.make_layer = self.make_layer

        def run(left_out):
            ran = []
            items = [item for item in session.items if item.nodeid not in left_out]
            for item, following in zip(items, items[1:] + [None]):
                if not self.has_ended():
                    ran.append(item.nodeid)
                    is_last = self.mistake is not None
                    item.config.hook.pytest_runtest_protocol(
                        item=item, nextitem=None if is_last else following)
            return ran

        self.answer(run, self.lines, self.answers)
        return True

    def pytest_collectreport(self, report):
        if report.failed:
            self.failed[report.nodeid] = str(report.longrepr)

    def pytest_runtest_logreport(self, report):
        if report.failed:
            self.failed[report.nodeid] = str(report.longrepr)


def work(file):
    """Runs the tests for each line of standard input."""
    torch.set_num_threads(1)
    lines, answers = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")  # pytest takes its own
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what tests print is nobody's
    os.dup2(1, 2)
    has_pytest = importlib.util.find_spec("pytest") is not None
    (PytestTests if has_pytest else PlainTests)(file).serve(lines, answers)


class Worker:
    """A process that runs tests, since a wrong layer may make one of them run forever."""

    def __init__(self, file):
        command = [sys.executable, os.path.abspath(__file__), "--work", str(file)]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)
        self.answers = queue.Queue()
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        for line in self.process.stdout:
            self.answers.put(json.loads(line))
        self.answers.put(None)  # it has ended

    def ask(self, mistake, left_out, limit):
        """What the tests say; nothing if they take too long, or end the process."""
        try:
            question = json.dumps({"mistake": mistake, "left_out": left_out})
            self.process.stdin.write(question + "\n")
            self.process.stdin.flush()
            return self.answers.get(timeout=limit)
        except (queue.Empty, OSError):
            return None

    def end(self):
        self.process.kill()
        self.process.wait()


KINDS = ("caught", "survive", "never")


def score(file, limit=20.0, progress=lambda n: None):
    """Which mistakes a file of tests catches, which survive, and which never show in it."""
    worker = Worker(file)
    right = worker.ask(None, [], limit + 120)
    result = {"tests": 0, "wrong": {}, "caught": [], "survive": [], "never": [], "stopped": []}
    if right is None:
        worker.end()
        why = f"The tests did not start, or did not end in {limit + 120:.0f} s on the right layer."
        result["wrong"] = {str(file): why}
        return result
    result["wrong"] = right["failed"]
    left_out = list(right["failed"])
    result["tests"] = len([name for name in right["ran"] if name not in left_out])
    if result["tests"] == 0 or not right["made"]:
        worker.end()
        return result
    for n, mistake in enumerate(MISTAKES):
        progress(n)
        answer = worker.ask(mistake, left_out, limit)
        if answer is None:
            worker.end()
            worker = Worker(file)
            result["stopped"].append(mistake)
        caught = answer is None or answer["failed"]
        result["caught" if caught else "survive" if answer["shown"] else "never"].append(mistake)
    worker.end()
    return result


def simplest_test(mistake):
    """The first of this file's tests that fails with a mistake."""
    for test in READY:
        try:
            test(lambda *sizes, **options: MultiheadAttention(*sizes, mistake=mistake, **options))
        except Exception:
            return test
    return None


def by_test(ids):
    """Mistakes, by the simplest test that sees them, and then by their step."""
    groups = {}
    for mistake in ids:
        steps = groups.setdefault(simplest_test(mistake), {})
        steps.setdefault(MISTAKES[mistake].step, []).append(mistake)
    return sorted(groups.items(), key=lambda group: READY.index(group[0]) if group[0] else 99)


def in_lines(words, indent):
    return textwrap.fill(words, 96, initial_indent=indent, subsequent_indent=indent,
                         break_on_hyphens=False)


def report(result):
    """The result in words."""
    for name, why in result["wrong"].items():
        print(f"Wrong: {name} fails on the right layer, and is left out. Mend it first:")
        print(textwrap.indent("\n".join(why.strip().splitlines()[-8:]), "    "))
    n, caught, survive, never = result["tests"], *(len(result[x]) for x in KINDS)
    if caught + survive + never == 0:
        print("No test is left that makes a layer with make_layer, as the head of this file says.")
        return
    pass_ = "1 test passes" if n == 1 else f"{n} tests pass"
    print(in_lines(f"{pass_} on the right layer. Of {len(MISTAKES)} mistakes, {caught} are caught, "
                   f"{survive} survive, and {never} change nothing that the tests compute.", ""))
    if result["stopped"]:
        stopped = ", ".join(result["stopped"])
        print(in_lines(f"Stopped after the time limit, and so caught: {stopped}", ""))
    if survive:
        print("\nThese survive: an output was wrong, and every test passed. Above them stands the\n"
              "simplest test that would see them; you find it in zoo.py.")
    for test, steps in by_test(result["survive"]):
        print(in_lines(words(test), "  "))
        for step, ids in steps.items():
            print(in_lines(f"{step}: {', '.join(ids)}", "      "))
    if never:
        print("\nTo show the others, your tests need another layer or another input:")
    for test, steps in by_test(result["never"]):
        print(in_lines(f"{words(test)} ({sum(map(len, steps.values()))})", "  "))


def words(test):
    if test is None:
        return "No test of this file sees these."
    return f"{test.__name__}: {test.__doc__}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("tests", nargs="?", help="a file of tests that use make_layer")
    parser.add_argument("--limit", type=float, default=20.0, help="seconds for each mistake")
    parser.add_argument("--list", action="store_true", help="list the mistakes")
    parser.add_argument("--json", metavar="FILE", help="write the result to a file")
    parser.add_argument("--work", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.work:
        return work(args.work)
    if args.list:
        for name, mistake in mistakes().items():
            print(f"{name} ({mistake.step})")
            print(in_lines(mistake.does, "    "))
            print(in_lines(f"Symptom: {mistake.symptom}", "    "))
        return None
    if not args.tests:
        return parser.print_help()
    if not Path(args.tests).is_file():
        parser.error(f"there is no file {args.tests}")
    torch.set_num_threads(1)  # layers are small

    def progress(n):
        if sys.stderr.isatty():
            print(f"{n} of {len(MISTAKES)}", end="\r", file=sys.stderr, flush=True)

    result = score(Path(args.tests).resolve(), args.limit, progress)
    report(result)
    if args.json:
        Path(args.json).write_text(json.dumps(result, indent=1) + "\n")
    return 2 if result["wrong"] or not result["tests"] else 1 if result["survive"] else 0


# ---------------------------------------------------------------------------------------------
# The right choices, and the mistakes.
# ---------------------------------------------------------------------------------------------


@dataclass
class Mistake:
    """One choice, or a few, that are other than they should be."""

    step: str
    changes: dict
    does: str
    symptom: str


# Made of the bank by `cargo learn zoo --keep PYTHON`; do not edit.
RIGHT = {
    "axes": "meant",
    "packing": "meant",
    "q_input": "query",
    "q_weight": "query",
    "q_product": "meant",
    "q_bias": 1,
    "k_input": "key",
    "k_weight": "key",
    "k_product": "meant",
    "k_bias": 1,
    "v_input": "value",
    "v_weight": "value",
    "v_product": "meant",
    "v_bias": 1,
    "relu": False,
    "split": "meant",
    "norms": "meant",
    "rotary": "meant",
    "sharing": "meant",
    "similarity": "product",
    "scale": "meant",
    "cap": "meant",
    "slopes": "meant",
    "causal": "meant",
    "window": "meant",
    "padding": "meant",
    "pairs": "meant",
    "fill": "minus-infinity",
    "sinks": "meant",
    "softmax": "over-keys",
    "values": "average",
    "merge": "meant",
    "output_product": "meant",
    "output_bias": 1,
    "relu_on_output": False,
    "addition": "nothing",
}

MISTAKES = {
    "batch-axis": Mistake(
        "inputs",
        {"axes": "exchanged"},
        "A token attends to the tokens at its own place in the other sequences of the batch.",
        "The output depends on the other sequences of the batch and on their order; with batch size 1 all attention weights are 1.0. Weights have shape batch × batch, and attn_mask complains of its shape: batch_first was forgotten.",
    ),
    "keys-from-query": Mistake(
        "inputs",
        {"k_input": "query", "v_input": "query"},
        "The layer attends within the query's own sequence and never reads the other one.",
        "Cross-attention ignores the encoder: any source, image or memory gives the same output, such as the same translation for every input. Attention weights are target × target, so a memory_key_padding_mask has the wrong size.",
    ),
    "only-keys-from-query": Mistake(
        "inputs",
        {"k_input": "query"},
        "Scores compare the query's tokens with each other, while values come from elsewhere.",
        "The cross-attention map does not change when the encoder memory changes, although the output does. Source and target of different lengths crash in attn @ v with a size mismatch; equal lengths run silently.",
    ),
    "values-from-query": Mistake(
        "inputs",
        {"v_input": "query"},
        "The weights belong to the keys, but they average the query's own tokens.",
        "Cross-attention weights react to the source, but no source content arrives in the output, only the decoder's own tokens. With unequal lengths the matmul with v fails: \"Expected size for first two dimensions\".",
    ),
    "key-and-value-inputs": Mistake(
        "inputs",
        {"k_input": "value", "v_input": "key"},
        "W^K reads the value's input, and W^V reads the key's.",
        "It is right for self-attention and for attn(q, memory, memory), and wrong once key and value are different tensors, as in DETR, where only the key has positional embeddings. If kdim and vdim differ, shapes clash.",
    ),
    "values-from-keys": Mistake(
        "inputs",
        {"v_input": "key"},
        "W^V reads the key's input and not the value's.",
        "The value argument has no effect: passing zeros or random numbers as value gives the same output. When key and value are one tensor it is right; positional embeddings added to keys turn up in the output.",
    ),
    "queries-from-keys": Mistake(
        "inputs",
        {"q_input": "key"},
        "W^Q reads the key's input, and the query's is never read.",
        "The decoder's state has no influence: any query gives the same result, and the cross-attention output is as long as the memory, not the target. The residual addition then fails unless lengths agree.",
    ),
    "packed-in-blocks": Mistake(
        "packing",
        {"packing": "blocks"},
        "W is read as all of q, all of k and all of v, but was packed head by head.",
        "Fused query_key_value weights of GPT-NeoX, BLOOM or Megatron, read with chunk(3), produce nonsense text. With one head it is right, the first head_dim columns agree, no shape is wrong, and training from scratch makes no difference.",
    ),
    "packed-head-by-head": Mistake(
        "packing",
        {"packing": "head-by-head"},
        "W is read as (heads, 3, d_k): q, k and v of head 0, then those of head 1, and so on.",
        "Loading in_proj_weight or GPT-2's c_attn gives garbage: q, k and v of different heads are confused. The query of head 0 is right, one head is right, and training from scratch works: the fused qkv view is wrong.",
    ),
    "packed-by-features": Mistake(
        "packing",
        {"packing": "features"},
        "Every third column is taken for q, the next one for k, and the next for v.",
        "The fused qkv split gives wrong queries, keys and values even with a single head: columns 0, 3, 6 became q. Pretrained weights are useless, and fresh training works: a reshape to (d, 3) has a stride of three.",
    ),
    "packed-k-v-q": Mistake(
        "packing",
        {"packing": "key-first"},
        "The first block is taken for W^K, the second for W^V and the last for W^Q.",
        "A pretrained fused qkv is wrong in all three, even with one head: the key equals the reference query, the value its key, and the query its value. Rotate the chunk order by one.",
    ),
    "packed-v-q-k": Mistake(
        "packing",
        {"packing": "value-first"},
        "The first block is taken for W^V, the second for W^Q and the last for W^K.",
        "None of q, k, v matches after chunk(3): q equals the reference k, k its v, and the averaged values its queries. A single head of a converted checkpoint is wrong too; no shape is.",
    ),
    "packed-q-v-k": Mistake(
        "packing",
        {"packing": "value-second"},
        "The second block is taken for W^V and the last for W^K.",
        "Queries match the checkpoint, but keys and values are interchanged after chunk or split of the fused weight: k equals the reference v. Maps and outputs are wrong at any number of heads; fresh training works.",
    ),
    "packed-k-q-v": Mistake(
        "packing",
        {"packing": "key-then-query"},
        "The first block is taken for W^K and the second for W^Q.",
        "Values match, but queries and keys of the fused projection are interchanged: scores are the transpose of the reference, and the diagonal agrees. Check the unpacking order of qkv.chunk; from scratch it trains the same.",
    ),
    "no-weight-transposed": Mistake(
        "projections",
        {"q_product": "transposed", "k_product": "transposed", "v_product": "transposed", "output_product": "transposed"},
        "All four weights are multiplied as they are stored: x W and not x Wᵀ.",
        "Converted weights give wrong results throughout, even for one token and one head: q, k, v and output all differ. Non-square ones raise \"mat1 and mat2 shapes cannot be multiplied\"; x @ W versus nn.Linear, Flax kernel.",
    ),
    "qkv-not-transposed": Mistake(
        "projections",
        {"q_product": "transposed", "k_product": "transposed", "v_product": "transposed"},
        "The three weights are multiplied as they are stored: x W and not x Wᵀ.",
        "q, k and v are all wrong from the start, while out_proj given correct heads is right. A square embed_dim hides it; with GQA the smaller k and v matrices raise a matmul shape error.",
    ),
    "q-not-transposed": Mistake(
        "projections",
        {"q_product": "transposed"},
        "W^Q is multiplied as it is stored.",
        "Keys and values match the reference and queries do not, so attention maps are wrong in every head. A symmetric or identity q_proj is right; a square weight raises no error.",
    ),
    "k-not-transposed": Mistake(
        "projections",
        {"k_product": "transposed"},
        "W^K is multiplied as it is stored.",
        "Queries and values match PyTorch and keys do not, so attention weights are wrong in every head. With fewer KV heads k_proj is not square and matmul fails, otherwise it is silent: x @ k_proj.weight lacks .T.",
    ),
    "v-not-transposed": Mistake(
        "projections",
        {"v_product": "transposed"},
        "W^V is multiplied as it is stored.",
        "Attention weights match perfectly, but the values and therefore all outputs are wrong, even for a single token. v_proj.weight lacks .T; a symmetric weight hides it, and a vdim or GQA shape raises an error.",
    ),
    "biases-left-out": Mistake(
        "projections",
        {"q_bias": 0, "k_bias": 0, "v_bias": 0, "output_bias": 0},
        "No bias is added, though the layer has them.",
        "A fresh layer agrees, and a loaded checkpoint is slightly off: with strict=False, in_proj_bias and out_proj.bias are unexpected keys. An all-zero input gives an all-zero output, where nn.MultiheadAttention gives its bias.",
    ),
    "qkv-biases-left-out": Mistake(
        "projections",
        {"q_bias": 0, "k_bias": 0, "v_bias": 0},
        "Only W^O's bias is added.",
        "A Qwen2 or GPT-2 checkpoint loaded into Llama-style attention rambles: q_proj.bias, k_proj.bias, v_proj.bias are unexpected. A zero input returns just out_proj.bias; before training there is no difference.",
    ),
    "q-bias-left-out": Mistake(
        "projections",
        {"q_bias": 0},
        "q has no bias.",
        "Keys and values agree, and queries are off by one constant vector for every token; attention maps are slightly wrong, and q_proj.bias gets no gradient. A zero query token attends uniformly; new layers show nothing.",
    ),
    "k-bias-left-out": Mistake(
        "projections",
        {"k_bias": 0},
        "k has no bias, so all scores of a query change by one number, which the softmax cancels.",
        "Raw scores are off by a constant per row, but attention weights and outputs agree to the last digit. Only keys themselves, or a RoPE model, show that k_proj.bias is missing, which hardly has a gradient.",
    ),
    "v-bias-left-out": Mistake(
        "projections",
        {"v_bias": 0},
        "v has no bias, so every output lacks b^V W^O.",
        "Attention maps agree, but the output lacks a constant vector, identical for all tokens, that is the v bias times out_proj and not the output bias. The concat is shifted per head; nothing is visible at initialisation.",
    ),
    "biases-twice": Mistake(
        "projections",
        {"q_bias": 2, "k_bias": 2, "v_bias": 2},
        "The projections add their biases, and then these are added once more.",
        "q, k and v each exceed the reference by exactly their bias, and the output bias is right. A zero input returns twice the value bias through out_proj. With bias=False or untrained weights there is no difference.",
    ),
    "q-k-exchanged": Mistake(
        "projections",
        {"q_weight": "key", "k_weight": "query"},
        "Queries are made by W^K and keys by W^Q, so without a mask scores are transposed.",
        "The score matrix is transposed before any mask: word A attends to B where B should attend to A. The diagonal is right; loaded weights are wrong, fresh training works, and GQA raises a view or reshape shape error.",
    ),
    "k-v-exchanged": Mistake(
        "projections",
        {"k_weight": "value", "v_weight": "key"},
        "Keys are made by W^V and values by W^K.",
        "Queries are right, but keys equal the reference values and values equal its keys. Maps and output are wrong with pretrained weights, and as good when trained from scratch: k_proj and v_proj were loaded into each other's names.",
    ),
    "q-v-exchanged": Mistake(
        "projections",
        {"q_weight": "value", "v_weight": "query"},
        "Queries are made by W^V and values by W^Q.",
        "Keys match, but queries are the reference's values and the averaged values are its queries. A converted checkpoint fails even with one head; with grouped-query attention view fails as the widths differ.",
    ),
    "one-weight-for-all": Mistake(
        "projections",
        {"q_weight": "key", "v_weight": "key"},
        "q, k and v of a token are the same numbers.",
        "q_proj and v_proj never change in training: their grad is None, and DDP demands find_unused_parameters. q, k and v are identical in self-attention, scores are symmetric, and every token looks mostly at itself.",
    ),
    "q-used-for-all": Mistake(
        "projections",
        {"k_weight": "query", "v_weight": "query"},
        "q, k and v of a token are the same numbers.",
        "k_proj and v_proj get no gradient (None) and are unused parameters in DDP; editing them changes nothing. Self-attention has q equal to k equal to v, and a symmetric score matrix with a strong diagonal.",
    ),
    "k-used-for-v": Mistake(
        "projections",
        {"v_weight": "key"},
        "Keys are averaged and not values, and W^V is never read.",
        "v_proj is unused: its grad is None, and random values in it do not change the output. Attention maps are right and outputs wrong, since the value tensor equals the key tensor: a copy and paste error in forward.",
    ),
    "q-used-for-k": Mistake(
        "projections",
        {"k_weight": "query"},
        "A token scores itself highest, since its key is its query.",
        "Scores are symmetric and the diagonal dominates, so each token attends to itself. k_proj gets no gradient and stays at initialisation; values are right and the map is wrong, with equal q and k tensors in self-attention.",
    ),
    "v-used-for-k": Mistake(
        "projections",
        {"k_weight": "value"},
        "Queries are compared with values, and keys are never read.",
        "Maps are wrong in every head although q, k and v all match the reference: one typo, q @ v.transpose. Or k_proj has grad None, or in a converted checkpoint k_proj.weight equals v_proj.weight: the slice of in_proj_weight for k begins where that for v does, at 2 * d and not at d.",
    ),
    "k-used-for-q": Mistake(
        "projections",
        {"q_weight": "key"},
        "A token's query is its key, and W^Q is never read.",
        "q_proj has no gradient (None), and random numbers in it change nothing. Queries equal keys in self-attention: scores are symmetric, and every token looks mostly at itself. Keys and values match the reference: a copy and paste error in forward.",
    ),
    "v-used-for-q": Mistake(
        "projections",
        {"q_weight": "value"},
        "Values are compared with keys, and W^Q is never read.",
        "q_proj has no gradient, or q_proj.weight equals v_proj.weight in a converted checkpoint. Keys and values match the reference, and all maps are wrong.",
    ),
    "q-used-for-v": Mistake(
        "projections",
        {"v_weight": "query"},
        "Queries are averaged and not values, and W^V is never read.",
        "Attention maps match the reference and outputs do not; v_proj gets no gradient. With fused weights cut among devices, most of them hold columns of Q where those of V should be.",
    ),
    "q-not-projected": Mistake(
        "projections",
        {"q_product": "none"},
        "The input itself is compared with the keys, and W^Q is never read.",
        "q_proj.weight grad is None and queries equal the raw input embeddings, cut into heads. Keys and values match the reference, and all attention maps are wrong; an identity q_proj would agree, and other widths crash in view.",
    ),
    "v-not-projected": Mistake(
        "projections",
        {"v_product": "none"},
        "The inputs themselves are averaged, and W^V is never read.",
        "v_proj.weight grad is None and values equal the raw input embeddings, cut into heads. Attention maps match and outputs do not; a vdim different from embed_dim crashes in view. An identity v_proj would agree.",
    ),
    "nothing-projected": Mistake(
        "projections",
        {"q_product": "none", "k_product": "none", "v_product": "none"},
        "Heads are slices of the input itself.",
        "Training the layer never changes its attention map, since q_proj, k_proj and v_proj are all unused (grad None). Heads are raw slices of the embedding, and maps are strongly diagonal; far too few parameters learn.",
    ),
    "input-sliced": Mistake(
        "projections",
        {"q_product": "slices", "k_product": "slices", "v_product": "slices"},
        "Each head reads only its own slice of the input.",
        "Changing the first features of the input affects only head 0. There are far too few parameters: nn.Linear(head_dim, head_dim) has a checkpoint size mismatch, 64×64 versus 512×512. One head is right, and accuracy is lower than the reference's.",
    ),
    "projected-twice": Mistake(
        "projections",
        {"q_product": "twice", "k_product": "twice", "v_product": "twice"},
        "What was projected is projected once more by the same weights.",
        "q equals W applied two times to x: there are external nn.Linear layers plus nn.MultiheadAttention's own in_proj. Parameters are too many or common to both, and small initial values make maps flat; identity weights agree.",
    ),
    "relu-on-projections": Mistake(
        "projections",
        {"relu": True},
        "Negative entries of q, k and v become 0, so no score is negative.",
        "q, k and v contain no negative numbers, and half of them are zero; scores are never below 0, so no key can be repelled. Outputs of heads are all positive: activation='relu' is the default in a Keras layer.",
    ),
    "relu-on-all": Mistake(
        "projections",
        {"relu": True, "relu_on_output": True},
        "Negative entries of q, k, v and of the output become 0.",
        "There are no negative entries anywhere, neither in q, k, v nor in the final output, but many exact zeros and dead units. Scores are all positive, the output's minimum is 0, and the loss is stuck higher than nn.MultiheadAttention's.",
    ),
    "split-without-transpose": Mistake(
        "split into heads",
        {"split": "view"},
        "A head gets some whole tokens and not a slice of each token.",
        "view or reshape raises no error, but outputs differ from nn.MultiheadAttention as soon as there are two heads. Each head sees only a few tokens in scrambled order, and a causal mask still leaks later words.",
    ),
    "values-split-without-transpose": Mistake(
        "split into heads",
        {"split": "view-of-values"},
        "The maps are right, but they average values in the wrong order.",
        "Attention weights match the reference exactly and outputs do not, since the averaged values belong to other tokens. With num_heads=1 or a single token it is right; a later word changes earlier outputs despite the causal mask.",
    ),
    "keys-split-without-transpose": Mistake(
        "split into heads",
        {"split": "view-of-keys"},
        "The values are right, but the maps are made of queries and keys in the wrong order.",
        "Attention maps look shuffled and do not fit the words, though the values are correct. Under a causal mask the first token's output is right and the later ones are wrong; with one head all are right.",
    ),
    "split-interleaved": Mistake(
        "split into heads",
        {"split": "interleaved"},
        "A head takes every h-th feature and not d_k features side by side.",
        "Training from scratch works, but a pretrained checkpoint gives garbage and no head's map matches. Nothing leaks, tokens do not mix and one head agrees: features went to the wrong heads (permute, einops rearrange).",
    ),
    "split-after-transpose": Mistake(
        "split into heads",
        {"split": "after-transpose"},
        "The numbers are cut into heads feature by feature, so tokens are mixed.",
        "view fails with \"size is not compatible with input tensor's size and stride\", so reshape was used. It is wrong even with a single head: each row mixes several tokens' numbers, one feature at a time.",
    ),
    "attends-across-heads": Mistake(
        "split into heads",
        {"split": "across-heads"},
        "The transpose is left out, so a token's heads attend to each other and not to other tokens.",
        "Changing or shuffling other words changes nothing, since a token never sees its neighbours or any context. Attention weights are heads × heads, not seq_len × seq_len, and a mask does not broadcast (\"must match the size of tensor\").",
    ),
    "heads-and-width-exchanged": Mistake(
        "split into heads",
        {"split": "exchanged"},
        "There are d_k heads of width h.",
        "The number of attention maps is wrong, for example 64 in place of 8 heads, and a per-head mask or bias does not broadcast. Without one nothing fails; where num_heads equals head_dim it is right.",
    ),
    "keys-of-reversed-heads": Mistake(
        "split into heads",
        {"split": "keys-reversed"},
        "Query head 0 reads the keys and values of the last head, and so on.",
        "Pretrained weights give wrong maps in all heads but the middle one, as if queries met another head's keys and values (flip). Training from scratch is unaffected, and with one head nothing changes.",
    ),
    "qk-norm-left-out": Mistake(
        "norms of queries and keys",
        {"norms": "none"},
        "Queries and keys are compared as they are projected; their norms are never called.",
        "A Qwen3, Gemma 3 or OLMo 2 checkpoint writes nonsense although all other weights match: q_norm.weight and k_norm.weight are reported as unused, or are modules that forward never calls. Scores are far too large, and the softmax is nearly one-hot.",
    ),
    "qk-norm-after-rotation": Mistake(
        "norms of queries and keys",
        {"norms": "after-rotation"},
        "Queries and keys are rotated first and normed then, so the gains scale rotated entries.",
        "QK norm and RoPE are in the wrong order: the score of the first token with itself is exactly right, and the error grows with the position. With gains of 1 it disappears, so a freshly initialised model shows nothing, and a trained Qwen3 is off.",
    ),
    "qk-norm-of-other-width": Mistake(
        "norms of queries and keys",
        {"norms": "other-width"},
        "The mean of the squares is over all heads where each head has its own, or the other way about.",
        "QK norm over hidden_size in place of head_dim: heads with small queries get smaller scores than they should, and those with large ones larger. With one head it is right; with tensor parallelism the result depends on the number of devices.",
    ),
    "qk-norm-over-tokens": Mistake(
        "norms of queries and keys",
        {"norms": "over-tokens"},
        "Queries and keys are divided by one number for a whole sequence, and not by one for each token.",
        "A token's output changes when other tokens are added to the sequence, even with a causal mask: RMSNorm computes the mean over the dimensions of tokens and features. A sequence of one token is right.",
    ),
    "qk-norm-without-gain": Mistake(
        "norms of queries and keys",
        {"norms": "without-gain"},
        "Queries and keys are divided by their root mean square, and never multiplied by the gains.",
        "The scale parameters of the QK norm get no gradient, or a checkpoint's q_norm.weight is not loaded and stays at ones. A fresh model is right, and a trained one is too even or too sharp: the learned temperature of each head is missing.",
    ),
    "key-heads-tiled": Mistake(
        "shared keys",
        {"sharing": "tiled"},
        "Query heads read key heads 0, 1, 0, 1 and not 0, 0, 1, 1.",
        "A checkpoint with grouped-query attention (GQA), such as Llama or Mistral, generates gibberish, while MHA and one key head for all (MQA) work. Only the first and last query heads have correct maps: repeat, expand or tile versus repeat_interleave.",
    ),
    "value-heads-tiled": Mistake(
        "shared keys",
        {"sharing": "values-tiled"},
        "Keys are repeated in the right order, but values are tiled: 0, 1, 0, 1.",
        "With GQA all attention weights are identical to the reference, but the outputs of every query head except the first and last are wrong. Plain multi-head and multi-query models are right; look for v.repeat.",
    ),
    "first-key-head-for-all": Mistake(
        "shared keys",
        {"sharing": "first"},
        "All query heads read the first head of keys and values.",
        "A grouped-query model behaves as if num_kv_heads were 1: zeroing the other key/value heads changes nothing, and they get no gradient. Query heads of the first group match, and all others are wrong.",
    ),
    "mean-of-key-heads": Mistake(
        "shared keys",
        {"sharing": "mean"},
        "All query heads read the mean of the heads of keys and values.",
        "In a GQA model no head matches and maps look blurred, since every query head has the same keys and values. All KV heads receive the same gradient. With a single KV head it is right.",
    ),
    "keys-repeated-along-sequence": Mistake(
        "shared keys",
        {"sharing": "along-sequence"},
        "Keys and values are repeated along the sequence, so a head's first half of tokens, each twice, is one query head's, and its second half the next one's.",
        "Grouped-query attention (GQA) is wrong although shapes fit: within a group each query head sees other tokens, in pairs of equal weight. Plain multi-head and longer runs of one token's weights hint at repeat_interleave along dim 2 of (b, h_kv, n, d), or dim 1 of (b, n, h_kv, d).",
    ),
    "pairs-and-halves": Mistake(
        "rotary positions",
        {"rotary": "other-pairing"},
        "Entry p is rotated with its neighbour in place of entry p + d_k / 2, or the other way about.",
        "Llama weights generate gibberish with RoPE: interleaved versus rotate_half, Meta versus Hugging Face layout, rope_i. Position 0 is right, scores still depend on relative distance, and vector norms are kept; from scratch it trains well.",
    ),
    "angles-of-other-pairing": Mistake(
        "rotary positions",
        {"rotary": "angles-of-other"},
        "Entries are paired one way and have the angles of the other, so a pair has two angles.",
        "Scores change when all positions shift by the same amount, so RoPE is not relative, and lengths of q and k vary with position. Only position 0 is right: the cos/sin table confuses repeat_interleave and cat.",
    ),
    "not-rotated": Mistake(
        "rotary positions",
        {"rotary": "none"},
        "Queries and keys do not depend on positions.",
        "Word order has no effect: shuffling the tokens only shuffles the outputs (bag of words), and the same word scores alike at any position. RoPE seems ignored, and a checkpoint loses coherence after a few tokens.",
    ),
    "values-rotated": Mistake(
        "rotary positions",
        {"rotary": "values-too"},
        "Values are rotated by their positions, as queries and keys are.",
        "Attention maps match exactly, and outputs do not, apart from what comes from position 0. The same text shifted by some positions (left padding) gives a different output: RoPE is applied to v as well.",
    ),
    "queries-rotated-alone": Mistake(
        "rotary positions",
        {"rotary": "queries-alone"},
        "Scores depend on the query's position and not on the distance.",
        "Scores against the first key are right, and those against all later keys are wrong. Shifting every position changes the map: keys entered the cache without RoPE, so positions are absolute, not relative.",
    ),
    "keys-rotated-alone": Mistake(
        "rotary positions",
        {"rotary": "keys-alone"},
        "Scores depend on the key's position and not on the distance.",
        "Prefill works, but step-by-step decoding with a KV cache derails: only the query at position 0 scores correctly. New queries have no rotary embedding; an offset of the text changes the attention.",
    ),
    "keys-rotated-backwards": Mistake(
        "rotary positions",
        {"rotary": "keys-reversed"},
        "Scores depend on the sum of two positions and not on their distance.",
        "A token's score with itself differs from the plain q·k and drifts along the sequence, and anti-diagonals of the map look constant. Shifting the text changes everything, since the sum of positions counts.",
    ),
    "rotated-backwards": Mistake(
        "rotary positions",
        {"rotary": "reversed"},
        "Every distance counts as its negative, so before becomes after.",
        "A pretrained model confuses previous and next token, left and right: scores one step back and one step ahead are interchanged. The diagonal and position shifts are right: the sign of sin is wrong, and fresh training is unaffected.",
    ),
    "rotated-twice": Mistake(
        "rotary positions",
        {"rotary": "twice"},
        "Every distance counts twice.",
        "The model behaves as if tokens were twice as far apart: the score at distance 2 equals the reference at 4. The diagonal is right and scores are still relative, but context breaks down at half the length: apply_rotary was called two times.",
    ),
    "rotary-exponent-halved": Mistake(
        "rotary positions",
        {"rotary": "half-exponent"},
        "Frequencies are base^(−p / d_k) and not base^(−2p / d_k), so the slow ones are missing.",
        "inv_freq ends near 0.01 rather than 0.0001: the first frequency is right and the rest are too fast. Nearby tokens roughly agree, distant ones go wrong and long contexts degrade: arange has step 1 instead of 2.",
    ),
    "rotary-exponent-odd": Mistake(
        "rotary positions",
        {"rotary": "odd-exponent"},
        "Every frequency is half a step too low, so the first one is not 1.",
        "inv_freq starts at about 0.87 rather than 1.0 for head_dim 64, and all frequencies are slightly too small by one factor. Results are close but not within tolerance, and the error grows with distance.",
    ),
    "rotary-exponent-of-model": Mistake(
        "rotary positions",
        {"rotary": "exponent-of-model"},
        "Frequencies are base^(−2p / d_model), so a head gets only the fastest.",
        "The cos/sin table is built with hidden_size instead of head_dim: \"size of tensor a must match\", or all frequencies stay fast after slicing. One head is right; with many heads long-range attention turns to noise.",
    ),
    "rotated-before-split": Mistake(
        "rotary positions",
        {"rotary": "whole-width"},
        "The whole width is rotated as if it were one head, so each head has other frequencies.",
        "Heads differ in their sense of position: first heads rotate fast, and last heads hardly notice word order. RoPE with one head is right; a cos table of embed_dim is applied before view, and a checkpoint goes wrong.",
    ),
    "rotated-by-head": Mistake(
        "rotary positions",
        {"rotary": "by-head"},
        "All tokens of head i are rotated as if they stood at position i, which changes nothing.",
        "RoPE runs, yet switching it off gives the same output; shuffled words only shuffle the result, as without positions. The cos/sin table is as long as the number of heads, not seq_len: the wrong dimension was indexed.",
    ),
    "first-head-rotated": Mistake(
        "rotary positions",
        {"rotary": "first-head"},
        "All heads but the first do not depend on positions.",
        "Only head 0 cares about word order; the others are permutation invariant, and RoPE leaves their q, k unchanged. One head is correct; maps of heads 1 upward differ from the reference.",
    ),
    "half-of-head-rotated": Mistake(
        "rotary positions",
        {"rotary": "half-of-head"},
        "Only the first d_k / 2 entries of a head are rotated.",
        "The last half of each q and k is identical before and after RoPE: partial rotary, with rotary_pct or rotary_dim wrong. Position 0 is right; the model still knows the order but its text gets worse, and inv_freq is too short.",
    ),
    "queries-one-ahead": Mistake(
        "rotary positions",
        {"rotary": "queries-ahead"},
        "A query is rotated one position further than its own key, so every distance is one too large.",
        "Positions are off by one: with a cache offset the scores equal those of a distance one larger, and even the diagonal differs from plain q·k. Cached decoding deviates slightly from full forward: attention is shifted by one token.",
    ),
    "rotary-base": Mistake(
        "rotary positions",
        {"rotary": "other-base"},
        "The base is 10,000 where another was meant, or 500,000 where 10,000 was.",
        "Short prompts are right, and long context falls apart or repeats itself: rope_theta is 10000 and not 500000 or 1000000 (Llama 3, CodeLlama). The fastest frequency and near tokens agree, and the error grows with distance.",
    ),
    "sine-for-cosine": Mistake(
        "rotary positions",
        {"rotary": "sine-for-cosine"},
        "Entries are rotated by 90° minus the angle.",
        "Even at position 0 q and k change, where RoPE should do nothing; first entries swap halves. Diagonal scores are right, the direction is reversed, and pretrained output is gibberish: cos, sin were unpacked in the wrong order.",
    ),
    "rotary-without-minus": Mistake(
        "rotary positions",
        {"rotary": "without-minus"},
        "It is not a rotation, so lengths change with the position.",
        "The norm of q and k changes with position, as rotation never should: some positions almost vanish, others are 1.4 times too long. Position 0 is right, and scores are not relative: rotate_half lacks its sign.",
    ),
    "row-for-position": Mistake(
        "rotary positions",
        {"rotary": "queries-from-zero"},
        "Row r is rotated as if it stood at position r, wherever its token stands in the text.",
        "The full forward pass is right, and token-by-token generation with a KV cache turns to gibberish or repeats: each new token is rotated as position 0. The RoPE offset or position_ids are ignored, so cached decoding does not match.",
    ),
    "rotated-keys-from-zero": Mistake(
        "rotary positions",
        {"rotary": "keys-from-zero"},
        "Keys are rotated by their place in the cache, and queries by their position in the text.",
        "Generation is right until the cache drops or rolls over its first token, and falls into repetition afterwards: keys are rotated again by their index in the cache, and queries by the absolute position. It also happens with left padding, where padded slots are counted for keys.",
    ),
    "padding-counted": Mistake(
        "rotary positions",
        {"rotary": "padding-counted"},
        "A query's position is its place in the padded row, and keys do not count the padding.",
        "Batched generation with left padding and a KV cache is wrong for the shorter sequences, and right for the longest: position_ids is cache_position, the same for all sequences, in place of attention_mask.cumsum(-1) - 1.",
    ),
    "keys-rotated-twice": Mistake(
        "rotary positions",
        {"rotary": "keys-twice"},
        "Keys go into the cache rotated, and are rotated once more when they are read.",
        "Prefill agrees and decoding with the KV cache does not: RoPE is applied to k at insert time and again to the whole cache. A key counts as if it stood at twice its position, so the error grows with the text.",
    ),
    "cached-keys-rotated-twice": Mistake(
        "rotary positions",
        {"rotary": "cached-keys-twice"},
        "Keys from earlier calls are rotated once more, and those of this call once.",
        "The first call is right and every later one is not: the cache already holds rotated keys, and torch.cat joins them with new ones before RoPE. The query's own key has the right score, and older keys do not.",
    ),
    "unmeant-halves": Mistake(
        "rotary positions",
        {"rotary": "unmeant-halves"},
        "Queries and keys are rotated by their positions, in halves, with base 10,000.",
        "A GPT-2, BERT or ViT port goes wrong from the second token on: it has learned position embeddings plus RoPE. The layer should be permutation equivariant but order matters; entry i mixes with i + head_dim/2.",
    ),
    "unmeant-pairs": Mistake(
        "rotary positions",
        {"rotary": "unmeant-pairs"},
        "Queries and keys are rotated by their positions, in pairs, with base 10,000.",
        "Plain attention without positions differs from nn.MultiheadAttention except for the first token, and swapping two words changes more than their rows. Neighbouring entries 0 and 1, 2 and 3 were mixed: view_as_complex, freqs_cis.",
    ),
    "scores-transposed": Mistake(
        "scores",
        {"similarity": "transposed"},
        "Row i has the scores of key i for every query.",
        "The attention map is mirrored along the diagonal, so who attends to whom is reversed, and rows still sum to 1. Equal lengths run silently; cross-attention fails with a size mismatch or a mask that does not fit: einsum letters in the wrong order.",
    ),
    "keys-reshaped": Mistake(
        "scores",
        {"similarity": "reshaped"},
        "The numbers of k are read as (d_k, n) without being moved, so keys are mixed.",
        "Scores make no sense although the shape is right: k.view or reshape to (head_dim, seq_len). One token is correct; changing one word alters many columns, and future words leak through a causal mask.",
    ),
    "cosine-scores": Mistake(
        "scores",
        {"similarity": "cosine"},
        "Queries and keys are made unit vectors first, so no score is above the scale.",
        "Attention is almost uniform, about 1/n everywhere, and never sharpens: no score exceeds 0.125 at head_dim 64. Multiplying inputs or q_proj by 10 changes no weights, since F.normalize removed the lengths.",
    ),
    "scaled-by-d-model": Mistake(
        "scale",
        {"scale": "root-of-model"},
        "Scores are divided by √d_model, so maps are too flat.",
        "Attention weights are slightly too soft compared with scaled_dot_product_attention, since scores are too small by √num_heads. One head is exact, and more heads are more blurred; there is no error, and pretrained perplexity is a bit worse.",
    ),
    "not-scaled": Mistake(
        "scale",
        {"scale": "none"},
        "Scores are not divided at all, so maps are too sharp.",
        "Attention is nearly one-hot: softmax saturates, gradients vanish, and training is unstable with large head_dim. Scores are 8 times the reference for head_dim 64, and small heads barely show it; division by sqrt(d_k) was forgotten.",
    ),
    "scaled-by-d-k": Mistake(
        "scale",
        {"scale": "width"},
        "The root is missing, or scores are divided by √d_k twice, so maps are too flat.",
        "Weights are too even: scores are 8 times too small at head_dim 64, as q was scaled and scaled_dot_product_attention scales again, or sqrt is missing. The order of the keys is right, and the loss is only a little worse.",
    ),
    "scaled-by-whole-d-model": Mistake(
        "scale",
        {"scale": "model"},
        "Scores are divided by d_model, so maps are nearly even.",
        "Attention is practically uniform: every token gets the average of all values, each weight about 1/n. Scores are hundreds of times too small without sqrt; the layer learns very slowly, and the heads all look the same.",
    ),
    "multiplied-by-root": Mistake(
        "scale",
        {"scale": "multiplied"},
        "Scores are multiplied by √d_k, so each row of a map is nearly a single 1.",
        "Every row of the map is a hard 1 and zeros, with entropy 0; gradients of q and k vanish, and training is stuck, or fp16 overflows to inf or NaN. Scores are 64 times too large at head_dim 64: the exponent has the wrong sign.",
    ),
    "scaled-by-quarter-root": Mistake(
        "scale",
        {"scale": "quarter-root"},
        "Scores are divided by the root of √d_k: q is scaled, and k, which should be scaled too, is not.",
        "Maps are moderately too sharp: scores exceed the reference 2.8 times at head_dim 64, as just one of q and k was multiplied by d_k to the −1/4. The ranking of keys is right, and samples from a checkpoint are worse.",
    ),
    "scaled-by-heads": Mistake(
        "scale",
        {"scale": "root-of-heads"},
        "Scores are divided by √h.",
        "The sharpness of attention depends on num_heads: more heads have flatter maps, and one head is not scaled at all. It is right when num_heads equals head_dim, e.g. 8 and 8: size(1) was used instead of size(-1).",
    ),
    "scaled-by-keys": Mistake(
        "scale",
        {"scale": "root-of-keys"},
        "Scores are divided by the root of the number of keys.",
        "Attention gets flatter the longer the sequence is; extra fully masked padding changes the outputs, and each cached decoding step has another temperature. It is right only when sequence length equals head_dim: a wrong axis in size().",
    ),
    "scaled-after-softmax": Mistake(
        "scale",
        {"scale": "after-softmax"},
        "The weights and not the scores are divided by √d_k, so rows sum to 1 / √d_k.",
        "Rows sum to 0.125 rather than 1 at head_dim 64, so outputs are 8 times too small. The map is too sharp, since the softmax was divided and not the logits.",
    ),
    "usual-scale": Mistake(
        "scale",
        {"scale": "root-of-width"},
        "Scores are divided by √d_k in a layer that was meant to have another scale, or none.",
        "T5, whose scale is 1, has maps that are far too even and writes nonsense, although all weights are loaded; so has a model with a multiplier of its own. Eager code is right, and scaled_dot_product_attention without scale= is not.",
    ),
    "not-capped": Mistake(
        "cap",
        {"cap": "none"},
        "Scores have no bound.",
        "Gemma 2 is mostly right, but sharp rows and long prompts diverge: attention logits go beyond 50. Small scores agree exactly; softcap is ignored by scaled_dot_product_attention or a flash kernel, so logit soft-capping is missing.",
    ),
    "cap-not-multiplied": Mistake(
        "cap",
        {"cap": "without-product"},
        "tanh(s / cap) is not multiplied by the cap, so maps are nearly even.",
        "After soft-capping all logits lie between −1 and 1, so maps are almost uniform: no weight exceeds another by more than 7.4 times. tanh is not multiplied by softcap, and model output is bland and unfocused.",
    ),
    "cap-not-divided": Mistake(
        "cap",
        {"cap": "without-quotient"},
        "cap · tanh(s) is nearly the cap for every score beyond 2, and nearly −cap below −2.",
        "Most logits sit exactly at +50 or -50: several keys tie with identical weights, others get 0, and gradients through tanh vanish. Scores are bounded as intended, yet small ones come out 50 times too large.",
    ),
    "score-for-cap": Mistake(
        "cap",
        {"cap": "score-for-cap"},
        "s · tanh(s / cap) makes negative scores positive and bounds nothing.",
        "There are no negative attention logits: keys pointing the opposite way get as much weight as matching ones. Small scores shrink to nearly 0, large ones still exceed the softcap, and gradients are odd around zero.",
    ),
    "capped-before-scale": Mistake(
        "cap",
        {"cap": "before-scale"},
        "The bare dot products are capped, and what is left is divided by √d_k.",
        "Soft-capped maps are too flat: no logit exceeds cap / sqrt(head_dim), for example 3.1 with 50 / 16. Gemma 2 cannot focus; small scores match the reference, large ones bend too early.",
    ),
    "capped-after-mask": Mistake(
        "cap",
        {"cap": "after-mask"},
        "The cap bends −∞ to −cap, so blocked keys are attended to.",
        "With soft-capping, masked tokens get non-zero attention weight: -inf has become -50, or -1 with a small cap, and future words leak. Without softcap there is no leak; fully masked rows are uniform, never NaN.",
    ),
    "distance-left-out": Mistake(
        "slopes",
        {"slopes": "none"},
        "Nothing is subtracted for distance, so a model with ALiBi has no positions at all.",
        "ALiBi has no effect: reordering earlier words does not change the last token's output, and near and far keys count alike. BLOOM, MPT or Baichuan rambles; attn_mask is None at inference, or the attention kernel ignores alibi_slopes.",
    ),
    "distance-added": Mistake(
        "slopes",
        {"slopes": "opposite"},
        "ALiBi's slope times the distance is added to scores and not subtracted, so far keys gain.",
        "ALiBi works the wrong way round: attention goes to the beginning of the text, the farther a key the larger its weight, and recent words are ignored. Longer text makes it worse; a BLOOM or MPT checkpoint writes nonsense: the sign of the bias is wrong.",
    ),
    "slopes-of-any-power": Mistake(
        "slopes",
        {"slopes": "any-power"},
        "Slopes are 2^(−8i/h) for a number of heads that is no power of 2.",
        "ALiBi agrees for models with 8, 16 or 32 heads, and not for 12, 40 or 112: the slopes are one geometric sequence. Published checkpoints take those of the next lower power of 2, and every other one of the next higher.",
    ),
    "slopes-from-zero": Mistake(
        "slopes",
        {"slopes": "from-zero"},
        "Slopes are 2^(−8i/h) with i from 0 on, so each head has that of the head before it.",
        "ALiBi is too strong in every head by one factor: the first slope is 1 where 1/2 was meant with 8 heads, and the exponent is off by one. Near keys are right, and far keys get too little weight.",
    ),
    "slopes-reversed": Mistake(
        "slopes",
        {"slopes": "reversed"},
        "The first head has the flattest slope and the last the steepest.",
        "With a trained ALiBi checkpoint, heads that should look at the last few tokens see everything, and those that should see everything look at the last few. Trained from scratch, it makes no difference.",
    ),
    "slopes-of-first-half": Mistake(
        "slopes",
        {"slopes": "first-half"},
        "The second half of the heads has the slopes of the first half.",
        "ALiBi is right on one GPU and wrong with tensor parallelism of 2: every rank takes the slopes of heads 0, 1, 2, … in place of those of its own heads. Outputs depend on the number of devices.",
    ),
    "slopes-sorted": Mistake(
        "slopes",
        {"slopes": "sorted"},
        "Where the number of heads is no power of 2, slopes go from the steepest to the flattest.",
        "A model with 12 or 40 heads and ALiBi is wrong, and one with 8 or 16 is right: all slopes are there, and belong to other heads than in the checkpoint, whose second part begins again at a steep one.",
    ),
    "mask-opposite": Mistake(
        "mask",
        {"padding": "opposite", "pairs": "opposite"},
        "True is read as \"may attend\" where it means \"may not\", so only padding is attended to.",
        "Both key_padding_mask and attn_mask act inverted: attention weights go to pad tokens and forbidden pairs, and real words get zero. Sequences without padding become all NaN because every key is -inf.",
    ),
    "padding-opposite": Mistake(
        "mask",
        {"padding": "opposite"},
        "Only padding is attended to, while the other mask is right.",
        "All attention falls on padding tokens and real words get weight 0; full-length sequences without pads give NaN. attn_mask or a causal mask works: a Hugging Face attention_mask was passed as key_padding_mask.",
    ),
    "all-masks-opposite": Mistake(
        "mask",
        {"fill": "opposite"},
        "All masks together are read with the opposite sign, even the causal one.",
        "A causal model sees only future tokens plus padding: the upper triangle of the map is filled, and the lower one is empty. The last query is NaN or perfectly uniform, the first sees everything except itself; the training loss is suspiciously low.",
    ),
    "padding-left-out": Mistake(
        "mask",
        {"padding": "none"},
        "Padding is attended to as if it were words.",
        "Pad tokens change the result: the same sentence gives different output alone and in a padded batch, or with a larger max_length. Batch size 1 and equal lengths are right; PAD has attention weight.",
    ),
    "padding-of-queries": Mistake(
        "mask",
        {"padding": "transposed"},
        "The rows of padded queries are blocked, and padded keys are open.",
        "Rows at padded positions are NaN or uniform, while real tokens still attend to PAD and change when padding is added. The key mask was broadcast along rows instead of columns by a wrong unsqueeze.",
    ),
    "padding-of-first": Mistake(
        "mask",
        {"padding": "first-sequence"},
        "Every sequence is masked like the first one.",
        "Shuffling the batch changes the predictions: every sequence is cut to the length of the first one or attends to its pads. The first sequence, batch size 1 and equal lengths are always right.",
    ),
    "padding-tiled": Mistake(
        "mask",
        {"padding": "tiled", "pairs": "tiled"},
        "Masks are repeated as 0, 1, 0, 1, but the heads of a sequence lie together: 0, 0, 1, 1.",
        "Batch size 1 or one head is right; otherwise sequences get each other's padding in some heads. nn.MultiheadAttention accepts the 3-D attn_mask of batch·num_heads without error, yet some pads have weight.",
    ),
    "padding-repeated": Mistake(
        "mask",
        {"padding": "repeated", "pairs": "repeated"},
        "Masks are repeated as 0, 0, 1, 1, but the sequences of a head lie together: 0, 1, 0, 1.",
        "Heads were concatenated along the batch (tf.concat of tf.split, heads first), and some heads ignore real words or attend to pads of another sentence. repeat_interleave raises no shape error, and batch size 1 works.",
    ),
    "mask-of-first-head": Mistake(
        "mask",
        {"padding": "first-head", "pairs": "first-head"},
        "All heads but the first attend to what is blocked.",
        "Head 0 looks perfectly masked, and the remaining heads attend to padding or to future words. Averaged attention weights are small but not zero on blocked keys; with num_heads=1 everything is correct.",
    ),
    "padding-other-end": Mistake(
        "mask",
        {"padding": "other-end"},
        "As many keys are blocked, but at the sequence's start and not at its end.",
        "Short prompts in a batch give garbage and the longest one is right: first words are ignored and pads attended to. Left and right padding (padding_side) were confused, typically in batched generation.",
    ),
    "padding-one-short": Mistake(
        "mask",
        {"padding": "one-short"},
        "The first padded key, right after the real ones, is attended to as well.",
        "Exactly one pad token per sequence has attention weight, the first PAD after the last word, and the rest have none. Sequences of full length are right. The length mask is off by one, with <= for < on arange.",
    ),
    "masks-joined-by-or": Mistake(
        "mask",
        {"padding": "joined"},
        "A key is open if one of the masks opens it, but all of them should have to.",
        "A causal mask alone works and a padding mask alone works, but both together leak: without padding every future word is visible, with padding only the pads ahead are blocked. Combining masks exchanged | and &, logical_or and logical_and.",
    ),
    "mask-left-out": Mistake(
        "mask",
        {"pairs": "none"},
        "attn_mask changes nothing.",
        "Whatever attn_mask is passed, the output is identical, as if it were ignored: blocked pairs still have weight, packed documents see each other, and a graph or window mask does nothing. key_padding_mask works.",
    ),
    "pairs-opposite": Mistake(
        "mask",
        {"pairs": "opposite"},
        "True is read as \"may attend\" where it means \"may not\", or the other way about.",
        "attn_mask acts inverted: exactly the forbidden pairs get attention. The same boolean mask works in nn.MultiheadAttention but not in scaled_dot_product_attention; a mask that allows everything makes the output NaN. Padding is handled properly.",
    ),
    "mask-transposed": Mistake(
        "mask",
        {"pairs": "transposed"},
        "Rows and columns are exchanged, so a causal mask opens the future and blocks the past.",
        "A custom attn_mask works the wrong way round: if i may see j, then j sees i instead. Symmetric masks are right; cross-attention with different lengths fails to broadcast, or triu stands for tril.",
    ),
    "mask-before-scale": Mistake(
        "mask",
        {"pairs": "before-scale"},
        "What the mask adds is divided by √d_k, as the scores are.",
        "A relative position bias, ALiBi or a float attn_mask has too weak an effect by √d_k, 8 times for head_dim 64. Boolean or -inf masks are right, and so is everything without a bias.",
    ),
    "not-causal": Mistake(
        "mask",
        {"causal": "none"},
        "Every query sees the future.",
        "The training loss falls to almost zero (perplexity near 1), but generation is garbage: the decoder sees future tokens, so it cheats. Changing a later word changes earlier outputs; the map's upper triangle is not empty.",
    ),
    "causal-unmeant": Mistake(
        "mask",
        {"causal": "unmeant"},
        "No query sees the future.",
        "An encoder seems blind to the right context: the attention map is lower-triangular, and a first CLS token attends only to itself and classifies every text the same. Appending words leaves earlier outputs unchanged; BERT scores drop.",
    ),
    "causal-without-itself": Mistake(
        "mask",
        {"causal": "without-itself"},
        "A query sees only what is before it, so the first one sees nothing.",
        "NaN appears in the first position, and then as NaN loss everywhere: row 0 is fully masked. With -1e9 the first token averages all tokens instead. The diagonal of the attention map is zero: a token cannot see itself.",
    ),
    "causal-one-ahead": Mistake(
        "mask",
        {"causal": "one-ahead"},
        "A query sees the next token, which it should predict.",
        "The loss goes near zero quickly but generated text is nonsense: the mask is off by one, and each token sees the very next token, its label. The map has one extra diagonal above; changing word i+1 changes output i.",
    ),
    "causal-future": Mistake(
        "mask",
        {"causal": "future"},
        "A query sees itself and what follows, but nothing before it.",
        "The attention map is upper triangular, with triu and tril mixed up: the last token attends only to itself, and the first sees the entire sequence. Training loss is low and generation useless; earlier words have no effect on later ones.",
    ),
    "causal-corner": Mistake(
        "mask",
        {"causal": "other-corner"},
        "With more keys than queries, the first query sees only the first key; or the mask ends at the last key where it should begin at the first one.",
        "The full forward pass is right, but generation with a KV cache is garbage: a single new query sees only the first key. is_causal with a query length shorter than the key length aligns top-left, not bottom-right.",
    ),
    "window-left-out": Mistake(
        "mask",
        {"window": "none"},
        "Every key before the query is open, however far away it is.",
        "Mistral, Gemma or Phi-3 agrees on short prompts and drifts once the text is longer than sliding_window. The attention map is a full lower triangle instead of a band, and distant tokens keep weight; window_size or layer_types is ignored.",
    ),
    "window-one-too-wide": Mistake(
        "mask",
        {"window": "wider", "pairs": "wider"},
        "A query sees `window` keys besides itself.",
        "The sliding window is off by one: each row of the map has window + 1 non-zero weights, 4097 for 4096. Eager or SDPA and flash attention have a small mismatch, only in texts longer than the window.",
    ),
    "window-one-too-narrow": Mistake(
        "mask",
        {"window": "narrower"},
        "A query sees window − 1 keys, itself among them.",
        "The sliding window masks one token too many: rows have window − 1 non-zero weights, and the farthest key is 0 where the reference attends. Short texts agree; with window 1 nothing is left and the row is NaN.",
    ),
    "window-from-zero": Mistake(
        "mask",
        {"window": "from-zero"},
        "The window is measured as if the first query stood at the first key, whatever the cache holds.",
        "Sliding window attention is right in the prefill, and too wide or missing with a KV cache or a second chunk: token-by-token decoding and one long pass give different results, since the window is built from local row indices in place of absolute positions.",
    ),
    "fill-1e-9": Mistake(
        "mask",
        {"fill": "minus-nano"},
        "Blocked keys have a score of 0, so they are attended to.",
        "The mask seems to do nothing: masked_fill ran, yet masked positions keep non-zero attention weight; scores there print as -1e-09 or -0.0000. Pads change the output, and a decoder still sees later tokens.",
    ),
    "fill-zero": Mistake(
        "mask",
        {"fill": "zero"},
        "Blocked keys have a score of 0, so they are attended to.",
        "Masked scores are exactly 0 but their softmax weight is not, since exp(0) = 1. When other scores are negative, the blocked or padded keys even get the most attention. The scores are multiplied by the mask.",
    ),
    "fill-minus-one": Mistake(
        "mask",
        {"fill": "minus-one"},
        "Blocked keys have a score of −1, so they are attended to.",
        "The mask only dampens: padding or future keys get roughly a third of an ordinary weight rather than none. The leak shrinks when scores are large, and untrained layers show it most clearly. Rows sum to 1.",
    ),
    "fill-1e4": Mistake(
        "mask",
        {"fill": "minus-ten-thousand"},
        "Blocked keys have a score of −10,000, and get weight where all other scores are below that.",
        "It is nearly always identical to -inf; only a few rows with huge scores, below -10000, attend to blocked keys. An unnormalised model has outlier activations, and its float16-safe mask constant mismatches finfo.min.",
    ),
    "fill-large": Mistake(
        "mask",
        {"fill": "large"},
        "Blocked keys get all the weight.",
        "Blocked keys take all the attention, evenly, and real words get 0, with no NaN. Rows with nothing masked, such as the last causal row, are right; fp16 raises \"value cannot be converted to type Half without overflow\".",
    ),
    "blocked-plus-one": Mistake(
        "mask",
        {"fill": "blocked-plus-one"},
        "A mask of 0 and 1 is added to the scores, so blocked keys gain.",
        "A bool mask works, and the same mask cast with .float() does not: padding gets 2.7 times more weight rather than none. A warning mentions mismatched key_padding_mask and attn_mask types; a float mask of 0/1 is added.",
    ),
    "open-plus-one": Mistake(
        "mask",
        {"fill": "open-plus-one"},
        "A mask of 0 and 1 is added to the scores, so open keys gain, and no key is blocked.",
        "A 0/1 attention_mask is added straight to the scores: pads merely lose weight by a factor of 2.7 and are not blocked. Without padding the output is exactly right, because adding 1 everywhere cancels.",
    ),
    "masked-after-softmax": Mistake(
        "mask",
        {"fill": "after-softmax"},
        "Weights of blocked keys become 0, and the others no longer sum to 1.",
        "Attention rows do not sum to 1, and sum to less the more is masked. Outputs shrink with extra padding, first causal tokens are close to zero, and fully masked rows are 0 and never NaN, since nothing is renormalised.",
    ),
    "last-tile-dropped": Mistake(
        "mask",
        {"fill": "last-tile-too"},
        "Keys are read tile by tile, and those of a last tile that is not full are never read.",
        "A kernel is right for 64, 128 or 4096 tokens and wrong for 100: the last tokens have no effect on any other. The number of blocks is n // BLOCK, rounded down; the error grows with the remainder.",
    ),
    "mask-of-first-tile": Mistake(
        "mask",
        {"fill": "first-tile-alone"},
        "Keys are read tile by tile, and all but the first tile are read without the mask.",
        "Short texts are right; beyond 64 or 128 keys, queries see padding or the future, and only there. The branch of the kernel that skips the mask is taken in a tile that the mask goes through.",
    ),
    "softmax-over-queries": Mistake(
        "softmax",
        {"softmax": "over-queries"},
        "Columns sum to 1 in place of rows.",
        "Attention columns sum to 1 and rows do not (dim=-2). Decoding with one query makes every weight 1.0 and the output grows with length; a padded key's column turns NaN. Square maps raise no error.",
    ),
    "softmax-over-heads": Mistake(
        "softmax",
        {"softmax": "over-heads"},
        "At each place of the map, the weights of all heads sum to 1.",
        "Weights summed over heads give 1 and rows do not: softmax has dim=1. With one head all weights are 1.0; masked positions turn NaN with -inf, or 1/num_heads with -1e9: masks fail.",
    ),
    "softmax-over-batch": Mistake(
        "softmax",
        {"softmax": "over-batch"},
        "At each place of the map, the weights of all sequences sum to 1.",
        "The result depends on which other sequences are in the batch; with batch size 1 all attention weights are 1.0. There is an \"Implicit dimension choice for softmax\" warning, or dim=0; causal positions are NaN since they are blocked in every sequence.",
    ),
    "softmax-over-map": Mistake(
        "softmax",
        {"softmax": "over-map"},
        "All entries of a map together sum to 1, so outputs are about n times too small.",
        "The whole attention matrix sums to 1 and rows to about 1/n, so outputs get smaller with longer text. One query is right; one strong row starves all others, and appended tokens change earlier outputs despite causal masking.",
    ),
    "softmax-over-heads-and-keys": Mistake(
        "softmax",
        {"softmax": "over-heads-and-keys"},
        "A query's weights sum to 1 over all heads together, so heads compete.",
        "Rows sum to about 1/num_heads, and only all heads added give 1; one confident head drives the others to zero. The output is too small, and one head is exact: a flatten stands before softmax, as in DETR's box attention.",
    ),
    "no-softmax": Mistake(
        "softmax",
        {"softmax": "none"},
        "The scores themselves are the weights.",
        "Attention weights are negative or larger than 1, and rows do not sum to 1; a -inf mask makes outputs inf or NaN, and -1e9 makes them enormous. Activations explode and loss diverges; the output is linear in the scores.",
    ),
    "softmax-twice": Mistake(
        "softmax",
        {"softmax": "twice"},
        "The weights go through a softmax once more, so maps are nearly even.",
        "Attention is almost uniform and masked keys get weight again, as zeros become exp(0): padding and future leak. Rows sum to 1, and the largest weight is at most 2.7 times the smallest; learning is slow, and maps are never sharp.",
    ),
    "log-softmax": Mistake(
        "softmax",
        {"softmax": "logarithm"},
        "The logarithms of the weights are taken for the weights, and all of them are negative.",
        "All attention weights are negative or 0, and masked ones are -inf, so the output is -inf or NaN with any mask. Without a mask outputs are large and grow with length, and the least matching keys count most.",
    ),
    "softmax-base-two": Mistake(
        "softmax",
        {"softmax": "base-two"},
        "The softmax takes powers of 2 and not of e, so maps are flatter.",
        "Maps are slightly too flat everywhere, as with temperature 1.44: rows sum to 1, the ranking is right, equal scores are exact, and scaled_dot_product_attention differs a little. An exp2 kernel (Triton flash attention) lacks log2(e).",
    ),
    "sigmoid": Mistake(
        "softmax",
        {"softmax": "sigmoid"},
        "Each weight lies between 0 and 1 by itself, and rows do not sum to 1.",
        "Rows do not sum to 1, but to about n/2 in an untrained layer, since each weight is near 0.5. Outputs grow with sequence length and keys do not compete; masks still work, and a single key never has weight 1.",
    ),
    "no-exponential": Mistake(
        "softmax",
        {"softmax": "no-exponential"},
        "Scores are divided by the sum of their row, and no exponential is taken.",
        "Rows sum to 1, yet weights are negative or far above 1, as a sum near 0 blows them up. Outputs explode at some tokens, and the loss has spikes; a -inf mask gives NaN: scores are normalised without exp.",
    ),
    "not-divided-by-sum": Mistake(
        "softmax",
        {"softmax": "not-divided"},
        "The exponentials are the weights, so the largest weight of each row is 1.",
        "Rows do not sum to 1: the best key always has weight exactly 1.0, and the others add up to anything. Outputs are too large and grow with sequence length: exp(scores - max) without the division, though maps look right when plotted.",
    ),
    "softmax-plus-one": Mistake(
        "softmax",
        {"softmax": "plus-one"},
        "The sum has the exponential of a score of 0 in it that no key has, so rows sum to less than 1.",
        "Rows sum to less than 1, least where all scores are low, and outputs are a little too small. Pretrained weights of an ordinary layer lose quality without any error: softmax1, \"quiet attention\", add_zero_attn or a sink is on where none was meant.",
    ),
    "one-added-after-maximum": Mistake(
        "softmax",
        {"softmax": "plus-one-late"},
        "The 1 is worth as much as the largest score, so a row never sums to more than n / (n + 1).",
        "Each row sums to between 1/2 and n / (n + 1) however sharp it is, and a single key has weight exactly 0.5. The 1 should have become exp(-max) when the maximum was subtracted.",
    ),
    "tile-filled-with-zeros": Mistake(
        "softmax",
        {"softmax": "zero-filled"},
        "Keys are read tile by tile, and rows of zeros that fill the last tile count with a score of 0.",
        "A kernel is right where n is a multiple of 16, 64 or 128, and otherwise outputs are too small and rows sum to less than 1, the less the more rows the last tile lacks. Padding is filled with zeros and its scores are not set to -inf.",
    ),
    "running-sum-not-rescaled": Mistake(
        "softmax",
        {"softmax": "sum-not-rescaled"},
        "Where a later tile has a larger score, the sum of the tiles before it stays as it was.",
        "Rows with the largest score in a late tile come out too small; short texts, and rows that attend to the beginning, are exact. In the loop l = l + p.sum() lacks alpha, the output has it.",
    ),
    "running-output-not-rescaled": Mistake(
        "softmax",
        {"softmax": "output-not-rescaled"},
        "Where a later tile has a larger score, the output of the tiles before it stays as it was.",
        "Rows with the largest score in a late tile come out too large, and keys of early tiles count too much in them; short texts are exact. In the loop o = o + p @ v lacks alpha, the sum has it.",
    ),
    "running-output-divided": Mistake(
        "softmax",
        {"softmax": "output-divided"},
        "Where a later tile has a larger score, the output so far is divided by the factor that it should be multiplied by.",
        "Own FlashAttention-2 code after the paper's Algorithm 1 is wrong, and worse the later the largest score comes: outputs are too large, up to inf. With one block it is exact.",
    ),
    "dropout-in-evaluation": Mistake(
        "softmax",
        {"softmax": "dropped"},
        "Some weights are 0, and the others are divided by 1 − p, as in training.",
        "Two runs on the same input differ although the model is in eval mode, and rows of the map do not sum to 1: they have zeros, and weights above 1. scaled_dot_product_attention drops whenever dropout_p is above 0.",
    ),
    "sink-left-out": Mistake(
        "softmax",
        {"sinks": "none"},
        "The softmax is over keys alone, without the score that each head has beside them.",
        "GPT-OSS or MiMo loads with unused `sinks` parameters and writes worse text: rows of weights sum to 1 where they should sum to less, and heads that should rest look at the first token. The attention kernel ignores sinks.",
    ),
    "sinks-twice": Mistake(
        "softmax",
        {"sinks": "twice"},
        "A head's sink is in the sum of the softmax twice.",
        "Outputs shrink where a head's sink is large: each of two parts of the keys (split-KV, flash decoding) adds the sink to its own sum, and both stay in what is combined. One part, and short texts, are right.",
    ),
    "sinks-scaled": Mistake(
        "softmax",
        {"sinks": "scaled"},
        "The sink is beside the scores before they are divided by √d_k, and is divided with them.",
        "Sinks are too weak: exp(sink / sqrt(d_k)) is near 1 for every head, so heads with a large sink put out too much. The kernel multiplies the sink logit by softmax_scale.",
    ),
    "last-key-dropped-for-sink": Mistake(
        "softmax",
        {"sinks": "last-dropped"},
        "The sink stands in front of the keys, and the last column is dropped in place of the first.",
        "Each value gets the weight of the key before it, and the first value that of the sink: the attention map is shifted by one key. torch.cat has the sink first, and the slice is that for a sink at the end.",
    ),
    "attn-transposed": Mistake(
        "values",
        {"values": "transposed"},
        "Values are averaged with a column of the map and not with a row.",
        "Plotted maps are right and rows sum to 1, yet the output is wrong: under a causal mask tokens get only later values, and the last just its own. Unequal lengths crash; check the einsum indices of attn @ v.",
    ),
    "values-not-averaged": Mistake(
        "values",
        {"values": "unweighted"},
        "Each token gets its own value, and no token reads another.",
        "The output for a token never depends on other tokens: context is ignored, and masks and order have no effect, without any leak. q_proj and k_proj get no gradient although maps look right: attn is unused, and only v is merged.",
    ),
    "columns-never-written": Mistake(
        "values",
        {"values": "first-tile"},
        "Each head's last columns stay 0: those beyond the width of a tile.",
        "A kernel is right for head_dim 32 or 64 and wrong above: before W^O, exactly the last columns of each head are zeros. Half of the output is missing, and so are the gradients of W^V's columns.",
    ),
    "merged-without-transpose": Mistake(
        "merge of heads",
        {"merge": "view"},
        "A token's row is filled with rows of one head, so tokens are mixed.",
        "Attention maps are right, but the output is scrambled: first rows contain only head 0. view raises no error. Later tokens leak into earlier outputs despite the causal mask; one head or one token is right.",
    ),
    "merged-interleaved": Mistake(
        "merge of heads",
        {"merge": "interleaved"},
        "The features of the heads alternate, but one head should stand beside the next.",
        "All maps and head outputs agree, but a pretrained checkpoint gives wrong results after concatenation: features are in the wrong order, and heads alternate column by column (permute or rearrange). Training from scratch works, and nothing leaks.",
    ),
    "merged-by-wrong-axes": Mistake(
        "merge of heads",
        {"merge": "wrong-axes"},
        "Tokens and features are exchanged in each head before the heads are merged.",
        "The output is scrambled even with one head, though attention weights and context per head are right; only a sequence of a single token is correct. Features of different tokens mix and future words leak: transpose(2, 3).",
    ),
    "merged-over-batch": Mistake(
        "merge of heads",
        {"merge": "heads-before-batch"},
        "Matrices of (batch, heads) are read as (heads, batch), so sequences are mixed.",
        "Batch size 1 is right; with more sequences a sentence's output contains heads of other sentences, and batch order matters. Maps are all correct; view or rearrange confuses (h b) and (b h).",
    ),
    "heads-reversed": Mistake(
        "merge of heads",
        {"merge": "reversed"},
        "The last head stands where the first should.",
        "Each head matches the reference, and only the concatenated vector is in reverse order by blocks of head_dim. Loaded weights give wrong output, newly trained ones are right; with one head there is no difference.",
    ),
    "heads-averaged": Mistake(
        "merge of heads",
        {"merge": "mean"},
        "The place of every head holds the mean of all heads.",
        "The concatenation repeats one block: all head slices are equal, because of torch.mean over heads. More heads do not help, specialised heads blur together, and all get the same gradient; num_heads=1 is right.",
    ),
    "first-head-for-all": Mistake(
        "merge of heads",
        {"merge": "first"},
        "The first head is repeated in the places of the others.",
        "Only head 0 matters: masking or pruning others changes nothing, and their weights get zero gradient. Every head_dim block of the concat is the same copy; a single head is correct.",
    ),
    "output-not-transposed": Mistake(
        "W^O",
        {"output_product": "transposed"},
        "W^O is multiplied as it is stored, concat W in place of concat Wᵀ.",
        "Everything up to the concatenated heads matches, and the final output does not: concat @ weight versus nn.Linear. Shapes clash when embed_dim is not num_heads times head_dim; an identity or symmetric out_proj hides it.",
    ),
    "output-left-out": Mistake(
        "W^O",
        {"output_product": "none"},
        "The heads stand side by side, and nothing mixes them.",
        "out_proj.weight has grad None or is an unexpected key in the state_dict. Changing or removing one head alters only its own slice of output columns: heads never mix, and the output equals the concat.",
    ),
    "output-twice": Mistake(
        "W^O",
        {"output_product": "twice"},
        "The output is projected by W^O once more.",
        "The output matches neither concat nor reference, and applying out_proj to the expected output reproduces it. Maps and heads are right, and an identity W^O hides it; its bias reaches the output twice, once projected.",
    ),
    "first-block-for-all": Mistake(
        "W^O",
        {"output_product": "first-block"},
        "The heads are summed, and the sum is multiplied by the first d_k rows of W^O.",
        "Reordering the heads does not change the output. Only the first head_dim rows of W^O get a gradient, and the others never train; one head is right, and every head's map is correct.",
    ),
    "output-bias-left-out": Mistake(
        "W^O",
        {"output_bias": 0},
        "Every output lacks the same constant vector.",
        "The output differs from the reference by one constant vector, the same for every token and sequence, equal to out_proj.bias. A freshly initialised layer agrees (bias zero), and a trained checkpoint does not.",
    ),
    "output-bias-twice": Mistake(
        "W^O",
        {"output_bias": 2},
        "W^O's bias is added twice.",
        "There is a constant offset: output minus reference is exactly out_proj.bias at every position, one bias too many. There is no difference before training or with bias=False; heads, maps and concat are right.",
    ),
    "output-bias-per-head": Mistake(
        "W^O",
        {"output_bias": "per-head"},
        "W^O's bias is added for each head, so the output has it h times.",
        "There is a constant offset that grows with the number of heads: output minus reference is (h − 1) times the output bias for every token. With num_heads=1 or zero bias it is exact: F.linear stands in a loop over heads.",
    ),
    "relu-on-output": Mistake(
        "W^O",
        {"relu_on_output": True},
        "Negative entries of the output become 0.",
        "The output has no negative numbers: its minimum is 0 and about half of the entries are exactly zero. Positive entries agree with the reference; the residual stream only grows, and some units are dead.",
    ),
    "residual-inside": Mistake(
        "what is added",
        {"addition": "residual"},
        "The layer adds its input, and so does the block around it.",
        "Output minus reference is exactly the input x; with W^O zeroed the layer still returns it. The skip connection is applied twice, so activations grow by a factor with every layer.",
    ),
    "residual-of-value": Mistake(
        "what is added",
        {"addition": "residual-of-value"},
        "The value's input is added, which in cross-attention is the other sequence.",
        "A self-attention block works, and cross-attention does not: encoder tokens are added onto decoder positions. With different source and target lengths the addition says \"size of tensor a must match the size of tensor b\".",
    ),
    "projected-query-added": Mistake(
        "what is added",
        {"addition": "projected-query"},
        "The residual connection starts after W^Q and not before it.",
        "The skip connection does not carry the original input: with zeroed out_proj the layer returns the projected queries, not x. A deep stack trains badly, gradients fade, and information of the embedding is lost.",
    ),
    "norm-inside": Mistake(
        "what is added",
        {"addition": "norm"},
        "Rows get mean 0 and variance 1 from a layer norm without weights of its own.",
        "Each output row has mean 0 and standard deviation 1, whatever the weights. Scaling values by 10 changes nothing; each row is the reference, shifted and scaled: there is a LayerNorm too many.",
    ),
    "residual-and-norm-inside": Mistake(
        "what is added",
        {"addition": "residual-then-norm"},
        "The layer does what the block around it does: it adds the input and applies a layer norm.",
        "Output rows have mean 0, variance 1 and resemble the input: with W^O zero the output is the LayerNorm of x. Add & norm happens twice, in the module and in the block.",
    ),
    "padding-zeroed": Mistake(
        "what is added",
        {"addition": "zero-padding"},
        "The outputs of padded tokens are set to 0.",
        "Only rows at padded positions differ from nn.MultiheadAttention: they are exactly 0 where the reference has numbers. All real tokens agree, and without padding there is no difference; allclose fails or mean pooling changes.",
    ),
}
# The end of what is made of the bank.


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BrokenPipeError:  # `| head` has what it wanted
        os._exit(0)

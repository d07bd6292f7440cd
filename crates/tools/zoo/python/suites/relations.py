"""Five relations between outputs, and no expected number."""

import torch

MASK = torch.ones(7, 7, dtype=torch.bool).triu(1)


def layer_and_tokens(make_layer):
    torch.manual_seed(5)
    return make_layer(32, 4).eval(), torch.randn(2, 7, 32), torch.randn(2, 7, 32)


def test_the_future_is_not_seen(make_layer):
    layer, x, other = layer_and_tokens(make_layer)
    y = torch.cat((x[:, :4], other[:, 4:]), 1)
    before, after = (layer(it, it, it, attn_mask=MASK)[0][:, :4] for it in (x, y))
    assert torch.allclose(before, after, atol=1e-5)


def test_the_past_is_seen(make_layer):
    layer, x, other = layer_and_tokens(make_layer)
    y = torch.cat((other[:, :1], x[:, 1:]), 1)
    before, after = (layer(it, it, it, attn_mask=MASK)[0][:, 3] for it in (x, y))
    assert not torch.allclose(before, after, atol=1e-5)


def test_two_tokens_exchanged(make_layer):
    layer, x, _ = layer_and_tokens(make_layer)
    y = x[:, [1, 0, 2, 3, 4, 5, 6]]
    assert torch.allclose(layer(x, x, x)[0][:, 2:], layer(y, y, y)[0][:, 2:], atol=1e-5)


def test_a_sequence_alone(make_layer):
    layer, x, _ = layer_and_tokens(make_layer)
    assert torch.allclose(layer(x, x, x)[0][:1], layer(x[:1], x[:1], x[:1])[0], atol=1e-5)


def test_equal_tokens(make_layer):
    layer, x, _ = layer_and_tokens(make_layer)
    x = x[:, :1].expand(-1, 7, -1)
    output = layer(x, x, x)[0]
    assert torch.allclose(output, output[:, :1].expand(-1, 7, -1), atol=1e-5)

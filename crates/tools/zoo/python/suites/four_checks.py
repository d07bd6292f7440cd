"""Four checks: the shape, the same under a seed, heads change something, a mask does."""

import torch


def layer(make_layer, heads, seed):
    torch.manual_seed(seed)
    return make_layer(32, heads).eval()


def tokens(seed):
    torch.manual_seed(seed)
    return torch.randn(2, 7, 32)


def test_shape(make_layer):
    x = tokens(0)
    assert layer(make_layer, 4, 1)(x, x, x)[0].shape == x.shape


def test_same_under_a_seed(make_layer):
    x = tokens(0)
    first, second = (layer(make_layer, 4, 123)(x, x, x)[0] for _ in range(2))
    assert torch.allclose(first, second, atol=1e-6)


def test_heads_change_something(make_layer):
    x = tokens(3)
    one, eight = (layer(make_layer, heads, 7)(x, x, x)[0] for heads in (1, 8))
    assert not torch.allclose(one, eight, atol=1e-5)


def test_a_mask_changes_something(make_layer):
    x = tokens(4)
    mask = torch.ones(7, 7, dtype=torch.bool).triu(1)
    own = layer(make_layer, 4, 11)
    assert not torch.allclose(own(x, x, x)[0], own(x, x, x, attn_mask=mask)[0], atol=1e-5)

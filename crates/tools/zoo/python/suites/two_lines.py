"""The tests of two lines on the pages of questions: the last token replaced, two exchanged."""

import torch


# ANCHOR: last
def test_the_last_token_replaced(make_layer):
    torch.manual_seed(0)
    layer, x = make_layer(32, 4, causal=True).eval(), torch.randn(2, 7, 32)
    y = torch.cat((x[:, :-1], torch.randn(2, 1, 32)), 1)
    assert torch.allclose(layer(y, y, y)[0][:, :-1], layer(x, x, x)[0][:, :-1], atol=1e-6)
# ANCHOR_END: last


def test_first_and_last_of_five_exchanged(make_layer):
    torch.manual_seed(0)
    layer, x = make_layer(32, 4).eval(), torch.randn(2, 5, 32)
    y = x[:, [4, 1, 2, 3, 0]]
    assert (layer(y, y, y)[0] - layer(x, x, x)[0])[:, 1:4].abs().max() < 1e-5

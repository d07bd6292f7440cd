"""Values next to nn.MultiheadAttention: self-attention of a new layer, without a mask."""

import torch
from torch import nn


def test_values(make_layer):
    torch.manual_seed(0)
    reference = nn.MultiheadAttention(32, 4, batch_first=True).eval()
    layer = make_layer(32, 4).eval()
    layer.load_state_dict(reference.state_dict())
    x = torch.randn(2, 7, 32)
    assert torch.allclose(layer(x, x, x)[0], reference(x, x, x)[0], atol=1e-5)

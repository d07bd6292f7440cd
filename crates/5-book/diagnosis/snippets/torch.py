# What an nn.MultiheadAttention computes, into a file: put this behind the line that makes `mha`.
from safetensors.torch import save_file


def keep(mha, args, kwargs, result, path="layer.safetensors"):
    names = ["query", "key", "value", "key_padding_mask", "need_weights", "attn_mask"]
    given = {k: t.contiguous() for k, t in {**dict(zip(names, args)), **kwargs}.items() if hasattr(t, "shape")}
    meta = {"heads": str(mha.num_heads), "layout": "batch, n, d" if mha.batch_first else "n, batch, d"}
    save_file({k: t.detach().clone() for k, t in {**mha.state_dict(), **given, "output": result[0].contiguous()}.items()}, path, meta)


mha.register_forward_hook(keep, with_kwargs=True)

# What a Flax layer or a function of your own computes, into a file.
import jax
import numpy as np
from safetensors.numpy import save_file

flat = {".".join(k.key for k in path): w for path, w in jax.tree_util.tree_leaves_with_path(params)}
seen = {**flat, "query": query, "output": output}  # and "attn", "scores", … if you have them
save_file({name: np.ascontiguousarray(x) for name, x in seen.items()}, "layer.safetensors", {"heads": str(heads)})

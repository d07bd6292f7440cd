# What a module of your own computes, into a file: four lines at the end of its forward.
from safetensors.torch import save_file

# In forward, just before the return; leave out what your code has no name for. A mask may come as
# "key_padding_mask" (batch, n_kv), true for padding; as "attention_mask" (batch, n_kv), 1 for a token; or
# as "attn_mask" (n_q, n_kv), true where a query may not attend, or floats that are added to the scores.
seen = {"query": query, "key": key, "value": value, "key_padding_mask": mask, "q": q, "scores": scores, "attn": attn, "output": output}
seen = {name: tensor.detach().clone().contiguous() for name, tensor in {**self.state_dict(), **seen}.items() if tensor is not None}
save_file(seen, "layer.safetensors", {"heads": str(self.heads)})

# What a module of your own computes, into a file: four lines at the end of its forward.
from safetensors.torch import save_file

# In forward, just before the return; leave out what your code has no name for.
seen = {"query": query, "key": key, "value": value, "q": q, "scores": scores, "attn": attn, "output": output}
seen = {name: tensor.detach().clone().contiguous() for name, tensor in {**self.state_dict(), **seen}.items()}
save_file(seen, "layer.safetensors", {"heads": str(self.heads)})

import jax, jax.numpy as jnp
keys = jax.random.split(jax.random.PRNGKey(0), 5)
heads = 3
names = ['query', 'key', 'value', 'out']
params = {n: {'kernel': jax.random.normal(k, (12, 12)) / 4} for n, k in zip(names, keys)}
query = jax.random.normal(keys[4], (2, 5, 12))
split = lambda n: (query @ params[n]['kernel']).reshape(2, 5, 3, 4).swapaxes(1, 2)
q, k, v = split('query'), split('key'), split('value')
attn = jax.nn.softmax(q @ k.swapaxes(-2, -1) / 2)
output = (attn @ v).swapaxes(1, 2).reshape(2, 5, 12) @ params['out']['kernel']

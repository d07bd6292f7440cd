//! The lines to paste, run where their framework is there.

use std::process::Command;

use diagnosis::{Overrides, Reading, Verdict, diagnose, read, snippets};
use tensors::TensorFile;

/// What a program with these lines in it writes; nothing where a package that it needs is not
/// there.
fn written(packages: &str, before: &str, snippet: &str, after: &str) -> Option<Reading> {
    let folder = tempfile::tempdir().unwrap();
    let python = |program: &str| {
        let mut python = Command::new("python3");
        python.current_dir(folder.path()).args(["-c", program]).output()
    };
    let has = python(&format!("import {packages}"));
    if !has.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: no {packages}");
        return None;
    }
    let output = python(&format!("{before}\n{snippet}\n{after}")).expect("Python runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let file = TensorFile::open(folder.path().join("layer.safetensors")).unwrap();
    Some(read(&[&file], &Overrides::default()).unwrap())
}

fn expect(reading: Option<Reading>, verdict: Verdict) {
    let Some(reading) = reading else { return };
    let diagnosis = diagnose(&reading.record, &reading.intent).unwrap();
    assert_eq!(diagnosis.verdict, verdict, "{:?}", diagnosis.explanations);
}

#[test]
fn pytorchs_own_layer_is_right() {
    let before = "import torch\ntorch.manual_seed(0)\n\
                  mha = torch.nn.MultiheadAttention(12, 3, batch_first=True)";
    let after = "x = torch.randn(2, 5, 12)\nmha(x, x, x)";
    let reading = written("torch, safetensors", before, snippets::TORCH, after);
    expect(reading, Verdict::Right);
}

const MODULE: &str = "
import torch
torch.manual_seed(0)
class Attention(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = 3
        for name in ['W_q', 'W_k', 'W_v', 'W_o']:
            setattr(self, name, torch.nn.Linear(12, 12))
self = Attention()
query = key = value = torch.randn(2, 5, 12)
q, k, v = self.W_q(query), self.W_k(key), self.W_v(value)
split = lambda t: t.view(2, 5, 3, 4).transpose(1, 2)
scores = split(q) @ split(k).transpose(-2, -1) / 2
mask = MASK
attn = (scores if mask is None else scores.masked_fill(mask[:, None, None], -torch.inf)).softmax(dim=SOFTMAX)
output = self.W_o((attn @ split(v)).transpose(1, 2).reshape(2, 5, 12))
";

#[test]
fn a_module_of_ones_own_is_right_or_not() {
    let mask = "torch.tensor([[False] * 5, [False] * 3 + [True] * 2])";
    for (dim, mask, verdict) in [
        ("-1", "None", Verdict::Right),
        ("-1", mask, Verdict::Right),
        ("-2", "None", Verdict::Mistake),
    ] {
        let before = MODULE.replace("SOFTMAX", dim).replace("MASK", mask);
        let reading = written("torch, safetensors", &before, snippets::MODULE, "");
        let has_mask = reading.as_ref().is_some_and(|it| !it.record.masks.is_empty());
        assert!(reading.is_none() || has_mask == (mask != "None"));
        expect(reading, verdict);
    }
}

#[test]
fn jax_is_right() {
    let before = "
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
";
    let reading = written("jax, safetensors", before, snippets::JAX, "");
    expect(reading, Verdict::Right);
}

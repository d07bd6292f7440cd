//! A model as a folder that others open: GPT-2's settings, its names, and a tokenizer of
//! letters.

use std::fs;
use std::path::{Path, PathBuf};

use attention::Matrix;
use serde_json::{Value, json};
use tensors::{Error, Existing, NewTensor, Result, TensorFile, save};

use crate::parts::{PARTS, cut};
use crate::scalars::{D_MODEL, N_HEADS, N_LETTERS, N_POSITIONS};

/// What GPT-2 calls its tensors, and the parts that each holds side by side: it keeps queries,
/// keys and values in one.
const NAMES: [(&str, &[usize]); 16] = [
    ("wte.weight", &[0]),
    ("wpe.weight", &[1]),
    ("h.0.ln_1.weight", &[2]),
    ("h.0.ln_1.bias", &[3]),
    ("h.0.attn.c_attn.weight", &[4, 6, 8]),
    ("h.0.attn.c_attn.bias", &[5, 7, 9]),
    ("h.0.attn.c_proj.weight", &[10]),
    ("h.0.attn.c_proj.bias", &[11]),
    ("h.0.ln_2.weight", &[12]),
    ("h.0.ln_2.bias", &[13]),
    ("h.0.mlp.c_fc.weight", &[14]),
    ("h.0.mlp.c_fc.bias", &[15]),
    ("h.0.mlp.c_proj.weight", &[16]),
    ("h.0.mlp.c_proj.bias", &[17]),
    ("ln_f.weight", &[18]),
    ("ln_f.bias", &[19]),
];

/// The list of parameters from a file of GPT-2, whose names begin with this.
///
/// # Errors
/// A tensor that is missing, or of another shape.
pub fn read(file: &TensorFile, prefix: &str) -> Result<Vec<f64>> {
    let mut parts: [Vec<f64>; 20] = Default::default();
    for (name, held) in NAMES {
        let name = format!("{prefix}{name}");
        let tensor = file.tensor(&name)?;
        let ((rows, columns), n_held) = (PARTS[held[0]].shape, held.len());
        match rows {
            1 => tensor.expect_shape(&[columns * n_held])?,
            _ => tensor.expect_shape(&[rows, columns * n_held])?,
        }
        for (nth, run) in tensor.numbers()?.chunks(columns).enumerate() {
            parts[held[nth % n_held]].extend(run);
        }
    }
    Ok(parts.concat())
}

/// Writes `model.safetensors`, `config.json` and a tokenizer's two files into a folder, which is made
/// if it is not there. The parameters are kept in f32, as models are.
///
/// # Errors
/// A file that cannot be written.
pub fn write(folder: &Path, parameters: &[f64]) -> Result<()> {
    let parts = cut(parameters);
    let mut tensors = Vec::new();
    for (name, held) in NAMES {
        let ((rows, columns), n_held) = (PARTS[held[0]].shape, held.len());
        let entry = |r: usize, c: usize| {
            parts[held[c / columns]][r * columns + c % columns] as f32
        };
        let matrix = Matrix::from_fn(rows, columns * n_held, entry);
        let shape = [rows, columns * n_held];
        let shape = if rows == 1 { &shape[1..] } else { &shape[..] };
        tensors.push(NewTensor::new(format!("transformer.{name}"), shape, [&matrix])?);
    }
    let unwritten = |path: PathBuf| move |source| Error::Write { path, source };
    fs::create_dir_all(folder).map_err(unwritten(folder.to_owned()))?;
    save(&folder.join("model.safetensors"), &tensors, Existing::Replace)?;
    let files = [
        ("config.json", config()),
        ("tokenizer.json", tokenizer()),
        ("tokenizer_config.json", tokenizer_config()),
    ];
    for (name, value) in files {
        let path = folder.join(name);
        fs::write(&path, format!("{value:#}\n")).map_err(unwritten(path))?;
    }
    Ok(())
}

fn config() -> Value {
    json!({
        "model_type": "gpt2",
        "architectures": ["GPT2LMHeadModel"],
        "activation_function": "gelu_new",
        "vocab_size": N_LETTERS,
        "n_positions": N_POSITIONS,
        "n_embd": D_MODEL,
        "n_layer": 1,
        "n_head": N_HEADS,
        "layer_norm_epsilon": 1e-5,
        "tie_word_embeddings": true,
        "bos_token_id": 0,
        "eos_token_id": 0,
    })
}

/// Each letter is a token, and a name begins behind the end of the one before.
fn tokenizer() -> Value {
    let letter = |id: usize| char::from(b'a' + id as u8 - 1).to_string();
    let letters = (1..N_LETTERS).map(|id| (letter(id), json!(id)));
    let vocabulary: serde_json::Map<_, _> =
        [(END.to_owned(), json!(0))].into_iter().chain(letters).collect();
    let end = json!({
        "id": 0, "content": END, "special": true, "single_word": false, "lstrip": false,
        "rstrip": false, "normalized": false,
    });
    json!({
        "version": "1.0",
        "truncation": null,
        "padding": null,
        "added_tokens": [end],
        "normalizer": { "type": "Lowercase" },
        "pre_tokenizer": { "type": "Split", "pattern": { "Regex": "" }, "behavior": "Isolated", "invert": false },
        "post_processor": null,
        "decoder": { "type": "Fuse" },
        "model": { "type": "WordLevel", "vocab": vocabulary, "unk_token": END },
    })
}

/// The tokenizer is no GPT-2's, which has parts of words.
fn tokenizer_config() -> Value {
    json!({
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": END,
        "eos_token": END,
    })
}

/// The end of a name as a tokenizer writes it.
const END: &str = "<end>";

//! A model as a folder that others open: GPT-2's settings, its names, and a tokenizer of
//! letters.

use std::fs;
use std::path::{Path, PathBuf};

use attention::Matrix;
use serde_json::{Value, json};
use tensors::{Error, Existing, NewTensor, Result, TensorFile, save};

use crate::Architecture;
use crate::scalars::N_LETTERS;

/// What GPT-2 calls the tensors of a block, and the parts of the block that each holds side by
/// side: it keeps queries, keys and values in one.
const OF_BLOCK: [(&str, &[usize]); 6] = [
    ("ln_1", &[0]),
    ("attn.c_attn", &[2, 4, 6]),
    ("attn.c_proj", &[8]),
    ("ln_2", &[10]),
    ("mlp.c_fc", &[12]),
    ("mlp.c_proj", &[14]),
];

/// Every tensor by its name, and the places of what it holds in the list of parts: each weight
/// has its bias behind it.
fn tensors(architecture: Architecture) -> Vec<(String, Vec<usize>)> {
    let table = |name: &str, place| (format!("{name}.weight"), vec![place]);
    let mut tensors = vec![table("wte", 0), table("wpe", 1)];
    let mut add = |name: String, b: usize, parts: &[usize]| {
        for (nth, kind) in ["weight", "bias"].into_iter().enumerate() {
            let held = parts.iter().map(|part| architecture.first_of(b) + part + nth);
            tensors.push((format!("{name}.{kind}"), held.collect()));
        }
    };
    for b in 0..architecture.n_blocks {
        OF_BLOCK.iter().for_each(|(name, held)| add(format!("h.{b}.{name}"), b, held));
    }
    add("ln_f".to_owned(), architecture.n_blocks, &[0]);
    tensors
}

/// The list of parameters from a file of GPT-2, whose names begin with this.
///
/// # Errors
/// A tensor that is missing, or of another shape.
pub fn read(sizes: Architecture, file: &TensorFile, prefix: &str) -> Result<Vec<f64>> {
    let parts = sizes.parts();
    let mut lists = vec![Vec::new(); parts.len()];
    for (name, held) in tensors(sizes) {
        let name = format!("{prefix}{name}");
        let tensor = file.tensor(&name)?;
        let ((rows, columns), n_held) = (parts[held[0]].shape, held.len());
        match rows {
            1 => tensor.expect_shape(&[columns * n_held])?,
            _ => tensor.expect_shape(&[rows, columns * n_held])?,
        }
        for (nth, run) in tensor.numbers()?.chunks(columns).enumerate() {
            lists[held[nth % n_held]].extend(run);
        }
    }
    Ok(lists.concat())
}

/// Writes `model.safetensors`, `config.json` and a tokenizer's two files into a folder, which is made
/// if it is not there. The parameters are kept in f32, as models are.
///
/// # Errors
/// A list of parameters of another length, and a file that cannot be written.
pub fn write(folder: &Path, sizes: Architecture, parameters: &[f64]) -> Result<()> {
    let file = folder.display().to_string();
    sizes.check(parameters).map_err(|source| Error::Sizes { file, source })?;
    let (parts, lists) = (sizes.parts(), sizes.cut(parameters));
    let mut of_file = Vec::new();
    for (name, held) in tensors(sizes) {
        let ((rows, columns), n_held) = (parts[held[0]].shape, held.len());
        let entry = |r: usize, c: usize| {
            lists[held[c / columns]][r * columns + c % columns] as f32
        };
        let matrix = Matrix::from_fn(rows, columns * n_held, entry);
        let shape = [rows, columns * n_held];
        let shape = if rows == 1 { &shape[1..] } else { &shape[..] };
        of_file.push(NewTensor::new(format!("transformer.{name}"), shape, [&matrix])?);
    }
    let unwritten = |path: PathBuf| move |source| Error::Write { path, source };
    fs::create_dir_all(folder).map_err(unwritten(folder.to_owned()))?;
    save(&folder.join("model.safetensors"), &of_file, Existing::Replace)?;
    // The tokenizer is no GPT-2's, which has parts of words.
    let of_tokenizer = json!({
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": END,
        "eos_token": END,
    });
    let files = [
        ("config.json", config(sizes)),
        ("tokenizer.json", tokenizer()),
        ("tokenizer_config.json", of_tokenizer),
    ];
    for (name, value) in files {
        let path = folder.join(name);
        fs::write(&path, format!("{value:#}\n")).map_err(unwritten(path))?;
    }
    Ok(())
}

fn config(architecture: Architecture) -> Value {
    json!({
        "model_type": "gpt2",
        "architectures": ["GPT2LMHeadModel"],
        "activation_function": "gelu_new",
        "vocab_size": N_LETTERS,
        "n_positions": architecture.n_positions,
        "n_embd": architecture.d_model,
        "n_layer": architecture.n_blocks,
        "n_head": architecture.n_heads,
        "layer_norm_epsilon": 1e-5,
        "tie_word_embeddings": true,
        "bos_token_id": 0,
        "eos_token_id": 0,
    })
}

/// Each letter is a token, and a name begins behind the end of the one before. What is no letter
/// has no token: a tokenizer refuses it.
fn tokenizer() -> Value {
    let letters =
        ('a'..='z').zip(1..).map(|(letter, id)| (letter.to_string(), json!(id)));
    let end = [(END.to_owned(), json!(0))];
    let vocabulary: serde_json::Map<_, _> = end.into_iter().chain(letters).collect();
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
        "model": { "type": "WordLevel", "vocab": vocabulary, "unk_token": "<unknown>" },
    })
}

/// The end of a name as a tokenizer writes it.
const END: &str = "<end>";

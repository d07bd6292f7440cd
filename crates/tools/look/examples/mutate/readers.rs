//! Who reads the files.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use fused_heads::FusedAttention;
use model_files::{
    Gguf, MaskSizes, Sequence, Settings, attn_masks, beside_layer, beside_metadata,
    key_padding_masks, layers_in, read_layer,
};
use models::{Config, Configuration, Files, ModelFiles};
use serde_json::Value;
use tensors::TensorFile;
use texts::{Long, Text, gguf_text};
use workshop::paths;

use crate::mutations::{self, Random};

/// A kind of file, how it is broken, and what reads it.
pub struct Reader {
    pub name: String,
    pub broken: Box<Broken>,
    pub read: Box<Read>,
    /// The bytes of other files that are read with it.
    pub n_beside: usize,
}

/// Makes a broken file.
pub type Broken = dyn Fn(&mut Random) -> Vec<u8>;

/// Reads one, whatever comes of it.
pub type Read = dyn Fn(&[u8]);

impl Reader {
    fn new(
        name: &str,
        broken: impl Fn(&mut Random) -> Vec<u8> + 'static,
        read: impl Fn(&[u8]) + 'static,
    ) -> Self {
        let (broken, read) = (Box::new(broken), Box::new(read));
        Self { name: name.to_owned(), broken, read, n_beside: 0 }
    }
}

/// Every reader, on the tiny models of the tests.
pub fn all() -> Result<Vec<Reader>> {
    let models = paths::workspace().join("tests/data/models");
    let mut all =
        vec![tensors(&models)?, gguf(&models)?, tokenizer(&models)?, beside(&models)?];
    let encoders = models::encoders::families().map(|it| ("encoder", it.name));
    let decoders = models::decoders::families().map(|it| ("decoder", it.name));
    for (kind, family) in encoders.chain(decoders) {
        if let Some(folder) = folder(&models, family) {
            all.push(model(kind, &folder)?);
        }
    }
    Ok(all)
}

fn folder(models: &Path, family: &str) -> Option<PathBuf> {
    let folder = models.join(format!("{}-1", family.replace('-', "_")));
    folder.is_dir().then_some(folder)
}

fn bytes(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).with_context(|| path.display().to_string())
}

fn json(path: &Path) -> Result<Value> {
    Ok(serde_json::from_slice(&bytes(path)?)?)
}

/// The length of a safetensors file's header, with its own length.
fn n_header(bytes: &[u8]) -> usize {
    let length = bytes.first_chunk().map_or(0, |first| u64::from_le_bytes(*first));
    8 + usize::try_from(length).unwrap_or(0)
}

/// Layers, masks and ids from safetensors files.
fn tensors(models: &Path) -> Result<Reader> {
    let bases = [
        models.join("bert-1/model.safetensors"),
        models.join("bert-1/reference.safetensors"),
        models.join("cases/attend-src_key_padding_mask/layer.safetensors"),
        models.join("cases/attend-src_key_padding_mask/tensors.safetensors"),
        models.join("cases/gpt2-left-padding-position_ids/input.safetensors"),
    ];
    let bases = bases.iter().map(|path| bytes(path)).collect::<Result<Vec<_>>>()?;
    let broken = move |random: &mut Random| {
        let base = &bases[random.below(bases.len())];
        mutations::bytes(base, n_header(base), random)
    };
    let read = |bytes: &[u8]| {
        let Ok(file) = TensorFile::from_bytes("mutated", bytes.to_vec()) else { return };
        for layer in layers_in(&file) {
            let read = read_layer(&file, 4, Some(&layer.prefix));
            let _ = beside_layer(&file, Some(&layer.prefix), |_| None);
            let _ = read.map(|read| beside_metadata(&file, &layer, read.dims(), false));
        }
        let _ = Sequence::read(&file, 97, 2, true);
        let sizes = MaskSizes { batch: 3, n_heads: 4, n_q: 7, n_kv: 7, is_batched: true };
        for name in file.names() {
            let Ok(tensor) = file.tensor(&name) else { continue };
            let _ =
                (tensor.numbers(), tensor.integers(), tensor.flags(), tensor.matrices());
            let _ = key_padding_masks(&tensor, sizes);
            let _ = attn_masks(&tensor, sizes);
        }
    };
    Ok(Reader::new("tensors", broken, read))
}

/// A model of the Llama family with its vocabulary.
fn gguf(models: &Path) -> Result<Reader> {
    let base = bytes(&models.join("cases/gguf-merge-beyond-vocabulary/model.gguf"))?;
    // Settings and names come first.
    let head = base.len() / 4;
    let broken = move |random: &mut Random| mutations::bytes(&base, head, random);
    let read = |bytes: &[u8]| {
        let Ok(file) = Gguf::from_bytes("mutated", bytes.to_vec()) else { return };
        if let Ok(text) = gguf_text(&file, 1000) {
            use_text(&text);
        }
        use_model(Files::<Config>::of_gguf("mutated".into(), file).map(ModelFiles::from));
    };
    Ok(Reader::new("gguf", broken, read))
}

fn tokenizer(models: &Path) -> Result<Reader> {
    let path = models.join("tokenizer.json");
    let (whole, base) = (bytes(&path)?, json(&path)?);
    let broken = move |random: &mut Random| match random.below(4) {
        0 => mutations::bytes(&whole, whole.len(), random),
        _ => changed(&base, random),
    };
    let read = |bytes: &[u8]| {
        if let Ok(text) = Text::read("tokenizer.json", bytes, 97) {
            use_text(&text);
        }
    };
    Ok(Reader::new("tokenizer", broken, read))
}

/// `tokenizer_config.json` beside a tokenizer.
fn beside(models: &Path) -> Result<Reader> {
    let case = models.join("cases/tokenizer_config-says-cased/model");
    let base = json(&case.join("tokenizer_config.json"))?;
    let folder = tempfile::tempdir()?;
    let tokenizer = bytes(&case.join("tokenizer.json"))?;
    fs::write(folder.path().join("tokenizer.json"), &tokenizer)?;
    let broken = move |random: &mut Random| changed(&base, random);
    let read = move |bytes: &[u8]| {
        let path = folder.path().join("tokenizer_config.json");
        if fs::write(path, bytes).is_err() {
            return;
        }
        if let Ok(text) = Text::open(folder.path(), 97) {
            use_text(&text);
        }
    };
    Ok(Reader { n_beside: tokenizer.len(), ..Reader::new("beside", broken, read) })
}

/// A model's settings, beside its weights.
fn model(kind: &str, folder: &Path) -> Result<Reader> {
    let base = json(&folder.join("config.json"))?;
    let copy = tempfile::tempdir()?;
    let weights = folder.join("model.safetensors");
    fs::copy(&weights, copy.path().join("model.safetensors"))?;
    let n_beside = bytes(&weights)?.len();
    let broken = move |random: &mut Random| changed(&base, random);
    let read = move |bytes: &[u8]| {
        let settings = Settings::read("config.json", bytes);
        if settings.is_ok_and(|settings| Config::of(&settings).is_err()) {
            return;
        }
        if fs::write(copy.path().join("config.json"), bytes).is_ok() {
            use_model(ModelFiles::open(copy.path()));
        }
    };
    // As in `encoder-bert-1`.
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let name = format!("{kind}-{name}");
    Ok(Reader { n_beside, ..Reader::new(&name, broken, read) })
}

/// JSON with something else in it.
fn changed(base: &Value, random: &mut Random) -> Vec<u8> {
    mutations::value(base, random).to_string().into_bytes()
}

fn use_model(model: models::Result<ModelFiles>) {
    let text = Sequence::new(vec![5, 6, 7]);
    let _ = model.and_then(|it| {
        it.tensors::<f32>(&[text], |parameters| Box::new(FusedAttention::new(parameters)))
    });
}

fn use_text(text: &Text) {
    for words in ["the banks overflow", "naïve 数学 👋\n\tend", "[CLS] ab", ""] {
        for n_positions in [2, 64] {
            let _ = text.pieces(words, n_positions, Long::Cut);
        }
    }
    let _ = text.decode(&[0, 3, 5, 96, usize::MAX]);
}

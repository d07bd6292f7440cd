//! Writes the maps of sentence pairs that come with the chapter on trained heads: all heads
//! of all-MiniLM-L6-v2, a byte per share.

use std::fs;

use anyhow::{Context, Result};
use assets::own_sentence::MAPS;
use fused_heads::FusedAttention;
use models::encoders::Encoder;
use models::finite;
use tensors::{NewTensor, to_bytes_with};
use texts::{Long, Text};
use workshop::paths;

/// Besides those of `tests/data/models/pairs.txt`, on which the chapter counts.
const MORE: [&str; 3] = [
    "The {key} didn't fit the {lock} because it was too | thick | narrow",
    "The water from the {bottle} filled the {cup} until it was | empty | full",
    "The {boat} hit the {rock} because it was | moving | hidden",
];

/// A page fetches a sentence when it is chosen: no more bytes than these.
const MOST_BYTES: usize = 20_000;

fn main() -> Result<()> {
    let (model, folder) = (paths::minilm(), paths::workspace().join(MAPS));
    let encoder = Encoder::<_, f32>::load(&model, FusedAttention::new)
        .context("`cargo learn look --download` fetches the model")?;
    let text = Text::open(&model, encoder.config.n_vocabulary)?;
    let file = |sentence: &str| -> Result<(usize, Vec<u8>)> {
        let found = text.pieces(sentence, encoder.config.longest(), Long::Refuse)?;
        let attn = finite(encoder.forward(&found.sequence)?)?.attn;
        let n = found.pieces.len();
        let rows = attn.iter().flatten().flat_map(|map| map.row_iter());
        let byte = |share: &f32| (share * 255.0).round() as u8;
        let bytes = rows.flat_map(|row| row.iter().map(byte).collect::<Vec<_>>());
        let shape = [attn.len(), attn[0].len(), n, n];
        let maps = NewTensor::bytes("maps", &shape, bytes.collect())?;
        Ok((n, to_bytes_with(&[maps], &[("tokens", &found.pieces.join(" "))])?))
    };
    let pairs = fs::read_to_string(look::texts::models().join("pairs.txt"))?;
    let mut index = String::new();
    for pair in pairs.lines().chain(MORE) {
        let (start, ends) = pair.split_once(" | ").context("a pair has a start")?;
        let (one, other) = ends.split_once(" | ").context("a pair has two ends")?;
        let sentence = |end: &str| format!("{} {end}.", start.replace(['{', '}'], ""));
        let files = [file(&sentence(one))?, file(&sentence(other))?];
        // Without as many tokens on both sides there is no difference.
        let fits = files.iter().all(|(_, bytes)| bytes.len() <= MOST_BYTES);
        if !fits || files[0].0 != files[1].0 {
            println!("left out: {pair}");
            continue;
        }
        for (end, (_, bytes)) in [one, other].into_iter().zip(files) {
            let key = end.split(' ').next().unwrap_or(end);
            fs::write(folder.join(key).with_extension("safetensors"), bytes)?;
            index += &format!("{key}\t{}\n", sentence(end));
        }
    }
    fs::write(folder.join("index.tsv"), index)?;
    Ok(())
}

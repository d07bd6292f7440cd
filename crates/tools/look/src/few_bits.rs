//! A trained model in few bits: a copy that a page fetches in a moment.

use std::fs;
use std::path::Path;

use anyhow::Result;
use model_files::weights_in;
use tensors::{Bits, Existing, in_bits, save};
use workshop::step;

/// How many bits a weight has in the copy: `examples/few_bits.rs` measures what it costs.
pub const BITS: Bits = Bits::Four;

const SMALL: [&str; 2] = ["config.json", "tokenizer.json"];
const WEIGHTS: &str = "model.safetensors";

/// A folder with the same model, each matrix of its weights in so many bits; gives the bytes of
/// its files together. What stands there under these names is written over.
///
/// # Errors
/// A folder without the model; what cannot be written.
pub fn copy(from: &Path, to: &Path, bits: Bits) -> Result<u64> {
    for file in SMALL {
        step::copy(&from.join(file), &to.join(file))?;
    }
    save(&to.join(WEIGHTS), &in_bits(&weights_in(from)?, bits)?, Existing::Replace)?;
    let n_bytes = |file: &str| Ok(fs::metadata(to.join(file))?.len());
    SMALL.into_iter().chain([WEIGHTS]).map(n_bytes).sum()
}

#[cfg(test)]
mod tests {
    use model_files::Sequence;
    use models::encoders::Encoder;

    use super::*;

    /// The folder is read as any other, and its maps are near.
    #[test]
    fn a_copy_is_a_model_whose_maps_are_near() {
        let folder = tempfile::tempdir().unwrap();
        let from = crate::texts::models().join("bert-1");
        fs::write(folder.path().join("tokenizer.json"), "").unwrap();
        for file in ["config.json", WEIGHTS] {
            fs::copy(from.join(file), folder.path().join(file)).unwrap();
        }
        let load = |folder: &Path| Encoder::<_, f32>::load(folder, Clone::clone).unwrap();
        let maps = |folder: &Path| {
            let model = load(folder)
                .with_attention(|_, layer| fused_heads::FusedAttention::new(layer));
            model.forward(&Sequence::new(vec![3, 14, 15, 92, 6])).unwrap().attn
        };
        let to = folder.path().join("few");
        let mut last = f32::INFINITY;
        for (bits, most) in [(Bits::Four, 0.2), (Bits::Eight, 0.02)] {
            let n_bytes = copy(folder.path(), &to, bits).unwrap();
            assert!(n_bytes < fs::metadata(from.join(WEIGHTS)).unwrap().len());
            let (whole, few) = (maps(folder.path()), maps(&to));
            let pairs = whole.iter().flatten().zip(few.iter().flatten());
            let largest = pairs.map(|(a, b)| (a - b).amax()).fold(0.0, f32::max);
            println!("{bits} bits: {largest}");
            assert!(largest > 0.0 && largest < most && largest < last, "{largest}");
            last = largest;
        }
    }
}

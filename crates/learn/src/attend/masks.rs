//! The masks in a file, and the one on the command line, together.

use anyhow::Result;
use attention::{Mask, Real};
use pretrained::{MaskSizes, Tensor, TensorFile, attn_masks, key_padding_masks};

/// The mask of each sequence: what `--causal`, `key_padding_mask` and `attn_mask` say
/// together. What was found is added to `found`.
pub fn read(
    file: &TensorFile,
    sizes: MaskSizes,
    causal: bool,
    found: &mut Vec<(String, String)>,
) -> Result<Vec<Mask>> {
    let mut masks = vec![Vec::new(); sizes.batch];
    if causal {
        masks.iter_mut().for_each(|masks| masks.push(Mask::Causal));
        let text = format!("({}, {}) by --causal", sizes.n_q, sizes.n_kv);
        found.push(("mask".to_string(), text));
    }
    type Reader = fn(&Tensor<'_>, MaskSizes) -> pretrained::Result<Vec<Mask>>;
    let readers: [(&str, Reader); 2] =
        [("key_padding_mask", key_padding_masks), ("attn_mask", attn_masks)];
    for (name, read) in readers {
        if !file.contains(name) {
            continue;
        }
        let tensor = file.tensor(name)?;
        for (masks, mask) in masks.iter_mut().zip(read(&tensor, sizes)?) {
            masks.push(mask);
        }
        let meaning = if tensor.is_bool() { "True = blocked" } else { "added to scores" };
        let text = format!("{} {}, {meaning}", tensor.shape_text(), tensor.dtype());
        found.push((name.to_string(), text));
    }
    let together = |mut masks: Vec<Mask>| match masks.len() {
        0 => Mask::None,
        1 => masks.remove(0),
        _ => Mask::All(masks),
    };
    Ok(masks.into_iter().map(together).collect())
}

/// The mask with its scores rounded to what `T` holds, so that every stage in `T` agrees
/// on which of them are −∞.
pub fn rounded<T: Real>(mask: Mask) -> Mask {
    match mask {
        Mask::Additive(scores) => Mask::Additive(scores.map(|s| T::of(s).to_f64())),
        Mask::All(masks) => Mask::All(masks.into_iter().map(rounded::<T>).collect()),
        Mask::PerHead(masks) => {
            Mask::PerHead(masks.into_iter().map(rounded::<T>).collect())
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZES: MaskSizes =
        MaskSizes { batch: 2, n_heads: 2, n_q: 1, n_kv: 3, is_batched: true };

    /// A file with one tensor of flags.
    fn file(name: &str, shape: &str, flags: &[u8]) -> TensorFile {
        let offsets = format!("[0,{}]", flags.len());
        let header = format!(
            r#"{{"{name}":{{"dtype":"BOOL","shape":{shape},"data_offsets":{offsets}}}}}"#
        );
        let length = (header.len() as u64).to_le_bytes();
        let bytes = [&length, header.as_bytes(), flags].concat();
        TensorFile::from_bytes("some.file", bytes).unwrap()
    }

    #[test]
    fn several_masks_apply_together() {
        let file = file("key_padding_mask", "[2,3]", &[0, 0, 1, 0, 1, 1]);
        let mut found = Vec::new();
        let masks = read(&file, SIZES, true, &mut found).unwrap();
        let keys = Mask::Keys(vec![true, false, false]);
        assert_eq!(masks[1], Mask::All(vec![Mask::Causal, keys]));
        let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["mask", "key_padding_mask"]);
        assert_eq!(read(&file, SIZES, false, &mut found).unwrap().len(), 2);
    }
}

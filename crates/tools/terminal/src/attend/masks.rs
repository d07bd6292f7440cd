//! The masks in a file, and the one on the command line, together.

use anyhow::{Result, bail, ensure};
use attention::Mask;
use model_files::{MaskSizes, Use, attn_masks, key_padding_masks};
use tensors::{Tensor, TensorFile};

use super::roles::{MASKS, Role, are_of_one};

/// The mask of each sequence: what `--causal`, `key_padding_mask` and `attn_mask` say
/// together, of those that are masks of an attention of this role. What was found is added
/// to `found`.
pub fn read(
    file: &TensorFile,
    sizes: MaskSizes,
    (role, causal): (Role, bool),
    found: &mut Vec<(String, String)>,
) -> Result<Vec<Mask>> {
    let mut masks = vec![Vec::new(); sizes.batch];
    if causal {
        masks.iter_mut().for_each(|masks| masks.push(Mask::Causal));
        let text = format!("({}, {}) by --causal", sizes.n_q, sizes.n_kv);
        found.push(("mask".to_string(), text));
    }
    type Reader = fn(&Tensor<'_>, MaskSizes) -> model_files::Result<Vec<Mask>>;
    let readers: [Reader; 2] = [key_padding_masks, attn_masks];
    let is_own = |name: &&str| file.contains(name) && role.mask(name) == Some(Use::Used);
    let mut first = None;
    for ((kind, names), read) in MASKS.into_iter().zip(readers) {
        let there: Vec<&str> = names.iter().copied().filter(is_own).collect();
        ensure!(
            there.len() < 2,
            "{}: {} are each the {kind} of a layer: which one is this layer's? Leave one",
            file.name(),
            there.join(" and ")
        );
        let Some(name) = there.first().copied() else { continue };
        let before = *first.get_or_insert(name);
        ensure!(
            are_of_one(before, name),
            "{}: {before} and {name} are masks of two attentions: which one is this layer's? \
             Leave its own",
            file.name()
        );
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

/// Refuses masks whose finite scores have a sum that is no f64, in which masks are added
/// whatever the precision of the rest.
pub fn check_sums(
    mask: &Mask,
    n_heads: usize,
    (n_q, n_kv): (usize, usize),
) -> Result<()> {
    let Mask::All(masks) = mask else { return Ok(()) };
    if masks.iter().filter(|mask| mask.adds_numbers()).count() < 2 {
        return Ok(());
    }
    for head in 0..n_heads {
        let masks: Vec<_> = masks.iter().map(|mask| mask.of_head(head)).collect();
        for i in 0..n_q {
            for j in 0..n_kv {
                let added = || masks.iter().map(|mask| mask.added((i, j), (n_q, n_kv)));
                let Some(sum) = added().sum::<Option<f64>>() else { continue };
                if sum.is_finite() {
                    continue;
                }
                let added = added().flatten().filter(|&score| score != 0.0);
                let added: Vec<String> =
                    added.map(|score| format!("{score:e}")).collect();
                bail!(
                    "for head {head}, query {i} and key {j} they add {}, of which the sum \
                     is beyond what an f64 can be; to block a key, use −inf or a mask of \
                     BOOL",
                    added.join(" and "),
                );
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use attention::Matrix;
    use model_files::testing::flag_file;

    const SIZES: MaskSizes =
        MaskSizes { batch: 2, n_heads: 2, n_q: 1, n_kv: 3, is_batched: true };

    #[test]
    fn several_masks_apply_together() {
        let file = flag_file("key_padding_mask", "[2,3]", &[0, 0, 1, 0, 1, 1]);
        let mut found = Vec::new();
        let masks = read(&file, SIZES, (Role::Any, true), &mut found).unwrap();
        let keys = Mask::Keys(vec![true, false, false]);
        assert_eq!(masks[1], Mask::All(vec![Mask::Causal, keys]));
        let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["mask", "key_padding_mask"]);
        assert_eq!(read(&file, SIZES, (Role::Any, false), &mut found).unwrap().len(), 2);
    }

    #[test]
    fn finite_scores_whose_sum_is_none_are_refused_with_both() {
        let added =
            |score| Mask::Additive(Matrix::from_row_slice(1, 3, &[0.0, score, 0.0]));
        let per_head = |score| Mask::PerHead(vec![added(0.0), added(score)]);
        let told = |a: Mask, b: Mask| {
            let error = check_sums(&Mask::All(vec![a, b]), 2, (1, 3));
            error.map_err(|error| error.to_string())
        };
        let refused = told(added(1e308), per_head(1.5e308)).unwrap_err();
        assert_eq!(
            refused,
            "for head 1, query 0 and key 1 they add 1e308 and 1.5e308, of which the sum is \
             beyond what an f64 can be; to block a key, use −inf or a mask of BOOL"
        );
        assert!(told(added(-1e308), added(-1e308)).is_err());
        // A key that is blocked has no sum; nor has a mask of one score.
        assert_eq!(told(added(f64::NEG_INFINITY), added(1e308)), Ok(()));
        assert_eq!(told(added(1e308), Mask::Causal), Ok(()));
        assert_eq!(told(added(3e38), added(3e38)), Ok(())); // no f32, and none is needed
    }
}

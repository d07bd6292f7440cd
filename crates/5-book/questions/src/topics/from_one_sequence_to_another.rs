//! Cross-attention, its masks and its two caches.

use ::variants::{Changes, Sizes, VariantAttention};

use super::*;

pub fn cross_open(n: &Facts) -> Result<Facts> {
    let [n, n_real, n_written] = n.wholes(["n", "n_real", "n_written"])?;
    let picture = picture(&Mask::FirstKeys(n_real), (n_written, n), "letter ");
    let open = picture.matches(" x").count();
    let causal = (0..n_written).map(|i| (i + 1).min(n_real)).sum::<usize>();
    Ok(facts![picture, open, causal])
}

pub fn two_caches(n: &Facts) -> Result<Facts> {
    let [n_source, n_written] = n.wholes(["n_source", "n_written"])?;
    let sizes = Sizes::new(Dims::new(8, 2)?, 2)?;
    let rng = &mut Rng::seed_from_u64(1);
    let layer = VariantAttention::<f64>::random(sizes, true, Changes::default(), rng)?;
    let source = layer.source_cache(&tokens(n_source, 8))?;
    let mut own = layer.cache();
    let written: Matrix = tokens(n_written, 8);
    let mut shown = format!("before the first letter   source {n_source}, own 0\n");
    for step in 0..n_written {
        layer.forward_cached(&written.rows(step, 1).into_owned(), &mut own)?;
        let rows = [&source, &own].map(|cache| cache.keys().nrows());
        shown += &format!(
            "after letter {step:>2}          source {}, own {}\n",
            rows[0], rows[1]
        );
    }
    Ok(facts![shown, computed = source.keys().nrows() + own.keys().nrows()])
}

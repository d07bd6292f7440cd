//! “Variants”: what today's models change, one line of the formula at a time.

pub mod ahead;
pub mod bounded;
pub mod count;
pub mod first_kept;
pub mod places;
pub mod rotated;
pub mod shared;
mod shared_keys;
pub mod stretched;
pub mod used;
pub mod window_and_cache;

use crate::{Args, Entry};
use anyhow::Result;
use figures::{Figure, Roof, RoofStep, Roofline, mask_maps, roofline};
use variants::Window;

pub(crate) const FIGURES: &[Entry] = &[
    ("token-roofline", roof),
    ("window-masks", masks),
    ("uses", used::figure),
    ("shared-keys", shared_keys::figure),
    ("shared-scores", shared::figure),
    ("stretched-scores", stretched::figure),
    ("first-kept", first_kept::figure),
    ("soft-cap", bounded::figure),
    ("places-lengths", places::figure),
];

/// How many tokens the masks show.
const N_SHOWN: usize = 10;

/// A token of each sequence of a batch, by heads of keys and values: `9, batch 64`.
fn roof(_: &Args) -> Result<Figure> {
    let run = runs::reference()?;
    let roofs = [Roof {
        name: "reference run".to_owned(),
        peak_gflops: run.machine.fma_peak_gflops,
        bandwidth_gb_s: run.machine.bandwidth_gb_s,
    }];
    let step = |n_kv_heads: usize, batch: u64| -> Result<RoofStep> {
        Ok(RoofStep {
            name: format!("{n_kv_heads}, batch {batch}"),
            flops_per_byte: count::next(n_kv_heads)?.intensity(batch, 4),
        })
    };
    let steps = [(9, 1), (9, 64), (3, 64), (1, 8), (1, 64)];
    let steps = steps.map(|(heads, batch)| step(heads, batch));
    let steps: Vec<RoofStep> = steps.into_iter().collect::<Result<_>>()?;
    let title = "Memory limits what one new token computes: with 9 heads of keys and values \
                 even in a batch of 64";
    Ok(roofline(title, Roofline { roofs: &roofs, steps: &steps, reached: &[] })?)
}

/// The window that the masks show, without a sink and with one.
///
/// # Errors
/// None; the window is not empty.
pub fn windows() -> Result<[(&'static str, Window); 3]> {
    let causal = Window { right: Some(0), ..Window::default() };
    let window = Window { right: Some(0), ..Window::last(4)? };
    let kept = Window { n_sinks: 1, ..window };
    Ok([("causal", causal), ("window of 4", window), ("window of 4, 1 kept", kept)])
}

fn masks(_: &Args) -> Result<Figure> {
    let tokens: Vec<String> = (0..N_SHOWN).map(|token| token.to_string()).collect();
    let maps =
        windows()?.map(|(name, window)| (name, window_and_cache::sees(window, N_SHOWN)));
    let maps: Vec<_> = maps.iter().map(|(name, map)| (*name, map)).collect();
    let title = "A window bounds what each token sees; a sink is a column that stays";
    Ok(mask_maps(title, &tokens, &tokens, &maps)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_titles_are_true() {
        let machine = runs::reference().unwrap().machine;
        let ridge = machine.fma_peak_gflops / machine.bandwidth_gb_s;
        assert!(count::next(9).unwrap().intensity(64, 4) < ridge);
    }
}

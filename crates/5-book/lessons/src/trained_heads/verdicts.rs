//! The nine claims under three measures, each with its three controls.

use anyhow::{Context, Result};
use attention::median;
use model_files::{Sentence, TrainedLayer};

use super::claims::{CLAIMS, Claim, Link, all_pairs, best_head};
use super::measures::{MEASURES, Maps, measured};
use crate::numbers::reaching;
use crate::trained;

/// At most this part of word pairs, and of random layers, may reach the share.
pub const RARE: f64 = 0.05;

/// A claim under one measure, with its three controls.
#[derive(Debug, Clone, Copy)]
pub struct Verdict {
    /// The link in the trained layer; what the other tokens give is the third control.
    pub link: Link,
    /// The part of all word pairs whose best head gives as much.
    pub pairs: f64,
    /// The part of random layers whose best head gives as much on this very link.
    pub random: f64,
    /// The median over random layers of what the best head gives on this link.
    pub random_median: f64,
}

impl Verdict {
    /// Rare among word pairs, rare among random layers, twice the odds of the others.
    pub fn controls(&self) -> [bool; 3] {
        [self.pairs <= RARE, self.random <= RARE, self.link.stands_out()]
    }

    /// The letters of the controls that it passes, in their order: `P·T`.
    pub fn letters(&self) -> String {
        let letters = self.controls().into_iter().zip(['P', 'R', 'T']);
        letters.map(|(passed, letter)| if passed { letter } else { '·' }).collect()
    }

    /// How many of the three controls it passes.
    pub fn passed(&self) -> usize {
        self.controls().into_iter().filter(|&passed| passed).count()
    }
}

/// Every claim with its verdict under each of [`MEASURES`], in the trained layer.
///
/// # Errors
/// None; the layer and the sentences are parts of the program.
pub fn verdicts(random: &[&[Maps; 3]]) -> Result<Vec<(Claim, Verdicts)>> {
    let TrainedLayer { parameters, sentences } = trained::layer()?;
    verdicts_on(&measured(parameters, sentences)?, random, sentences)
}

/// A claim's verdict under each of [`MEASURES`].
pub type Verdicts = [Verdict; MEASURES.len()];

/// The same in any layer, from its maps under each measure and those of random layers.
///
/// # Errors
/// If a claim's sentence or word is not among the sentences.
pub fn verdicts_on(
    maps: &[Maps; 3],
    random: &[&[Maps; 3]],
    sentences: &[Sentence],
) -> Result<Vec<(Claim, Verdicts)>> {
    let pairs = maps.each_ref().map(|maps| all_pairs(maps, sentences));
    let one = |claim: Claim| -> Result<_> {
        let nth = sentences.iter().position(|s| s.name == claim.sentence);
        let nth = nth.context("the claim's sentence")?;
        let (rows, column) = claim.place(&sentences[nth])?;
        let under = |measure: usize| {
            let link = Link::new(&maps[measure][nth], &rows, column);
            let best =
                |layer: &&[Maps; 3]| best_head(&layer[measure][nth], &rows, column).1;
            let of_random: Vec<f64> = random.iter().map(best).collect();
            Verdict {
                pairs: reaching(&pairs[measure], link.share),
                random: reaching(&of_random, link.share),
                random_median: median(of_random),
                link,
            }
        };
        Ok((claim, [0, 1, 2].map(under)))
    };
    CLAIMS.into_iter().map(one).collect()
}

//! Ten seeds of each kind of position: trained on short texts, tested on longer ones.

use crate::Args;
use crate::numbers::lines_panel;
use crate::seeds::numbers;
use anyhow::{Result, ensure};
use attention::median;
use figures::{Figure, lines};
use serde_json::Value;
use training::changed::{PLACES, Place};

/// The lengths of the tests; the first is that of the training.
pub const LENGTHS: [usize; 4] = [24, 48, 96, 192];
/// A kind of position works at a length if its median score there is at least this part of
/// its median at the length of the training. Fixed before the runs.
pub const WORKING_PART: f64 = 0.9;
/// Ten seeds of one kind of position.
#[derive(Debug, Clone, PartialEq)]
pub struct OfPlace {
    /// What the kind is called.
    pub name: &'static str,
    /// The scores of all seeds, length by length.
    pub scores: [Vec<f64>; LENGTHS.len()],
    /// Those in texts of 96 tokens that repeat at distances beyond the training.
    pub far: Vec<f64>,
}

impl OfPlace {
    /// The medians, length by length.
    pub fn medians(&self) -> [f64; LENGTHS.len()] {
        [0, 1, 2, 3].map(|at| median(self.scores[at].iter().copied()))
    }

    /// The longest length at which it works, that of the training at least.
    pub fn works_up_to(&self) -> usize {
        let medians = self.medians();
        let n_working =
            medians.iter().take_while(|&&it| it >= WORKING_PART * medians[0]).count();
        LENGTHS[n_working.max(1) - 1]
    }
}

/// Every kind of position, the control first.
///
/// # Errors
/// If the file has other runs than it should.
pub fn places() -> Result<Vec<OfPlace>> {
    let all: Vec<Value> = serde_json::from_str(PLACES)?;
    let of_place = |place: Place| {
        let name = place.name();
        let of: Vec<&Value> = all.iter().filter(|run| run["place"] == name).collect();
        ensure!(of.len() == 10, "{} runs of {name}", of.len());
        let mut scores = [const { Vec::new() }; LENGTHS.len()];
        let mut far = Vec::new();
        for run in of {
            let measured = numbers(&run["scores"])?;
            ensure!(measured.len() == LENGTHS.len(), "{} scores", measured.len());
            scores.iter_mut().zip(measured).for_each(|(all, score)| all.push(score));
            far.extend(run["far"].as_f64());
        }
        Ok(OfPlace { name, scores, far })
    };
    Place::ALL.into_iter().map(of_place).collect()
}

/// The medians by length.
pub(super) fn figure(_: &Args) -> Result<Figure> {
    let line = |of: OfPlace| {
        let points = LENGTHS.iter().zip(of.medians()).map(|(&n, it)| [n as f64, it]);
        (of.name.to_owned(), points.collect())
    };
    let panel = lines_panel(
        "score, median of ten seeds",
        "tokens in a text",
        places()?.into_iter().map(line).collect(),
    );
    let title = "Trained on 24 tokens, tested on more: only ALiBi works at 192";
    Ok(lines(title, &[panel])?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_title_is_true() {
        let all = places().unwrap();
        for of in &all {
            let is_alibi = of.name == Place::Alibi.name();
            assert_eq!(of.works_up_to() == LENGTHS[3], is_alibi, "{of:?}");
        }
    }
}

//! The small model, trained once, letters that are only counted, and what was measured: ten
//! seeds, and the time of a step on each rung.

use std::sync::OnceLock;

use anyhow::Result;
use attention::{Rng, SeedableRng};
use figures::{Axis, Figure, palette};
use gpt::{Architecture, Model, NAMES, Rung, SEEDS, Schedule, Split, TIMES, Training};

use crate::kept::kept;
use crate::named_rows::{Look, NamedRows, RowList, RowPanel};
use crate::numbers::written;
use crate::{Args, charts, seeds};

/// The small model, trained with the first seed.
///
/// # Errors
/// As [`Training::run`].
pub fn first() -> Result<&'static Model> {
    static FIRST: OnceLock<Model> = OnceLock::new();
    kept(&FIRST, || {
        let (small, rng) = (Architecture::SMALL, &mut Rng::seed_from_u64(1));
        let mut training = Training::new(Rung::BATCH, small, Schedule::SMALL, rng)?;
        training.run(&Split::of(NAMES.lines()).learned, rng)?;
        Ok(Model::new(small, training.parameters())?)
    })
}

/// What is counted, letters after none, one and two others, and the loss of these counts on
/// the unseen names.
pub fn counted(split: &Split) -> [(&'static str, f64); 3] {
    [("single letters", 0), ("pairs", 1), ("triples", 2)]
        .map(|(name, n_before)| (name, split.counted_loss(n_before)))
}

/// The losses on unseen names, beside those of counts.
pub(super) fn of_seeds(_: &Args) -> Result<Figure> {
    let kinds = ["no attention", "no positions", "small", "small, longer", "larger"];
    let losses = kinds.map(|kind| seeds::of_kind(SEEDS, kind, "test"));
    let losses = losses.into_iter().collect::<Result<Vec<_>>>()?;
    let [_, (_, pairs), (_, triples)] = counted(&Split::of(NAMES.lines()));
    let x = Axis::between([1.95, 2.65])
        .titled(&format!("lines: counted triples, {triples:.3}, and pairs, {pairs:.3}"));
    let list = RowList::new("seeds", losses, Look::Runs(palette::head(0)));
    let what = "loss on unseen names, of ten seeds";
    let panel = RowPanel::new(what, x, |loss| written(loss, 3), vec![list]);
    let title = "On every seed the small model beats pairs, and two models beat triples";
    NamedRows::new(&kinds.map(str::to_owned), 30.0, 1)
        .figure(title, &[panel.ruled([triples, pairs])])
}

/// The time of a step in both models; the larger one has not all rungs.
pub(super) fn times(_: &Args) -> Result<Figure> {
    let rungs = ["scalars", "loops", "matrices", "fused", "batch", "tiles", "PyTorch"];
    let times = |model| seeds::of_kind(TIMES, model, "ms");
    let small = times("small")?.into_iter().map(Some).collect();
    let larger = times("larger")?.into_iter().map(Some);
    let larger = [None; 3].into_iter().chain(larger).collect();
    let title =
        "Doing without a tape saves most in the small model, vectors in the larger";
    let what = "milliseconds of a step on one thread, medians of 101 rounds";
    let series = [("small", small), ("larger", larger)];
    charts::bars(title, what, &rungs.map(str::to_owned), &series)
}

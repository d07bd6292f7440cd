//! What was measured on many seeds: a dot each.

use anyhow::{Result, ensure};
use figures::{Axis, Figure, lines, palette};
use serde_json::Value;
use training::repeats::{Composition, Margins};

use super::runs;
use crate::Args;
use crate::named_rows::{Look, NamedRows, RowList, RowPanel};
use crate::numbers::{ends, lines_panel, written};
use crate::seeds::{numbers, rows};

/// With the task of the chapter.
const SHOWN: [&str; 5] =
    ["two layers", "one layer", "one layer, 32 heads", "no positions", "no residual"];
/// How many steps of the formation are drawn.
const FORMING: f64 = 1000.0;

fn number(run: &Value) -> f64 {
    run.as_f64().unwrap_or(f64::NAN)
}

/// A number of each run of each setting.
fn each<'a>(
    settings: impl IntoIterator<Item = &'a str>,
    of: impl Fn(&Value) -> Result<f64>,
) -> Result<Vec<Vec<f64>>> {
    settings.into_iter().map(|setting| runs(setting)?.iter().map(&of).collect()).collect()
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// Lists of what each of some things has in each row, drawn in one way.
fn lists<const N: usize>(
    all: [(&str, Vec<Vec<f64>>); N],
    look: fn(&'static str) -> Look,
) -> Vec<RowList> {
    let list =
        |(nth, (name, rows))| RowList::new(name, rows, look(palette::beside_wrong(nth)));
    all.into_iter().enumerate().map(list).collect()
}

/// Attention weights of heads that look at one token among many.
fn weights_panel<const N: usize>(
    title: &str,
    all: [(&str, Vec<Vec<f64>>); N],
    look: fn(&'static str) -> Look,
) -> RowPanel {
    let x = Axis::between([-0.02, 0.72]);
    RowPanel::new(title, x, |weight| written(weight, 2), lists(all, look))
}

pub(super) fn scores(_: &Args) -> Result<Figure> {
    let all = |key: &'static str| each(SHOWN, |run| Ok(number(&run[key])));
    let series = [("trained", all("score")?), ("before training", all("before")?)];
    let panel =
        RowPanel::percent("right: a dot per seed", 0.0, lists(series, Look::Runs));
    let title =
        "Two layers know what comes next with every seed, and one layer with none";
    NamedRows::new(&owned(&SHOWN), 44.0, 1).figure(title, &[panel])
}

/// The largest weight of a layer's heads; a layer from the end is counted backwards.
fn most(shares: &Value, is_last: bool) -> Result<f64> {
    let layers = rows(shares)?;
    let layer = if is_last { layers.last() } else { layers.first() };
    Ok(ends(layer.into_iter().flatten().copied())[2])
}

pub(super) fn patterns(_: &Args) -> Result<Figure> {
    let names = ["two layers", "one layer", "no positions", "no residual"];
    let weights = |kind: &'static str, is_last: bool| -> Result<Vec<Vec<f64>>> {
        let mut all = each(names, |run| most(&run["shares"][kind], is_last))?;
        all.extend(each([names[0]], |run| most(&run["shares_before"][kind], is_last))?);
        Ok(all)
    };
    let panel = |title: &str, kind, is_last| -> Result<RowPanel> {
        let list = [("largest weight of a head", weights(kind, is_last)?)];
        Ok(weights_panel(title, list, Look::Runs))
    };
    let panels = [
        panel("first layer, on the token before", "previous", false)?,
        panel("last layer, on the token to copy", "after_last_same", true)?,
    ];
    let rows = owned(&[&names[..], &["two layers, fresh"]].concat());
    let title = "Every two-layer model attends to the token to be copied, but not every one \
                 to the token before";
    NamedRows::new(&rows, 36.0, 2).figure(title, &panels)
}

/// The seeds of two layers, those first whose needed head hands on which token it sees.
fn by_note() -> Result<(Vec<String>, Vec<Value>)> {
    let mut all = runs("two layers")?;
    all.sort_by_key(|run| !notes_which(run));
    let name = |run: &Value| {
        let note = if notes_which(run) { "which" } else { "where" };
        format!("{note}, seed {}", run["seed"])
    };
    Ok((all.iter().map(name).collect(), all))
}

/// Whether the first layer's needed head hands on which token it sees, and not where.
pub fn notes_which(run: &Value) -> bool {
    let [which, place] = ["which", "place"].map(|half| number(&run["carried"][half]));
    which > place
}

/// The needed head of the first layer.
pub fn needed(run: &Value) -> usize {
    run["carried"]["head"].as_u64().unwrap_or(0) as usize
}

/// A number of each run, in a row of its own.
fn column(all: &[Value], of: impl Fn(&Value) -> Result<f64>) -> Result<Vec<Vec<f64>>> {
    all.iter().map(|run| Ok(vec![of(run)?])).collect()
}

pub(super) fn halves(_: &Args) -> Result<Figure> {
    let (names, all) = by_note()?;
    let weight = |kind: &'static str| {
        column(&all, |run| Ok(rows(&run["shares"][kind])?[0][needed(run)]))
    };
    let left = |half: &'static str| column(&all, |run| Ok(number(&run["carried"][half])));
    let without =
        column(&all, |run| Ok(rows(&run["removed"]["mean"]["heads"])?[0][needed(run)]))?;
    let looks = [
        ("on the token before", weight("previous")?),
        ("on its previous occurrence", weight("last_same")?),
    ];
    let looks = weights_panel("attention weight of the needed head", looks, Look::Dots);
    let left = [
        ("only which", left("which")?),
        ("only where", left("place")?),
        ("without it", without),
    ];
    let left = RowPanel::percent(
        "right, keeping a part of its note",
        0.0,
        lists(left, Look::Dots),
    );
    let title = "Heads that attend to the token before need only which; heads that attend to \
                 the token's previous occurrence, only where";
    NamedRows::new(&names, 24.0, 2).figure(title, &[looks, left])
}

/// The margin of scores from neither, Q-composition, K-composition and both.
pub fn by_composition(composed: &Value) -> Result<[f64; 4]> {
    let Composition { none, q, k, both } = margins(composed)?.by_composition();
    Ok([none, q, k, both])
}

/// The margins of a model, as they are kept.
pub fn margins(composed: &Value) -> Result<Margins> {
    let matrix = |key: &str| -> Result<attention::Matrix> {
        let rows = rows(&composed[key])?;
        ensure!(!rows.is_empty(), "no margins of {key}");
        Ok(attention::Matrix::from_fn(rows.len(), rows[0].len(), |i, j| rows[i][j]))
    };
    Ok(Margins { scores: matrix("scores")?, logits: matrix("logits")?, apart: f64::NAN })
}

pub(super) fn paths(_: &Args) -> Result<Figure> {
    let (names, all) = by_note()?;
    let part = |nth: usize| {
        column(&all, |run| {
            let parts = by_composition(&run["composed"])?;
            Ok(parts[nth] / parts.iter().sum::<f64>())
        })
    };
    let cut = |end: &'static str| {
        column(&all, |run| Ok(numbers(&run["without_path"][end])?[needed(run)]))
    };
    let parts =
        [("Q", part(1)?), ("K", part(2)?), ("both", part(3)?), ("neither", part(0)?)];
    let [q, k, v, logits] = ["queries", "keys", "values", "logits"].map(cut);
    let cuts = [("queries", q?), ("keys", k?), ("values", v?), ("logits", logits?)];
    let panels = [
        RowPanel::percent("parts of the score's margin", 0.0, lists(parts, Look::Parts)),
        RowPanel::percent("right, with one path cut", 0.0, lists(cuts, Look::Dots)),
    ];
    let title = "Keys read a note of which token; queries read a note of where";
    NamedRows::new(&names, 28.0, 2).stacked().figure(title, &panels)
}

pub(super) fn forming(_: &Args) -> Result<Figure> {
    let run = runs("two layers")?.swap_remove(0);
    let steps = numbers(&run["curve"]["step"])?;
    let line = |name: &str, key: &str| -> Result<(String, Vec<[f64; 2]>)> {
        let points = steps.iter().zip(numbers(&run["curve"][key])?).map(|(&x, y)| [x, y]);
        Ok((name.to_owned(), points.filter(|[step, _]| *step <= FORMING).collect()))
    };
    let all = vec![
        line("accuracy", "score")?,
        line("layer 0, on the token before", "previous_copied")?,
        line("layer 1, on the token to copy", "after_last_same")?,
    ];
    let title = "Both heads form at once, and accuracy jumps with them";
    let panel = lines_panel("accuracy and attention weights, seed 0", "steps", all);
    Ok(lines(title, &[panel])?)
}

pub(super) fn removed(_: &Args) -> Result<Figure> {
    type Pick = fn([f64; 3]) -> f64;
    let kinds: [(&str, &str, usize, Pick); 4] = [
        ("layer 0, needed most", "heads", 0, |[least, ..]| least),
        ("layer 0, random", "random", 0, |[_, median, _]| median),
        ("layer 1, needed most", "heads", 1, |[least, ..]| least),
        ("layer 1, random", "random", 1, |[_, median, _]| median),
    ];
    let of = |how: &'static str| -> Result<Vec<Vec<f64>>> {
        let rows = kinds.iter().map(|(_, what, layer, pick)| {
            let mut all = each(["two layers"], |run| {
                let scores = rows(&run["removed"][how][what])?;
                Ok(pick(ends(scores[*layer].iter().copied())))
            })?;
            Ok(all.swap_remove(0))
        });
        rows.collect()
    };
    let series =
        [("zero", of("zero")?), ("mean", of("mean")?), ("resample", of("resample")?)];
    let what = "right, when it is replaced by …";
    let panel = RowPanel::percent(what, 0.0, lists(series, Look::Runs));
    let title =
        "The first layer needs one of its heads; the second layer needs none alone";
    let names = owned(&kinds.map(|(name, ..)| name));
    NamedRows::new(&names, 60.0, 1).figure(title, &[panel])
}

pub(super) fn distractors(_: &Args) -> Result<Figure> {
    let shown = &SHOWN[..3];
    let all = |key: &'static str| {
        each(shown.iter().copied(), |run| Ok(number(&run["distractors"][key])))
    };
    let [wrong, named] = ["wrong", "named"].map(|key| -> Result<Vec<f64>> {
        Ok(all(key)?.iter().map(|of| of.iter().sum::<f64>()).collect())
    });
    let named = named?.into_iter().zip(wrong?).map(|(n, all)| vec![n / all]);
    let right =
        [("without distractors", all("score_without")?), ("with them", all("score")?)];
    let named =
        [("without distractors", vec![Vec::new(); 3]), ("with them", named.collect())];
    let panels = [
        RowPanel::percent("right", 0.0, lists(right, Look::Runs)),
        RowPanel::percent("wrong answers that name one", 0.0, lists(named, Look::Dots)),
    ];
    let title = "Distractors harm one layer of 32 heads most, and it answers with them";
    NamedRows::new(&owned(shown), 48.0, 2).figure(title, &panels)
}

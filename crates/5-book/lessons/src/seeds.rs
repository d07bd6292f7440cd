//! Reading what `training` keeps of many seeds, and their learning curves.

use anyhow::{Context, Result, ensure};
use attention::median;
use figures::{
    Axis, Chart, DASHES, Figure, Mark, Panel, Table, escaped, palette, rounded, sketch,
};
use serde_json::Value;

/// A list of numbers in a run; null is NaN.
///
/// # Errors
/// If it is none.
pub fn numbers(list: &Value) -> Result<Vec<f64>> {
    let list = list.as_array().context("a list")?;
    let number = |x: &Value| match x {
        Value::Null => Ok(f64::NAN),
        x => x.as_f64().context("a number"),
    };
    list.iter().map(number).collect()
}

/// A list of such lists.
///
/// # Errors
/// If it is none.
pub fn rows(list: &Value) -> Result<Vec<Vec<f64>>> {
    list.as_array().context("rows")?.iter().map(numbers).collect()
}

/// The numbers of the runs of one kind of model, one after the other; a run may have a list.
///
/// # Errors
/// If these are no runs.
pub fn of_kind(runs: &str, kind: &str, key: &str) -> Result<Vec<f64>> {
    let runs: Vec<Value> = serde_json::from_str(runs)?;
    let of_kind = runs.iter().filter(|run| run["model"] == kind);
    let list = |run: &Value| {
        run[key].as_f64().map_or_else(|| numbers(&run[key]), |x| Ok(vec![x]))
    };
    Ok(of_kind.map(list).collect::<Result<Vec<_>>>()?.concat())
}

/// One training: its loss and its score at some of its steps.
pub struct Curve {
    /// What it has in common with others, which are drawn alike: `3 heads`.
    group: String,
    /// What sets it apart within its group: `seed 0`.
    name: String,
    /// After how many steps it was looked at, rising.
    steps: Vec<usize>,
    losses: Vec<f64>,
    /// 1 is perfect.
    scores: Vec<f64>,
}

/// The learning curve of a run, one of a group. A look without a loss, as one before the
/// first step may be, is left out.
///
/// # Errors
/// If the run has no curve.
pub fn curve(group: &str, run: &Value) -> Result<Curve> {
    let curve = &run["curve"];
    let (steps, losses) = (numbers(&curve["step"])?, numbers(&curve["loss"])?);
    let scores = numbers(&curve["score"])?;
    let [n_steps, n_losses, n_scores] = [&steps, &losses, &scores].map(Vec::len);
    ensure!(
        n_steps == n_scores && n_steps >= n_losses,
        "a curve of {n_steps} steps, {n_losses} losses and {n_scores} scores"
    );
    let without_loss = n_steps - n_losses;
    Ok(Curve {
        group: group.to_owned(),
        name: format!("seed {}", run["seed"]),
        steps: steps[without_loss..].iter().map(|&step| step as usize).collect(),
        losses,
        scores: scores[without_loss..].to_vec(),
    })
}

/// The loss and the score of several trainings against their steps, one colour a group.
/// Scores below 0 are drawn on the axis.
///
/// # Errors
/// A loss or a score that is no number.
pub fn training_curves(title: &str, curves: &[Curve]) -> Result<Figure> {
    let mut groups: Vec<&str> = Vec::new();
    for curve in curves {
        if !groups.contains(&curve.group.as_str()) {
            groups.push(&curve.group);
        }
    }
    let last = curves.iter().flat_map(|curve| &curve.steps).copied().max().unwrap_or(1);
    let most = curves.iter().flat_map(|curve| &curve.losses).copied().fold(0.1, f64::max);
    let panel = |(title, end)| {
        let steps = Axis::numbers(last as f64).titled("steps");
        Panel::new(title, steps, Axis::numbers(end * 1.04), 220.0)
    };
    let each = curves.iter().flat_map(|curve| {
        let which = groups.iter().position(|known| *known == curve.group).unwrap_or(0);
        let first = curves.iter().find(|other| other.group == curve.group);
        let is_first = first.is_some_and(|first| std::ptr::eq(first, curve));
        [0, 1].map(|panel| curve.line(panel, which, is_first))
    });
    let groups: Vec<(&str, Vec<f64>)> =
        groups.iter().map(|group| (*group, last_scores(curves, group))).collect();
    let figure = Chart::new(title)
        .panels([("loss", most), ("score on the test set", 1.0)].map(panel))
        .marks(each)
        .columns(2)
        .above([34.0; 2])
        .tables([table(&groups)])
        .sketch(sketched(curves))
        .says(sentence(&groups));
    Ok(figure.figure()?)
}

impl Curve {
    /// The losses (0) or the scores (1), in the looks of its group, the `which`-th.
    fn line(&self, panel: usize, which: usize, is_first: bool) -> Mark {
        let (what, numbers) = [("loss", &self.losses), ("score", &self.scores)][panel];
        let told = self.steps.iter().zip(numbers).map(|(step, number)| {
            let (group, name) = (escaped(&self.group), escaped(&self.name));
            format!("{group}, {name}<br>after {step} steps: {what} {number:.3}")
        });
        let y = numbers.iter().map(|&number| rounded(number.max(0.0)));
        Mark::lines(self.steps.clone(), y)
            .on(panel)
            .named(&self.group)
            .of_group(&self.group, panel == 0 && is_first)
            .line(palette::head(which), 1.5)
            .dashed(DASHES[which])
            .opacity(0.75)
            .hover(told)
    }

    fn last_score(&self) -> f64 {
        self.scores.last().copied().unwrap_or(f64::NAN)
    }
}

/// The last score of each curve of a group, sorted.
fn last_scores(curves: &[Curve], group: &str) -> Vec<f64> {
    let of_group = curves.iter().filter(|curve| curve.group == group);
    let mut scores: Vec<f64> = of_group.map(Curve::last_score).collect();
    scores.sort_by(f64::total_cmp);
    scores
}

fn table(groups: &[(&str, Vec<f64>)]) -> Table {
    let row = |(group, scores): &(&str, Vec<f64>)| {
        let ends = [scores[0], median(scores.iter().copied()), scores[scores.len() - 1]];
        let [least, median, most] = ends.map(|x| format!("{x:.3}"));
        [(*group).to_owned(), scores.len().to_string(), least, median, most]
    };
    let columns = ["", "trainings", "least", "median", "most"];
    Table::new("Scores at the end", columns, groups.iter().map(row))
}

fn sketched(curves: &[Curve]) -> String {
    let name = |curve: &Curve| format!("{}, {}", curve.group, curve.name);
    let names: Vec<String> = curves.iter().map(name).collect();
    let width = sketch::longest(&names);
    let line = |(curve, name): (&Curve, &String)| {
        let drawn = sketch::columns(&curve.scores, 1.0);
        format!("{name:<width$}  {:6.3}  {drawn}", curve.last_score())
    };
    let lines: Vec<String> = curves.iter().zip(&names).map(line).collect();
    format!(
        "{}\n\nThe score at the end, and along the way. Full column: 1.",
        lines.join("\n")
    )
}

fn sentence(groups: &[(&str, Vec<f64>)]) -> String {
    let one = |(group, scores): &(&str, Vec<f64>)| {
        let (least, most) = (scores[0], scores[scores.len() - 1]);
        format!("{group}, {} trainings, from {least:.3} to {most:.3}", scores.len())
    };
    let each: Vec<String> = groups.iter().map(one).collect();
    let each = each.join("; ");
    format!("Two charts against steps: loss and score. Scores at the end: {each}.")
}

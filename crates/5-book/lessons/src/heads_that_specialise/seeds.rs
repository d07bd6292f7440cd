//! What many seeds came to, a dot for each.

use ablation::Replacement;
use anyhow::{Context, Result, ensure};
use figures::{Axis, Chart, Figure, Mark, Panel, palette};
use serde_json::Value;
use training::lookups::{LOOKUPS, Lookups};
use training::one_layer::Task;

use super::{codes, lookups, loudness, runs, score};
use crate::args::Args;
use crate::named_rows::{Look, NamedRows, RowList, RowPanel};
use crate::numbers::written;
use crate::seeds::{numbers, rows};

/// Numbers of heads, with how many steps they were trained.
pub const TRAININGS: [(u64, u64); 7] =
    [(1, 1000), (1, 4000), (2, 1000), (3, 1000), (4, 1000), (6, 1000), (8, 1000)];

/// The pixels of a row.
const ROW: f64 = 24.0;

/// A dot for each run.
fn runs_list(name: &str, rows: Vec<Vec<f64>>) -> Vec<RowList> {
    vec![RowList::new(name, rows, Look::Runs(palette::head(0)))]
}

pub(super) fn head_counts(_: &Args) -> Result<Figure> {
    let name = |(n_heads, n_steps)| match (n_heads, n_steps) {
        (1, 1000) => "1 head".to_owned(),
        (1, _) => "1 head, 4,000 steps".to_owned(),
        _ => format!("{n_heads} heads"),
    };
    let row = |(n_heads, n_steps)| -> Result<Vec<f64>> {
        runs(LOOKUPS, n_heads, n_steps)?.iter().map(score).collect()
    };
    let rows = TRAININGS.into_iter().map(row).collect::<Result<_>>()?;
    let title = "From three heads on, all ten seeds name all three words";
    let what = "right names, a dot for each seed";
    let panel = RowPanel::percent(what, 0.6, runs_list("seeds", rows));
    NamedRows::new(&TRAININGS.map(name), ROW, 1).figure(title, &[panel])
}

/// What is right in one of the two codes, by seed.
///
/// # Errors
/// If the file has other runs than it should.
pub fn in_code(what: &str, code: &str) -> Result<Vec<f64>> {
    let (shares, n_heads) = match what {
        "three" | "all" => (what, 1),
        "three_heads" => ("own", 3),
        _ => ("own", 1),
    };
    let is = |run: &Value| {
        run["code"] == code && run["shares"] == shares && run["heads"] == n_heads
    };
    let score = |run: Value| -> Result<f64> {
        match what {
            "equal" | "exchanged" => run["sizes"][what].as_f64().context("a score"),
            _ => super::score(&run),
        }
    };
    let scores = codes()?.into_iter().filter(is).map(score);
    let scores = scores.collect::<Result<Vec<_>>>()?;
    ensure!(scores.len() == 10, "{} runs of {what}, {code}", scores.len());
    Ok(scores)
}

/// The settings of the two codes, and what the figure calls them.
pub const SETTINGS: [(&str, &str); 5] = [
    ("own", "one head"),
    ("equal", "its weights made equal"),
    ("three", "trained equal on three"),
    ("all", "trained equal on ten"),
    ("three_heads", "three heads"),
];

pub(super) fn two_codes(_: &Args) -> Result<Figure> {
    let panel = |(code, heading): (&str, &str)| -> Result<RowPanel> {
        let rows = SETTINGS.map(|(what, _)| in_code(what, code));
        let rows = rows.into_iter().collect::<Result<_>>()?;
        Ok(RowPanel::percent(heading, 0.0, runs_list("seeds", rows)))
    };
    let codes = [("added", "right: identity + role"), ("bound", "right: bound tokens")];
    let panels = codes.into_iter().map(panel).collect::<Result<Vec<_>>>()?;
    let title =
        "With bound tokens, one head names three words from equal attention weights";
    let names = SETTINGS.map(|(_, name)| name.to_owned());
    NamedRows::new(&names, ROW, 2).figure(title, &panels)
}

pub(super) fn two_heads(_: &Args) -> Result<Figure> {
    let scores = lookups(2)?.into_iter().map(|run| numbers(&run["scores"]));
    let scores = scores.collect::<Result<Vec<_>>>()?;
    let seeds: Vec<String> =
        (0..scores.len()).map(|seed| format!("seed {seed}")).collect();
    let of_role = |(r, role): (usize, &&str)| {
        let look = Look::Dots(palette::beside_wrong(r));
        RowList::single(*role, scores.iter().map(|row| row[r]), look)
    };
    let roles = Lookups::default().targets();
    let lists = roles.iter().enumerate().map(of_role).collect();
    let panel = RowPanel::percent("right names of two heads", 0.0, lists);
    let title = "Two heads give up one word, or one of them reads two";
    NamedRows::new(&seeds, ROW, 1).figure(title, &[panel])
}

/// Whether each of three words has a head of its own, which gives it half or more: the head
/// that attends to a word most may attend to it hardly at all.
pub fn are_apart(focus: &[Vec<f64>], attending: &[f64]) -> bool {
    let gives = |(r, &head): (usize, &f64)| focus[head as usize][r] >= 0.5;
    let mut heads = attending.to_vec();
    heads.sort_by(f64::total_cmp);
    heads == [0.0, 1.0, 2.0] && attending.iter().enumerate().all(gives)
}

/// The norms of role vectors, as parts of an identity's, and in how many of how many seeds
/// each word then has a head of its own.
///
/// # Errors
/// If the file has other runs than it should.
pub fn by_norm() -> Result<Vec<(f64, usize, usize)>> {
    let all = loudness()?;
    let level = |level: &[Value]| -> Result<(f64, usize, usize)> {
        let apart = level.iter().map(|run| -> Result<bool> {
            Ok(are_apart(&rows(&run["focus"])?, &numbers(&run["attending"])?))
        });
        let apart = apart.collect::<Result<Vec<bool>>>()?;
        let squared = level[0]["loudness"].as_f64().context("a loudness")?;
        Ok((squared.sqrt(), apart.iter().filter(|&&it| it).count(), apart.len()))
    };
    all.chunk_by(|a, b| a["loudness"] == b["loudness"]).map(level).collect()
}

pub(super) fn role_norms(_: &Args) -> Result<Figure> {
    let levels = by_norm()?;
    let names: Vec<String> = levels.iter().map(|it| format!("{:.2}", it.0)).collect();
    let x = Axis::across(&names, 12).titled("norm of a role / norm of an identity");
    let all = levels[0].2;
    let y = Axis::numbers(all as f64 * 1.15).numbered_at([0, 5, 10, 15, 20]);
    let heading = format!("seeds of {all} in which each word has a head of its own");
    let bars = Mark::bars(levels.iter().map(|it| it.1))
        .named("seeds")
        .coloured(palette::head(0))
        .written(levels.iter().map(|it| it.1.to_string()), "outside");
    let title = "With larger norms of the roles, two heads often settle on the same word";
    Ok(Chart::new(title).panel(Panel::new(heading, x, y, 180.0), [bars]).figure()?)
}

/// What words lose over ten seeds, in one way of removal.
#[derive(Debug, Default)]
pub struct Losses {
    /// Without a head of their own.
    pub own: Vec<f64>,
    /// Without one of the other two.
    pub others: Vec<f64>,
    /// Without random directions.
    pub random: Vec<f64>,
}

impl Losses {
    /// Of the runs of three heads.
    ///
    /// # Errors
    /// If the file has other runs than it should.
    pub fn of(runs: &[Value], how: Replacement) -> Result<Self> {
        let mut lost = Self::default();
        for run in runs {
            let removed = &run["removed"][how.name()];
            let needed = numbers(&removed["needed"])?;
            for (head, row) in rows(&removed["heads"])?.iter().enumerate() {
                for (&own, &points) in needed.iter().zip(row) {
                    let is_own = own as usize == head;
                    if is_own { &mut lost.own } else { &mut lost.others }.push(points);
                }
            }
            lost.random.extend(rows(&removed["random"])?.concat());
        }
        Ok(lost)
    }
}

pub(super) fn removals(_: &Args) -> Result<Figure> {
    let runs = lookups(3)?;
    let panel = |how| -> Result<RowPanel> {
        let heading = match how {
            Replacement::Zero => "points lost: by zeros",
            Replacement::Mean => "by its mean",
            Replacement::Resample => "by another sentence's",
        };
        let Losses { own, others, random } = Losses::of(&runs, how)?;
        let points = |lost: Vec<f64>| lost.iter().map(|part| 100.0 * part).collect();
        let rows = [own, others, random].map(points).to_vec();
        let x = Axis::between([-4.0, 114.0]).numbered_at([0, 50, 100]);
        let one = |lost| written(lost, 1);
        Ok(RowPanel::new(heading, x, one, runs_list("words and seeds", rows)))
    };
    let panels = Replacement::ALL.into_iter().map(panel).collect::<Result<Vec<_>>>()?;
    let names = ["its own head", "another word's head", "random directions"];
    let title =
        "Without its own head, a word is almost lost; without another's, it is kept";
    NamedRows::new(&names.map(str::to_owned), ROW, 3).figure(title, &panels)
}

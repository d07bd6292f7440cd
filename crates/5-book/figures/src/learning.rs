//! Where a training has come to: the scores on the way, what each head attends to, and the
//! scores now, with all heads and without one.

mod drawn;

use attention::Matrix;

use crate::chart::Text;
use crate::heads::{check_entries, owned, share};
use crate::{Error, Figure, Result, Table, sketch};

/// The most targets that can be told apart.
const MOST_TARGETS: usize = 4;
/// How many looks the table and the text show.
const SHOWN: usize = 8;

/// A training on several targets, at one of its steps.
#[derive(Debug, Clone, Copy)]
pub struct Learning<'a> {
    /// The number of steps in all.
    pub n_steps: usize,
    /// After how many steps it was looked at, rising.
    pub steps: &'a [usize],
    /// What is learned.
    pub targets: &'a [&'a str],
    /// The scores at each look, one per target; 1 is perfect.
    pub scores: &'a [Vec<f64>],
    /// What each head attends to now, `[n_heads, n_tokens]`.
    pub rows: &'a Matrix,
    /// What the tokens are called.
    pub tokens: &'a [String],
    /// A head that is removed, and the score of each target without it.
    pub without: Option<(usize, &'a [f64])>,
}

/// Lines of the scores against steps, a heat map of what each head attends to, and bars of
/// the scores at the last look, without a head beside those with all.
///
/// Scores below 0 are drawn on the axis.
///
/// # Errors
/// [`Error::Sizes`] for no looks, targets, heads or tokens, or a map of another shape;
/// [`Error::TooMany`] above 4 targets or 16 heads; [`Error::Length`] for scores that do
/// not fit the targets or the looks; [`Error::Number`] for a score above 1 or a look after
/// the last step; [`Error::Entry`] for an entry of the map outside 0 to 1;
/// [`Error::NoSuchHead`].
pub fn learning(title: impl Into<String>, now: Learning) -> Result<Figure> {
    check(now)?;
    let tables = vec![scores_now(now), shares(now), scores_then(now)];
    let sketch = sketched(now, &tables[0]);
    let text = Text { alternative: told(now), sketch, tables };
    Ok(drawn::chart(now).drawn(title, text))
}

fn check(now: Learning) -> Result<()> {
    let Learning { n_steps, steps, targets, scores, rows, tokens, without } = now;
    attention::Error::expect_positive("the number of looks", steps.len())?;
    Error::expect_count("the number of targets", targets.len(), MOST_TARGETS)?;
    Error::expect_count("the number of heads", rows.nrows(), 16)?;
    attention::Error::expect_positive("the number of tokens", tokens.len())?;
    Error::expect_length("the list of scores", scores.len(), steps.len())?;
    let last = steps[steps.len() - 1] as f64;
    Error::expect_between("the last look's step", last, [0.0, n_steps as f64])?;
    for of_look in scores.iter().map(Vec::as_slice).chain(without.map(|it| it.1)) {
        Error::expect_length(
            "the list of scores of a look",
            of_look.len(),
            targets.len(),
        )?;
        for &score in of_look {
            Error::expect_between("a score", score, [f64::NEG_INFINITY, 1.0])?;
        }
    }
    let what = "the map of what heads attend to";
    attention::Error::expect_shape(what, (rows.nrows(), tokens.len()), rows.shape())?;
    check_entries(0, rows)?;
    match without {
        Some((number, _)) if number >= rows.nrows() => {
            Err(Error::NoSuchHead { number, known: (0..rows.nrows()).collect() })
        }
        _ => Ok(()),
    }
}

impl Learning<'_> {
    fn scores_now(&self) -> &[f64] {
        &self.scores[self.scores.len() - 1]
    }

    fn head_names(&self) -> Vec<String> {
        (0..self.rows.nrows()).map(|head| format!("head {head}")).collect()
    }

    /// The scores now and without a head, by what they are called.
    fn bars(&self) -> Vec<(String, &[f64])> {
        let without =
            self.without.map(|(head, scores)| (format!("without head {head}"), scores));
        let whole = ("all heads".to_owned(), self.scores_now());
        std::iter::once(whole).chain(without).collect()
    }
}

fn scores_now(now: Learning) -> Table {
    let (names, scores): (Vec<String>, Vec<&[f64]>) = now.bars().into_iter().unzip();
    let cell = |r: usize, nth: usize| format!("{:.3}", scores[nth][r]);
    Table::grid("Scores now", "", &owned(now.targets), &names, cell)
}

fn shares(now: Learning) -> Table {
    let cell = |head: usize, token: usize| share(now.rows[(head, token)]);
    Table::grid("What each head attends to", "", &now.head_names(), now.tokens, cell)
}

/// At most eight of the looks, the first and the last among them.
fn scores_then(now: Learning) -> Table {
    let last = now.steps.len() - 1;
    let mut looks: Vec<usize> = (0..SHOWN).map(|nth| last * nth / (SHOWN - 1)).collect();
    looks.dedup();
    let steps: Vec<String> = looks.iter().map(|&at| now.steps[at].to_string()).collect();
    let cell = |row: usize, r: usize| format!("{:.3}", now.scores[looks[row]][r]);
    Table::grid("Scores on the way", "steps", &steps, &owned(now.targets), cell)
}

fn sketched(now: Learning, scores: &Table) -> String {
    let names = owned(now.targets);
    let width = sketch::longest(&names);
    let line = |(r, name): (usize, &String)| {
        let scores: Vec<f64> = now.scores.iter().map(|scores| scores[r]).collect();
        format!("{name:<width$}  {}", sketch::columns(&scores, 1.0))
    };
    let lines: Vec<String> = names.iter().enumerate().map(line).collect();
    let map = [("attends to".to_owned(), now.rows)];
    format!(
        "{}\nThe scores on the way. Full column: 1.\n\n{}\nAcross: {}. Full block: 1.\n\n{}",
        lines.join("\n"),
        sketch::maps(&map, &now.head_names(), 1.0),
        now.tokens.join(", "),
        sketch::table(scores),
    )
}

fn told(now: Learning) -> String {
    let scores = |(name, scores): &(String, &[f64])| {
        let each = now.targets.iter().zip(*scores);
        let each: Vec<String> =
            each.map(|(target, score)| format!("{target} {score:.3}")).collect();
        format!("{name}, {}", each.join(", "))
    };
    let strongest = |(name, row): (&String, usize)| {
        let (token, entry) = now.rows.row(row).transpose().argmax();
        format!("{name}, {} {}", now.tokens[token], share(entry))
    };
    let bars: Vec<String> = now.bars().iter().map(scores).collect();
    let names = now.head_names();
    let rows: Vec<String> = names.iter().zip(0..).map(strongest).collect();
    format!(
        "Three charts: scores over {} of {} steps, a heat map of what each head attends \
         to, and bars of the scores. Scores with {}. Each head's largest share: {}.",
        now.steps[now.steps.len() - 1],
        now.n_steps,
        bars.join("; "),
        rows.join("; ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_figure;

    const TARGETS: [&str; 2] = ["agent", "place"];

    fn at<'a>(
        rows: &'a Matrix,
        tokens: &'a [String],
        scores: &'a [Vec<f64>],
    ) -> Learning<'a> {
        let (steps, without) = (&[0, 50, 80][..scores.len()], None);
        Learning { n_steps: 100, steps, targets: &TARGETS, scores, rows, tokens, without }
    }

    fn tokens() -> [String; 3] {
        ["verb", "place", "agent"].map(str::to_owned)
    }

    #[test]
    fn two_heads_and_one_of_them_removed() {
        let rows = Matrix::from_row_slice(2, 3, &[0.1, 0.1, 0.8, 0.05, 0.9, 0.05]);
        let scores = [vec![0.01, 0.02], vec![0.5, 0.02], vec![0.99, 0.75]];
        let without = Some((0, &[0.04, 0.75][..]));
        let (tokens, title) = (tokens(), "Without head 0 nobody knows who");
        let now = Learning { without, ..at(&rows, &tokens, &scores) };
        assert_figure!(learning(title, now).unwrap());
    }

    #[test]
    fn what_cannot_be_drawn_is_refused() {
        let rows = Matrix::from_element(1, 3, 0.3);
        let (tokens, scores) = (tokens(), [vec![0.5, 0.5]]);
        let refused = |change: &dyn Fn(&mut Learning)| {
            let mut now = at(&rows, &tokens, &scores);
            change(&mut now);
            learning("", now).unwrap_err().to_string()
        };
        insta::assert_snapshot!(refused(&|now| now.steps = &[]), @"the number of looks is 0, and must be at least 1");
        insta::assert_snapshot!(refused(&|now| now.steps = &[101]), @"the last look's step is 101, expected from 0 to 100");
        insta::assert_snapshot!(refused(&|now| now.steps = &[1, 2]), @"the list of scores has 1 entries, expected 2");
        insta::assert_snapshot!(refused(&|now| now.tokens = &now.tokens[1..]), @"the map of what heads attend to has shape (1, 3), expected (1, 2)");
        insta::assert_snapshot!(refused(&|now| now.targets = &["agent"]), @"the list of scores of a look has 2 entries, expected 1");
        insta::assert_snapshot!(refused(&|now| now.without = Some((1, &[0.0; 2]))), @"there is no head 1 here, only [0]");
        insta::assert_snapshot!(refused(&|now| now.without = Some((0, &[f64::NAN; 2]))), @"a score is NaN, expected at most 1");
    }
}

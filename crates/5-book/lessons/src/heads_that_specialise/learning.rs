//! Where a training has come to: the scores on the way, what each head attends to, and the
//! scores now, with all heads and without one.

use attention::Matrix;
use figures::{
    Axis, Chart, DASHES, FAINT, Figure, Grouping, Mark, NEUTRAL, Panel, Result, Table,
    by_cell, escaped, label_width, palette, rounded, share, share_map, sketch,
};

/// How many looks the table and the text show.
const SHOWN: usize = 8;
/// Of the map and the bars, in pixels.
const HEIGHT: f64 = 150.0;
/// Of the lines.
const LINES: f64 = 90.0;
/// Of a row of the map, at most.
const HIGHEST_ROW: f64 = 50.0;
const FONT_SIZE: usize = 12;

/// A training on several targets, at one of its steps.
#[derive(Clone, Copy)]
pub(super) struct Learning<'a> {
    /// The number of steps in all.
    pub(super) n_steps: usize,
    /// After how many steps it was looked at, rising.
    pub(super) steps: &'a [usize],
    /// What is learned.
    pub(super) targets: &'a [String],
    /// The scores at each look, one per target; 1 is perfect.
    pub(super) scores: &'a [Vec<f64>],
    /// What each head attends to now, `[n_heads, n_tokens]`.
    pub(super) rows: &'a Matrix,
    pub(super) tokens: &'a [String],
    /// A head that is removed, and the score of each target without it.
    pub(super) without: Option<(usize, &'a [f64])>,
}

impl Learning<'_> {
    /// A heat map of what each head attends to, whose rows a reader presses to remove a head;
    /// bars of the scores at the last look, without a head beside those with all; and below
    /// them lines of the scores against steps. Scores below 0 are drawn on the axis.
    pub(super) fn figure(self, title: String) -> Result<Figure> {
        let heads = self.head_names();
        let n_heads = heads.len() as f64;
        let steps = Axis::numbers(self.n_steps as f64).titled("steps");
        let tokens = Axis::across(self.tokens, FONT_SIZE).upright();
        let row = (HEIGHT / n_heads).min(HIGHEST_ROW);
        let now = match self.without {
            None => "right names, of 100".to_owned(),
            Some((head, _)) => format!("right names, and without head {head} (hatched)"),
        };
        let what = "attends to: press a head to remove it";
        let map = Panel::new(what, tokens, Axis::down(&heads, FONT_SIZE), n_heads * row);
        let targets = Axis::across(self.targets, FONT_SIZE + 1);
        let tables = [self.scores_now(), self.shares(), self.scores_then()];
        Chart::new(title)
            .columns(2)
            .left(label_width(&heads, FONT_SIZE))
            .below(label_width(self.tokens, FONT_SIZE).max(38.0))
            .above([34.0; 2])
            .grouped(Grouping::Beside)
            .bar_gap(0.2)
            .panel(map, self.map(&heads))
            .panel(
                Panel::new(now, targets, Axis::numbers(1.1), HEIGHT),
                (0..self.bars().len()).map(|nth| self.bar(nth)),
            )
            .panel(
                Panel::new("right names", steps, Axis::numbers(1.04), LINES).whole(),
                (0..self.targets.len()).map(|r| self.line(r)),
            )
            .sketch(self.sketch(&tables[0]))
            .tables(tables)
            .says(self.sentence())
            .figure()
    }

    /// The rows of the heads that are there, and in grey that of the one that is removed.
    fn map(self, heads: &[String]) -> Vec<Mark> {
        let shape = self.rows.shape();
        let is_removed = |i: usize| self.without.is_some_and(|(head, _)| head == i);
        let sets = by_cell(shape, |i, _| match is_removed(i) {
            true => "removed=no".to_owned(),
            false => format!("removed={i}"),
        });
        let of = |removed: bool, stops| {
            let cell =
                |i, j| (is_removed(i) == removed).then(|| rounded(self.rows[(i, j)]));
            let told = |i: usize, j: usize| {
                format!("{} → {}: {:.3}", heads[i], self.tokens[j], self.rows[(i, j)])
            };
            Mark::cells(by_cell(shape, cell), 1)
                .with_gaps()
                .scaled(stops, [0, 1])
                .hover(by_cell(shape, told))
                .sets(sets.clone())
        };
        let grey = vec![(0.0, FAINT), (1.0, NEUTRAL)];
        let frame =
            self.without.map(|(head, _)| share_map::frame([0, shape.1 - 1], [head; 2]));
        [of(false, palette::shares()), of(true, grey)].into_iter().chain(frame).collect()
    }

    fn line(self, r: usize) -> Mark {
        let target = escaped(&self.targets[r]);
        let told = self.steps.iter().zip(self.scores).map(|(step, scores)| {
            format!("{target} after {step} steps: {:.3}", scores[r])
        });
        let y = self.scores.iter().map(|scores| rounded(scores[r].max(0.0)));
        Mark::lines(self.steps.to_vec(), y)
            .named(&self.targets[r])
            .line(palette::beside_wrong(r), 2.0)
            .dashed(DASHES[r])
            .hover(told)
    }

    /// The bars with all heads, and hatched those without one.
    fn bar(self, nth: usize) -> Mark {
        let (name, scores) = &self.bars()[nth];
        let each = || self.targets.iter().zip(scores.iter());
        let told = each()
            .map(|(target, score)| format!("{name}, {}: {score:.3}", escaped(target)));
        let written = each().map(|(_, score)| format!("{:.0}", 100.0 * score));
        Mark::bars(scores.iter().map(|x| rounded(x.max(0.0))))
            .in_legend(false)
            .coloured_each((0..scores.len()).map(palette::beside_wrong))
            .hatched(nth > 0)
            .written(written, "outside")
            .text_size(12)
            .hover(told)
            .unclipped()
    }

    fn head_names(self) -> Vec<String> {
        (0..self.rows.nrows()).map(|head| format!("head {head}")).collect()
    }

    /// The scores now and without a head, by what they are called.
    fn bars(&self) -> Vec<(String, &[f64])> {
        let now = &self.scores[self.scores.len() - 1];
        let without =
            self.without.map(|(head, scores)| (format!("without head {head}"), scores));
        std::iter::once(("all heads".to_owned(), &now[..])).chain(without).collect()
    }

    fn scores_now(self) -> Table {
        let (names, scores): (Vec<String>, Vec<&[f64]>) = self.bars().into_iter().unzip();
        let cell = |r: usize, nth: usize| format!("{:.3}", scores[nth][r]);
        Table::grid("Scores now", "", self.targets, &names, cell)
    }

    fn shares(self) -> Table {
        let cell = |head: usize, token: usize| share(self.rows[(head, token)]);
        let caption = "What each head attends to";
        Table::grid(caption, "", &self.head_names(), self.tokens, cell)
    }

    /// At most eight of the looks, the first and the last among them.
    fn scores_then(self) -> Table {
        let last = self.steps.len() - 1;
        let mut looks: Vec<usize> =
            (0..SHOWN).map(|nth| last * nth / (SHOWN - 1)).collect();
        looks.dedup();
        let steps: Vec<String> =
            looks.iter().map(|&at| self.steps[at].to_string()).collect();
        let cell = |row: usize, r: usize| format!("{:.3}", self.scores[looks[row]][r]);
        Table::grid("Scores on the way", "steps", &steps, self.targets, cell)
    }

    fn sketch(self, scores: &Table) -> String {
        let width = sketch::longest(self.targets);
        let line = |(r, name): (usize, &String)| {
            let scores: Vec<f64> = self.scores.iter().map(|scores| scores[r]).collect();
            format!("{name:<width$}  {}", sketch::columns(&scores, 1.0))
        };
        let lines: Vec<String> = self.targets.iter().enumerate().map(line).collect();
        let map = [("attends to".to_owned(), self.rows)];
        format!(
            "{}\nThe scores on the way. Full column: 1.\n\n{}\nAcross: {}. Full block: 1.\n\n{}",
            lines.join("\n"),
            sketch::maps(&map, &self.head_names(), 1.0),
            self.tokens.join(", "),
            sketch::table(scores),
        )
    }

    fn sentence(self) -> String {
        let scores = |(name, scores): &(String, &[f64])| {
            let each = self.targets.iter().zip(*scores);
            let each: Vec<String> =
                each.map(|(target, score)| format!("{target} {score:.3}")).collect();
            format!("{name}, {}", each.join(", "))
        };
        let strongest = |(name, row): (&String, usize)| {
            let (token, entry) = self.rows.row(row).transpose().argmax();
            format!("{name}, {} {}", self.tokens[token], share(entry))
        };
        let bars: Vec<String> = self.bars().iter().map(scores).collect();
        let names = self.head_names();
        let rows: Vec<String> = names.iter().zip(0..).map(strongest).collect();
        format!(
            "Three charts: a heat map of what each head attends to, bars of the scores, and \
             lines of them over {} of {} steps. Scores with {}. Each head's largest \
             attention weight: {}.",
            self.steps[self.steps.len() - 1],
            self.n_steps,
            bars.join("; "),
            rows.join("; ")
        )
    }
}

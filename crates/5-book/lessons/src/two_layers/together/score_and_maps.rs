//! A heat map of each head, layer by layer, and below them the score against steps.

use attention::Matrix;
use figures::{
    Axis, Chart, FAINT, Figure, Mark, NEUTRAL, Panel, Result, Table, all_rounded,
    label_width, palette, rounded, share, share_map, sketch,
};

const FONT_SIZE: usize = 12;
/// Of the maps of a row, by how many there are, and of the score, in pixels.
const HEIGHTS: [f64; 4] = [176.0, 176.0, 168.0, 150.0];
/// So many tokens are drawn: the whole pattern is among them.
const N_DRAWN: usize = 12;
const SCORE: f64 = 70.0;

/// A stack at one of the steps of its training.
#[derive(Clone, Copy)]
pub(super) struct ScoreAndMaps<'a> {
    /// The number of steps in all.
    pub(super) n_steps: usize,
    /// After how many steps it was looked at, rising.
    pub(super) steps: &'a [usize],
    /// The score at each look; 1 is perfect.
    pub(super) scores: &'a [f64],
    pub(super) tokens: &'a [String],
    /// Of each layer its heads, what they are called and what they attend to now,
    /// `[n_tokens, n_tokens]`.
    pub(super) maps: &'a [Vec<(String, Matrix)>],
    /// The head that is removed, and the score without it.
    pub(super) without: Option<([usize; 2], f64)>,
}

impl ScoreAndMaps<'_> {
    /// Two layers of one or two heads stand side by side; of others the last one stands on
    /// top, as what it reads comes from below.
    pub(super) fn figure(self, title: String) -> Result<Figure> {
        let Self { tokens, maps, .. } = self;
        let n_heads = maps[0].len();
        let is_one_row = n_heads * maps.len() <= HEIGHTS.len();
        let n_columns = if is_one_row { n_heads * maps.len() } else { n_heads };
        let drawn = &tokens[..tokens.len().min(N_DRAWN)];
        let mut chart = Chart::new(title)
            .columns(n_columns)
            .narrow_columns(n_columns.min(2))
            .left(label_width(tokens, FONT_SIZE).max(30.0))
            .below(26.0);
        let layers =
            (0..maps.len()).map(|at| if is_one_row { at } else { maps.len() - 1 - at });
        for layer in layers {
            let heads = &maps[layer];
            for (head, (name, map)) in heads.iter().enumerate() {
                let x = Axis::across(drawn, FONT_SIZE).level();
                let y = Axis::down(drawn, FONT_SIZE);
                let is_removed = self.without.is_some_and(|(at, _)| at == [layer, head]);
                let name =
                    if is_removed { format!("{name} (removed)") } else { name.clone() };
                let name = match is_one_row {
                    true => name.replace("layer ", "L").replace(", head ", " H"),
                    false => name,
                };
                let panel = Panel::new(name, x, y, HEIGHTS[n_columns - 1]);
                chart = chart.panel(panel, [self.map([layer, head], map, is_removed)]);
            }
        }
        let x = Axis::numbers(self.n_steps as f64).titled("steps");
        // The number stands where it meets no line.
        let without = self.without.map_or(String::new(), |(_, left)| {
            format!("; without the head (orange): {left:.2}")
        });
        let score =
            format!("share of right answers{without} (click a map to remove its head)");
        let score = Panel::new(score, x, Axis::numbers(1.1), SCORE);
        chart
            .panel(score.whole(), self.score())
            .tables(self.tables())
            .sketch(self.sketch())
            .says(self.sentence())
            .figure()
    }

    /// A press removes the head; it is in grey then, and the next press has it back.
    fn map(self, at: [usize; 2], map: &Matrix, is_removed: bool) -> Mark {
        let n = self.tokens.len().min(N_DRAWN);
        let (map, tokens) = (map.view((0, 0), (n, n)).into_owned(), &self.tokens[..n]);
        let mark = share_map::trace(&map, tokens, tokens);
        match is_removed {
            true => mark
                .scaled(vec![(0.0, FAINT), (1.0, NEUTRAL)], [0, 1])
                .picks("removed=no"),
            false => mark.picks(format!("removed={}.{}", at[0], at[1])),
        }
    }

    /// The score over steps, and the level that is left without a head.
    fn score(self) -> Vec<Mark> {
        let told = self.steps.iter().zip(self.scores);
        let told = told.map(|(step, score)| format!("after {step} steps: {score:.3}"));
        let line = Mark::lines_and_marks(self.steps.to_vec(), all_rounded(self.scores))
            .line(palette::head(0), 2.5)
            .sized(5)
            .hover(told);
        let Some((_, left)) = self.without else { return vec![line] };
        let end = self.n_steps as f64;
        let level = Mark::lines([0.0, end], [rounded(left), rounded(left)]);
        vec![line, level.line(palette::wrong(), 3.0).in_legend(false).silent()]
    }

    /// The scores, then for each head the key that each query attends to most.
    fn tables(self) -> Vec<Table> {
        let row =
            |(step, score): (&usize, &f64)| [step.to_string(), format!("{score:.3}")];
        let scores = self.steps.iter().zip(self.scores).map(row);
        let scores = Table::new("The share of right answers", ["steps", "score"], scores);
        let of_map = |(name, map): &(String, Matrix)| {
            let row = |query: usize| {
                let (key, entry) = map.row(query).transpose().argmax();
                let place = |at: usize| format!("{} at {at}", self.tokens[at]);
                [place(query), place(key), share(entry)]
            };
            let rows = (0..self.tokens.len()).map(row);
            let caption = format!("What {name} attends to most");
            Table::new(caption, ["query", "key", "attention weight"], rows)
        };
        std::iter::once(scores).chain(self.maps.iter().flatten().map(of_map)).collect()
    }

    fn sketch(self) -> String {
        let maps: Vec<(String, &Matrix)> =
            self.maps.iter().flatten().map(|(name, map)| (name.clone(), map)).collect();
        format!(
            "score  {}\nFull column: 1.\n\n{}\nAcross: {}. Full block: 1.",
            sketch::columns(self.scores, 1.0),
            sketch::maps(&maps, self.tokens, 1.0),
            self.tokens.join(" "),
        )
    }

    fn sentence(self) -> String {
        let last = self.steps.len() - 1;
        let names: Vec<&str> =
            self.maps.iter().flatten().map(|(name, _)| name.as_str()).collect();
        format!(
            "A line of the share of right answers, {:.3} after {} of {} steps, and a heat \
             map of what each of these heads attends to: {}. The tokens: {}.",
            self.scores[last],
            self.steps[last],
            self.n_steps,
            names.join("; "),
            self.tokens.join(" "),
        )
    }
}

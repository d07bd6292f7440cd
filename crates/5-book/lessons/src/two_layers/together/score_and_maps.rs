//! A line of the score against steps, and next to it a heat map of each shown head.

use attention::Matrix;
use figures::{
    Axis, Chart, Figure, Mark, Panel, Result, Table, all_rounded, label_width, palette,
    share, share_map, sketch,
};

const FONT_SIZE: usize = 11;
/// Of every panel, in pixels.
const HEIGHT: f64 = 208.0;

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
    /// Two heads, what they are called and what they attend to now, `[n_tokens, n_tokens]`.
    pub(super) maps: &'a [(String, Matrix)],
}

impl ScoreAndMaps<'_> {
    pub(super) fn figure(self, title: String) -> Result<Figure> {
        let Self { n_steps, steps, scores, tokens, maps } = self;
        let told = steps.iter().zip(scores);
        let told = told.map(|(step, score)| format!("after {step} steps: {score:.3}"));
        let line = Mark::lines_and_marks(steps.to_vec(), all_rounded(scores))
            .line(palette::head(0), 2.0)
            .sized(4)
            .hover(told);
        let x = Axis::numbers(n_steps as f64).titled("steps");
        let score = Panel::new("share of right answers", x, Axis::numbers(1.04), HEIGHT);
        let mut chart = Chart::new(title)
            .columns(1 + maps.len())
            .left(label_width(tokens, FONT_SIZE).max(26.0))
            .panel(score, [line]);
        for (name, map) in maps {
            let x = Axis::across(tokens, FONT_SIZE).level();
            let panel = Panel::new(name, x, Axis::down(tokens, FONT_SIZE), HEIGHT);
            chart = chart.panel(panel, [share_map::trace(map, tokens, tokens)]);
        }
        chart.tables(self.tables()).sketch(self.sketch()).says(self.sentence()).figure()
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
        std::iter::once(scores).chain(self.maps.iter().map(of_map)).collect()
    }

    fn sketch(self) -> String {
        let maps: Vec<(String, &Matrix)> =
            self.maps.iter().map(|(name, map)| (name.clone(), map)).collect();
        format!(
            "score  {}\nFull column: 1.\n\n{}\nAcross: {}. Full block: 1.",
            sketch::columns(self.scores, 1.0),
            sketch::maps(&maps, self.tokens, 1.0),
            self.tokens.join(" "),
        )
    }

    fn sentence(self) -> String {
        let last = self.steps.len() - 1;
        let names: Vec<&str> = self.maps.iter().map(|(name, _)| name.as_str()).collect();
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

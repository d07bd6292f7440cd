//! Where a training has come to: its losses beside those of counting, what it wrote on the
//! way, the chances of the next letter, and a heat map of each head.

use attention::Matrix;
use figures::{
    Axis, Chart, Figure, Grouping, Mark, NARROW, NEUTRAL, Panel, Place, Result, Table,
    WIDE, all_rounded, ends, label_width, legend_room, palette, rounded, share,
    share_map, sketch,
};

use super::next_letter::NextLetter;
use super::word_list::named;

/// Of the panels above the maps, in pixels.
const HEIGHT: f64 = 150.0;
/// A map, in pixels.
const MAP: f64 = 132.0;
const FONT_SIZE: usize = 10;
/// Letters of the first of two panels of bars.
const N_IN_FIRST: usize = 14;

/// What was found out after some steps.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Look {
    pub(super) step: usize,
    /// The mean loss of the steps since the look before; none before any step.
    pub(super) learned: Option<f64>,
    /// The loss on words that are kept from it.
    pub(super) kept: f64,
    /// A word that it wrote then, at temperature 1.
    pub(super) wrote: String,
}

/// A head, where it looks, and whether it is off.
pub(super) struct ShownMap {
    pub(super) name: String,
    /// `[n_tokens, n_tokens]`.
    pub(super) map: Matrix,
    pub(super) is_off: bool,
}

/// A model at one of the steps of its training.
pub(super) struct Progress<'a> {
    pub(super) n_steps: usize,
    /// In order; at least one.
    pub(super) looks: &'a [&'a Look],
    /// The losses of counting, with their names.
    pub(super) rules: &'a [(&'static str, f64)],
    /// What it learns from: `names`.
    pub(super) called: &'a str,
    /// The letters that the next one follows.
    pub(super) beginning: &'a str,
    pub(super) next: &'a NextLetter,
    /// What all letters are called.
    pub(super) letters: &'a [String],
    /// What the maps are of.
    pub(super) tokens: &'a [String],
    pub(super) maps: &'a [ShownMap],
}

impl Progress<'_> {
    pub(super) fn figure(&self, title: String) -> Result<Figure> {
        let names = [self.kept_called(), self.learned_called(), LEFT_OUT.to_owned()];
        let above = legend_room(names.iter().map(String::as_str), 8.0);
        let mut marks = self.losses();
        marks.extend(self.written());
        marks.extend(self.bars());
        let maps = self.maps.iter().zip(FIRST_MAP..).map(|(shown, panel)| {
            let map = share_map::trace(&shown.map, self.tokens, self.tokens).on(panel);
            map.named(&shown.name).in_legend(false)
        });
        marks.extend(maps);
        let tables = self.tables();
        Chart::new(title)
            .by_width(|width| self.panels(width, above))
            .marks(marks)
            .grouped(Grouping::Stacked)
            .bar_gap(0.2)
            .sketch(self.sketch(&tables))
            .tables(tables)
            .says(self.sentence())
            .figure()
    }

    fn kept_called(&self) -> String {
        format!("{} kept from it", self.called)
    }

    fn learned_called(&self) -> String {
        format!("{} that it learned from, on the way", self.called)
    }

    fn panels(&self, width: f64, above: [f64; 2]) -> (Vec<Panel>, Place) {
        let (n_columns, above) =
            if width == NARROW { (2, above[1]) } else { (4, above[0]) };
        debug_assert!(width == WIDE || width == NARROW);
        let steps = Axis::numbers(self.n_steps as f64).titled("steps").in_short();
        let hidden = || Axis::hidden([0.0, 1.0]);
        let most = self.next.chances.iter().copied().fold(0.01, f64::max) * 1.15;
        // Each bar has its letter on it.
        let bars = |title: String| {
            let x = Axis::hidden([-0.5, N_IN_FIRST as f64 - 0.5]);
            Panel::new(title, x, Axis::numbers(most), HEIGHT)
        };
        let next = match self.beginning {
            "" => "chance of the first letter".to_owned(),
            letters => format!("what follows “{letters}”"),
        };
        let mut panels = vec![
            Panel::new("loss", steps, Axis::between(self.range()), HEIGHT),
            Panel::new("wrote on the way", hidden(), hidden(), HEIGHT),
            bars(next),
            bars(String::new()),
        ];
        for ShownMap { name, is_off, .. } in self.maps {
            let name = if *is_off { format!("{name} (off)") } else { name.clone() };
            let x = Axis::across(self.tokens, FONT_SIZE).upright();
            panels.push(Panel::new(name, x, Axis::down(self.tokens, FONT_SIZE), MAP));
        }
        let left = label_width(self.tokens, FONT_SIZE).max(34.0);
        let place =
            Place { width, n_columns, left, left_once: false, below: left, above };
        (panels, place)
    }

    /// From half to half, around all that is drawn, with room for a number at the top and for the
    /// name of a rule at the bottom.
    fn range(&self) -> [f64; 2] {
        let looks = self.looks.iter().flat_map(|look| [Some(look.kept), look.learned]);
        let rules = self.rules.iter().map(|(_, loss)| *loss);
        let [least, most] = ends(looks.flatten().chain(rules));
        [((2.0 * least - 0.3).floor() / 2.0).max(0.0), (2.0 * most).ceil() / 2.0 + 0.15]
    }

    /// The two losses over steps, and a rule for each way of counting.
    fn losses(&self) -> Vec<Mark> {
        let mut marks = Vec::new();
        for ((name, loss), (part, side)) in self.rules.iter().zip(BESIDE) {
            let end = self.n_steps as f64;
            marks.push(Mark::rule([[0.0, *loss], [end, *loss]]));
            let name = Mark::texts([part * end], [rounded(*loss)], [*name]).placed(side);
            marks.push(name.text_size(9).text_colour(NEUTRAL).in_legend(false).silent());
        }
        let line = |name: String, nth: usize, of: &dyn Fn(&Look) -> Option<f64>| {
            let points: Vec<(usize, f64)> = self
                .looks
                .iter()
                .filter_map(|look| Some((look.step, of(look)?)))
                .collect();
            let (steps, losses): (Vec<usize>, Vec<f64>) = points.into_iter().unzip();
            let told = steps.iter().zip(&losses);
            let told = told.map(|(step, loss)| format!("after {step} steps: {loss:.3}"));
            Mark::lines_and_marks(steps.clone(), all_rounded(&losses))
                .named(&name)
                .line(palette::head(nth), 2.0)
                .dashed(figures::DASHES[nth])
                .sized(4)
                .hover(told)
        };
        marks.push(line(self.kept_called(), 0, &|look| Some(look.kept)));
        if self.looks.iter().any(|look| look.learned.is_some()) {
            marks.push(line(self.learned_called(), 1, &|look| look.learned));
        }
        marks
    }

    /// The looks whose words are shown: the last one, and those at about twice as many steps
    /// as the one before.
    fn doubled(&self) -> Vec<&Look> {
        let mut shown: Vec<&Look> = Vec::new();
        for look in self.looks {
            if shown.last().is_none_or(|last| 2 * last.step <= look.step) {
                shown.push(look);
            }
        }
        let last = self.looks[self.looks.len() - 1];
        if shown.last().is_some_and(|it| it.step != last.step) {
            shown.pop();
            shown.push(last);
        }
        shown
    }

    /// What it wrote, a row a look.
    fn written(&self) -> [Mark; 2] {
        let shown = self.doubled();
        let height = |at: usize| rounded(1.0 - (at as f64 + 0.5) / N_ROWS as f64);
        let texts = |x: f64, texts: Vec<String>, colour| {
            let heights = (0..shown.len()).map(height);
            let mark = Mark::texts(vec![x; shown.len()], heights, texts);
            let mark =
                mark.on(1).placed("middle right").text_size(11).text_colour(colour);
            mark.in_legend(false).silent().unclipped()
        };
        let steps = shown.iter().map(|look| look.step.to_string()).collect();
        let words = shown.iter().map(|look| named(&look.wrote).to_owned()).collect();
        [texts(-0.2, steps, NEUTRAL), texts(0.08, words, palette::head(0))]
    }

    /// The chances of letters that may be drawn, and hatched those that top-p leaves out.
    fn bars(&self) -> Vec<Mark> {
        let NextLetter { chances, is_kept } = self.next;
        let n = chances.len();
        let panels = [(2, 0..N_IN_FIRST.min(n)), (3, N_IN_FIRST.min(n)..n)];
        let bars = panels.into_iter().flat_map(|(panel, own)| {
            [true, false].map(|kept| {
                let heights = own
                    .clone()
                    .map(|id| (is_kept[id] == kept).then(|| rounded(chances[id])));
                let told = own.clone().map(|id| {
                    let out = if kept { "" } else { ", left out" };
                    format!("{}: {}{out}", self.letters[id], share(chances[id]))
                });
                let letters = own.clone().map(|id| match id {
                    0 => "⏎",
                    id => self.letters[id].as_str(),
                });
                let name = if kept { MAY_COME } else { LEFT_OUT };
                Mark::bars(heights)
                    .with_gaps()
                    .on(panel)
                    .named(name)
                    .of_group(name, panel == 2 && !kept)
                    .coloured(if kept { palette::head(0) } else { NEUTRAL })
                    .hatched(!kept)
                    .written(letters, "outside")
                    .text_size(10)
                    .unclipped()
                    .hover(told)
            })
        });
        bars.collect()
    }

    fn tables(&self) -> [Table; 3] {
        let losses = self.looks.iter().map(|look| {
            let learned = look.learned.map(|loss| format!("{loss:.3}"));
            [
                look.step.to_string(),
                format!("{:.3}", look.kept),
                learned.unwrap_or_default(),
                named(&look.wrote).to_owned(),
            ]
        });
        let kept = format!("loss on {}", self.kept_called());
        let learned = format!("on {}", self.learned_called());
        let of_losses = ["steps", &kept, &learned, "wrote"].map(str::to_owned);
        let rules = self.rules.iter();
        let rules = rules.map(|(name, loss)| [(*name).to_owned(), format!("{loss:.3}")]);
        let NextLetter { chances, is_kept } = self.next;
        let next = (0..chances.len()).map(|id| {
            let may = if is_kept[id] { "yes" } else { "no" };
            [self.letters[id].clone(), share(chances[id]), may.to_owned()]
        });
        [
            Table::new(
                "The losses on the way",
                of_losses.each_ref().map(String::as_str),
                losses,
            ),
            Table::new("The losses of counting", ["what is counted", "loss"], rules),
            Table::new("The next letter", ["letter", "chance", "may be drawn"], next),
        ]
    }

    fn sketch(&self, tables: &[Table; 3]) -> String {
        let maps: Vec<(String, &Matrix)> =
            self.maps.iter().map(|shown| (shown.name.clone(), &shown.map)).collect();
        format!(
            "{}\n\n{}\n\n{}\nAcross: {}. Full block: 1.",
            sketch::table(&tables[0]),
            sketch::table(&tables[1]),
            sketch::maps(&maps, self.tokens, 1.0),
            self.tokens.join(" "),
        )
    }

    fn sentence(&self) -> String {
        let last = self.looks[self.looks.len() - 1];
        let rules = self.rules.iter().map(|(name, loss)| format!("{name} {loss:.3}"));
        let likeliest = self.next.likeliest();
        let after = match self.beginning {
            "" => "At the start".to_owned(),
            letters => format!("After “{letters}”"),
        };
        format!(
            "Lines of two losses over steps, {:.3} on {} after {} of {} steps; counting comes \
             to {}. {after}, the likeliest is {} ({}). Heat maps of {} heads on {}.",
            last.kept,
            self.kept_called(),
            last.step,
            self.n_steps,
            rules.collect::<Vec<_>>().join(", "),
            self.letters[likeliest],
            share(self.next.chances[likeliest]),
            self.maps.len(),
            self.tokens.join(" "),
        )
    }
}

const MAY_COME: &str = "may come next";
const LEFT_OUT: &str = "left out by top-p";
/// Where the names of rules stand, as a part of all steps, and on which side: apart from one
/// another where the rules lie close.
const BESIDE: [(f64, &str); 3] =
    [(1.0, "top left"), (0.66, "top left"), (0.45, "bottom left")];
/// Panels before the first map.
const FIRST_MAP: usize = 4;
/// Rows of words.
const N_ROWS: usize = 10;

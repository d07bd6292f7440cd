//! The figure of a training: its losses beside those of counting, what it writes, the chances
//! of the next letter, and a heat map of each head.

use figures::{
    Axis, Chart, FAINT, Figure, Grouping, Mark, NARROW, NEUTRAL, Panel, Place, Result,
    Table, all_rounded, ends, label_width, legend_room, palette, rounded, share,
    share_map,
};

use super::view::Now;
use super::word_list::{MOST_LETTERS, named};
use crate::a_gpt_from_nothing::next::letter;

/// Of the losses, of the next letter and of a map, in pixels.
const HEIGHTS: [f64; 3] = [150.0, 80.0, 132.0];
/// How wide the losses are where there is room, in pixels.
const LOSSES: f64 = 340.0;
const FONT_SIZE: usize = 12;
/// Where the names of rules stand, as a part of all steps, and on which side: apart from one
/// another where the rules lie close.
const BESIDE: [(f64, &str); 3] =
    [(1.0, "top left"), (0.66, "top left"), (0.45, "bottom left")];
/// Panels before the first map.
const FIRST_MAP: usize = 3;
/// Where words begin, left of their panel, as a part of its width.
const BEFORE: f64 = 0.13;

impl Now<'_> {
    pub(super) fn figure(&self) -> Result<Figure> {
        let [kept, learned] = self.called();
        let above = legend_room([&*kept, &learned].into_iter(), 8.0);
        let maps = self.maps.iter().zip(FIRST_MAP..).map(|((at, map), panel)| {
            let mark = share_map::trace(map, &self.tokens, &self.tokens).on(panel);
            let mark = mark.named(&map_of(*at)).in_legend(false);
            match self.set.off == Some(*at) {
                true => mark
                    .scaled(vec![(0.0, FAINT), (1.0, NEUTRAL)], [0, 1])
                    .picks("off=no"),
                false => mark.picks(format!("off={}.{}", at[0], at[1])),
            }
        });
        Chart::new(self.title())
            .by_width(|width| self.panels(width, above))
            .marks(self.losses())
            .marks([self.writes()])
            .marks(self.bars())
            .marks(maps)
            .grouped(Grouping::Stacked)
            .bar_gap(0.2)
            .tables(self.tables())
            .says(format!("Lines of losses, bars and maps. {}", self.words()))
            .figure()
    }

    /// What the words are called whose losses are drawn.
    fn called(&self) -> [String; 2] {
        ["kept from it", "that it learned from, on the way"]
            .map(|which| format!("{} {which}", self.run.list.called))
    }

    fn panels(&self, width: f64, above: [f64; 2]) -> (Vec<Panel>, Place) {
        let is_narrow = width == NARROW;
        let (n_columns, above) = if is_narrow { (2, above[1]) } else { (4, above[0]) };
        let left = label_width(&self.tokens, FONT_SIZE).max(34.0);
        let steps = Axis::numbers(self.run.n_steps as f64).titled("steps").in_short();
        let most = self.chances.iter().copied().fold(0.01, f64::max) * 1.25;
        let next = match &*self.beginning.letters {
            "" => "chance of the first letter".to_owned(),
            letters => format!("what follows “{letters}”"),
        };
        let press = if is_narrow { "" } else { " to write it" };
        let has_left_out = self.is_kept.contains(&false);
        let hatched = if has_left_out { "; hatched: left out by top-p" } else { "" };
        let next = format!("{next}: press a letter{press}{hatched}");
        // Each bar has its letter on it.
        let letters = Axis::hidden([-0.5, self.chances.len() as f64 - 0.5]);
        let bars = Panel::new(next, letters, Axis::numbers(most).in_short(), HEIGHTS[1]);
        let losses = Panel::new("loss", steps, Axis::between(self.range()), HEIGHTS[0]);
        let [x, y] = [[0.0, 1.0]; 2].map(Axis::hidden);
        let writes = Panel::new("writes now, by chance", x, y, HEIGHTS[0]);
        let beside = width - LOSSES - 2.0 * (left + 10.0);
        let above_bars = match is_narrow {
            true => [losses, writes].map(Panel::whole),
            false => [
                Panel { width: Some(LOSSES), ..losses },
                Panel { width: Some(beside), ..writes },
            ],
        };
        let mut panels: Vec<Panel> =
            above_bars.into_iter().chain([bars.whole()]).collect();
        panels.extend(self.maps.iter().map(|(at, _)| {
            let title = match self.off() {
                Some(loss) if self.set.off == Some(*at) => {
                    format!("head {} off: loss {loss:.2}", at[1])
                }
                _ => map_of(*at),
            };
            let [x, y] =
                [Axis::across, Axis::down].map(|axis| axis(&self.tokens, FONT_SIZE));
            Panel::new(title, x.upright(), y, HEIGHTS[2])
        }));
        (panels, Place { width, n_columns, left, below: 28.0, above, ..Place::default() })
    }

    /// From half to half, around all that is drawn, with room for a number at the top and for the
    /// name of a rule at the bottom.
    fn range(&self) -> [f64; 2] {
        let looks = self.looks.iter().flat_map(|look| [Some(look.kept), look.learned]);
        let rules = self.run.rules.iter().map(|(_, loss)| *loss);
        let [least, most] = ends(looks.flatten().chain(rules));
        [((2.0 * least - 0.3).floor() / 2.0).max(0.0), (2.0 * most).ceil() / 2.0 + 0.15]
    }

    /// The two losses over steps, and a rule for each way of counting.
    fn losses(&self) -> Vec<Mark> {
        let end = self.run.n_steps as f64;
        let rules = self.run.rules.iter().zip(BESIDE);
        let rules = rules.flat_map(|((name, loss), (part, side))| {
            let name = Mark::texts([part * end], [rounded(*loss)], [*name]).placed(side);
            let name = name.text_size(12).text_colour(NEUTRAL).in_legend(false).silent();
            [Mark::rule([[0.0, *loss], [end, *loss]]), name]
        });
        let kept = self.looks.iter().map(|look| (look.step, look.kept)).collect();
        let learned =
            self.looks.iter().filter_map(|look| Some((look.step, look.learned?)));
        let lines = [kept, learned.collect::<Vec<_>>()].into_iter().zip(self.called());
        let lines = lines.filter(|(points, _)| !points.is_empty()).enumerate();
        let lines = lines.map(|(nth, (points, name))| {
            let told = |(step, loss): &_| format!("after {step} steps: {loss:.3}");
            let told: Vec<String> = points.iter().map(told).collect();
            let (steps, losses): (Vec<usize>, Vec<f64>) = points.iter().copied().unzip();
            Mark::lines_and_marks(steps, all_rounded(&losses))
                .named(&name)
                .line(palette::head(nth), 2.0)
                .dashed(figures::DASHES[nth])
                .sized(4)
                .hover(told)
        });
        rules.chain(lines).collect()
    }

    /// What it writes now, in three columns, or in two where a word is long.
    fn writes(&self) -> Mark {
        let is_long = self.words.iter().any(|word| word.len() > 10);
        let (n, n_columns) = (self.words.len(), if is_long { 2 } else { 3 });
        let in_column = n.div_ceil(n_columns);
        let column = (1.0 + BEFORE) / n_columns as f64;
        let x = (0..n).map(|at| rounded(column * (at / in_column) as f64 - BEFORE));
        let height = |at: usize| 1.0 - ((at % in_column) as f64 + 0.5) / in_column as f64;
        let words = self.words.iter().map(|word| named(word).to_owned());
        let mark = Mark::texts(x, (0..n).map(|at| rounded(height(at))), words).on(1);
        let mark = mark.placed("middle right").text_size(14);
        mark.in_legend(false).silent().unclipped()
    }

    /// The chances of letters that may be drawn, and hatched those that top-p leaves out. A
    /// press on a letter writes it behind the beginning, and one on the end begins anew.
    fn bars(&self) -> Vec<Mark> {
        let Self { chances, is_kept, .. } = self;
        let letters = &self.beginning.letters;
        let bars = |kept: bool, of_end: bool| {
            let is_here = |id: usize| is_kept[id] == kept && (id == 0) == of_end;
            let told = chances.iter().enumerate().map(|(id, chance)| {
                let out = if kept { "" } else { ", left out" };
                format!("{}: {}{out}", letter(id), share(*chance))
            });
            let sign = |id| if id == 0 { "⏎".to_owned() } else { letter(id) };
            let heights = chances.iter().enumerate();
            let heights =
                heights.map(|(id, chance)| is_here(id).then(|| rounded(*chance)));
            let mark = Mark::bars(heights)
                .with_gaps()
                .on(2)
                .named(if kept { "may come next" } else { "left out by top-p" })
                .in_legend(false)
                .coloured(if kept { palette::head(0) } else { NEUTRAL })
                .hatched(!kept)
                .written((0..chances.len()).map(sign), "outside")
                .text_size(13)
                .unclipped()
                .hover(told);
            match of_end {
                true => mark.picks("beginning="),
                false if letters.len() == MOST_LETTERS => mark,
                false => mark.picks(format!("beginning={letters}{{text}}")),
            }
        };
        [(true, false), (true, true), (false, false), (false, true)]
            .map(|(kept, of_end)| bars(kept, of_end))
            .into()
    }

    fn tables(&self) -> [Table; 3] {
        let losses = self.looks.iter().map(|look| {
            let learned = look.learned.map(|loss| format!("{loss:.3}"));
            let (step, kept) = (look.step.to_string(), format!("{:.3}", look.kept));
            [step, kept, learned.unwrap_or_default(), named(&look.wrote).to_owned()]
        });
        let [kept, learned] = self.called();
        let (kept, learned) = (format!("loss on {kept}"), format!("on {learned}"));
        let rules = self.run.rules;
        let rules = rules.map(|(name, loss)| [name.to_owned(), format!("{loss:.3}")]);
        let next = self.chances.iter().zip(&self.is_kept).enumerate();
        let next = next.map(|(id, (chance, is_kept))| {
            let may = if *is_kept { "yes" } else { "no" };
            [letter(id), share(*chance), may.to_owned()]
        });
        let of_losses = ["steps", &*kept, &*learned, "wrote"];
        [
            Table::new("The losses on the way", of_losses, losses),
            Table::new("The losses of counting", ["what is counted", "loss"], rules),
            Table::new("The next letter", ["letter", "chance", "may be drawn"], next),
        ]
    }
}

/// What the map of a head is called.
fn map_of([block, head]: [usize; 2]) -> String {
    format!("block {block}, head {head}")
}

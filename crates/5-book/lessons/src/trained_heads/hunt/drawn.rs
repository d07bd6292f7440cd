//! The map of all links, and the chosen one head by head.

use anyhow::Result;
use figures::{
    Axis, Chart, Figure, Mark, NARROW, NEUTRAL, Panel, Place, Table, by_cell, escaped,
    palette, rounded, share_map,
};

use super::{ChosenLink, Link, RANDOM_LAYERS, Verdict};
use crate::numbers::share;
use crate::outlines::outlines;
use crate::trained::N_HEADS;
use crate::trained_heads::claims::TIMES_OTHERS;
use crate::trained_heads::verdicts::RARE;

/// Of the map and of the heads, where there is room and on a phone.
const HEIGHTS: [[f64; 2]; 2] = [[310.0; 2], [240.0, 180.0]];

impl ChosenLink<'_> {
    pub(super) fn figure(
        &self,
        title: String,
        links: &[Link],
        verdict: &Verdict,
    ) -> Result<Figure> {
        let tokens = &self.sentence.tokens;
        let map = self.largest()?;
        let told = by_cell(map.shape(), |i, j| {
            let [of, to] = [i, j].map(|at| escaped(&tokens[at]));
            format!("{of} → {to}: {} in the best head", share(map[(i, j)]))
        });
        let chosen = outlines([[self.query, self.key]], 2.5);
        let cells = share_map::cells(&map, told, 1)
            .named("links")
            .in_legend(false)
            .picks("query={row}&key={column}");
        let heads: Vec<String> =
            (0..N_HEADS).map(|head| format!("head {head}")).collect();
        let names = ["the link", "the others"].map(str::to_owned);
        let cell =
            |head: usize, at: usize| share([links[head].share, links[head].others][at]);
        let largest = |i: usize, j: usize| share(map[(i, j)]);
        let [of, to] = [self.query, self.key].map(|at| tokens[at].as_str());
        let best = links.iter().map(|link| link.share).fold(0.0, f64::max);
        Ok(Chart::new(title)
            .by_width(|width| self.panels(width, &heads))
            .marks([cells, self.column(), chosen])
            .marks(self.by_head(links).map(|mark| mark.on(1)))
            .marks(controls(verdict))
            .tables([
                Table::grid(self.what(), "", &heads, &names, cell),
                Table::grid("The largest of twelve heads", "", tokens, tokens, largest),
            ])
            .says(format!(
                "A map of the largest of twelve for every pair of tokens, and for {of} → \
                 {to}, at most {}, points by head: the link and what the other tokens give \
                 its key.",
                share(best)
            ))
            .figure()?)
    }

    fn panels(&self, width: f64, heads: &[String]) -> (Vec<Panel>, Place) {
        let tokens = &self.sentence.tokens;
        let is_narrow = width <= NARROW;
        let [map, by_head] = HEIGHTS[usize::from(is_narrow)];
        let left = 76.0;
        let panel = |title: &str, x: Axis, y: Axis, size: [f64; 2]| Panel {
            width: Some(size[0]),
            ..Panel::new(title, x, y, size[1])
        };
        let weights = Axis::numbers(1.0).numbered_at([0.0, 0.5, 1.0]);
        let panels = vec![
            panel(
                "query ↓ key →, the largest of 12 heads: click",
                Axis::across(tokens, 12).upright(),
                Axis::down(tokens, 12),
                [if is_narrow { 260.0 } else { 330.0 }, map],
            ),
            panel(self.what(), weights, Axis::down(heads, 12), [260.0, by_head]),
            panel(
                "its controls: a bar past the line fails",
                Axis::hidden([0.0, if is_narrow { 7.5 } else { 2.4 }]),
                Axis::hidden([2.5, -0.5]),
                [width - left - 10.0, 66.0],
            ),
        ];
        let n_columns = if is_narrow { 1 } else { 2 };
        let [below, above] = [44.0, if is_narrow { 66.0 } else { 28.0 }];
        (panels, Place { width, n_columns, left, below, above, ..Place::default() })
    }

    /// Beside the key's column, with which T compares the link.
    fn column(&self) -> Mark {
        let [left, right] = [-0.5, 0.5].map(|aside| self.key as f64 + aside);
        let [top, bottom] = [-0.5, self.sentence.tokens.len() as f64 - 0.5];
        Mark::lines([left, left, right, right, left], [top, bottom, bottom, top, top])
            .line("currentColor", 1.5)
            .dashed("dot")
            .in_legend(false)
            .silent()
            .unclipped()
    }

    /// The even row, what the others give, and the link.
    fn by_head(&self, links: &[Link]) -> [Mark; 3] {
        let [of, to] = [self.query, self.key].map(|at| self.sentence.tokens[at].as_str());
        let places: Vec<usize> = (0..links.len()).collect();
        let points = |name: String, x: fn(&Link) -> f64| {
            let told = links.iter().enumerate().map(|(head, link)| {
                format!("head {head}<br>{}: {}", escaped(&name), share(x(link)))
            });
            let told: Vec<String> = told.collect();
            let x = links.iter().map(|link| rounded(x(link)));
            Mark::points(x, places.clone()).named(&name).hover(told).unclipped()
        };
        let even = rounded(self.even());
        [
            Mark::lines([even; 2], [-0.5, N_HEADS as f64 - 0.5])
                .named("an even row")
                .line(NEUTRAL, 1.5)
                .dashed("dash")
                .silent(),
            points(format!("the others → {to}, mean"), |link| link.others)
                .marked("circle-open", 8)
                .coloured(NEUTRAL),
            points(format!("{of} → {to}"), |link| link.share)
                .marked("circle", 10)
                .coloured(palette::head(0)),
        ]
    }
}

/// Each control as a bar, which passes the line at its middle where the link fails; beside it
/// its letter, whether the link passes, and the number that decides.
fn controls(verdict: &Verdict) -> Vec<Mark> {
    let [pairs, of_random] = [verdict.pairs, verdict.random];
    let odds = verdict.link.odds();
    let times = if odds.is_finite() { format!("{odds:.1} ×") } else { "no".to_owned() };
    let n_random = |part: f64| (part * RANDOM_LAYERS as f64).round();
    let texts = [
        format!("word pairs: {:.0} % (at most {:.0})", 100.0 * pairs, 100.0 * RARE),
        format!(
            "random layers: {} of {RANDOM_LAYERS} (at most {})",
            n_random(of_random),
            n_random(RARE)
        ),
        format!("others' odds: {times} (at least {TIMES_OTHERS})"),
    ];
    let bounds = [pairs / RARE, of_random / RARE, TIMES_OTHERS / odds];
    let lengths = bounds.map(|part| rounded((part.max(0.0) / 2.0).clamp(0.005, 1.0)));
    let passes = verdict.controls();
    let colours =
        passes.map(|passes| if passes { palette::head(0) } else { palette::wrong() });
    let texts = ["P", "R", "T"].into_iter().zip(passes).zip(texts);
    let texts = texts.map(|((letter, passes), number)| {
        format!("<b>{letter} {}</b>  {number}", if passes { "✓" } else { "✗" })
    });
    let texts =
        Mark::texts([1.04; 3], [0, 1, 2], texts.collect::<Vec<_>>()).text_size(13);
    vec![
        Mark::lying_bars(lengths).coloured_each(colours).silent().on(2),
        Mark::lines([0.5; 2], [-0.5, 2.5])
            .line("currentColor", 1.5)
            .in_legend(false)
            .silent()
            .on(2),
        texts.placed("middle right").silent().unclipped().on(2),
    ]
}

//! The map of all links, and the chosen one head by head.

use anyhow::Result;
use figures::{
    Axis, Chart, Figure, Mark, NARROW, NEUTRAL, Panel, Place, Table, by_cell, escaped,
    palette, rounded, share_map,
};

use super::{ChosenLink, Link};
use crate::numbers::share;
use crate::outlines::outlines;
use crate::trained::N_HEADS;

/// Of the map and of the heads, where there is room and on a phone.
const HEIGHTS: [[f64; 2]; 2] = [[300.0; 2], [230.0, 170.0]];

impl ChosenLink<'_> {
    pub(super) fn figure(&self, title: String, links: &[Link]) -> Result<Figure> {
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
            .marks([cells, chosen])
            .marks(self.by_head(links).map(|mark| mark.on(1)))
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
        let panel = |title: &str, x: Axis, y: Axis, size: [f64; 2]| Panel {
            width: Some(size[0]),
            ..Panel::new(title, x, y, size[1])
        };
        let weights = Axis::numbers(1.0);
        let panels = vec![
            panel(
                "query ↓ key →, the largest of 12 heads",
                Axis::across(tokens, 11).upright(),
                Axis::down(tokens, 11),
                [if is_narrow { 260.0 } else { 300.0 }, map],
            ),
            panel(self.what(), weights, Axis::down(heads, 11), [260.0, by_head]),
        ];
        let n_columns = if is_narrow { 1 } else { 2 };
        let [below, above] = [62.0, if is_narrow { 66.0 } else { 28.0 }];
        (panels, Place { width, n_columns, left: 72.0, below, above, ..Place::default() })
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

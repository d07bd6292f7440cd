//! Lines from each query to the keys that it attends to, one colour a head.

mod layout;

use crate::chart::{self, Text};
use crate::figure::Drawn;
use crate::heads::share;
use crate::layout::NEUTRAL;
use crate::marks::Mark;
use crate::spec::Plot;
use crate::{Figure, Heads, Link, Table, escaped, palette, sketch};

/// Lines between queries (left) and keys (right), thicker for a larger share.
///
/// A head is chosen by its button (in a notebook, by its name in the legend); at first it
/// is the one of [`Heads::showing`], or the first. Shares below .05 get no line.
pub fn head_view(title: impl Into<String>, heads: &Heads) -> Figure {
    let of_heads = (0..heads.count()).flat_map(|nth| traces(heads, nth));
    let text = Text {
        alternative: format!(
            "Lines from queries to keys, one head at a time, for {}. {}",
            heads.sizes(),
            heads.strongest()
        ),
        sketch: sketched(heads),
        tables: (0..heads.count()).map(|nth| table(heads, nth)).collect(),
    };
    let plot = Plot {
        marks: token_dots(heads).into_iter().chain(of_heads).collect(),
        wide: layout::wide(heads),
        narrow: layout::narrow(heads),
        notebook: Some(layout::notebook(heads)),
    };
    chart::drawn(title, text, Drawn::Chart(Box::new(plot)))
}

/// A share from `least` up gets a line of this width and opacity. plotly gives one width
/// to a whole trace, so lines come in steps.
struct Step {
    least: f64,
    width: f64,
    opacity: f64,
}

const STEPS: [Step; 5] = [
    Step { least: 0.55, width: 8.0, opacity: 0.95 },
    Step { least: 0.35, width: 5.5, opacity: 0.85 },
    Step { least: 0.2, width: 3.5, opacity: 0.7 },
    Step { least: 0.1, width: 2.0, opacity: 0.5 },
    Step { least: 0.05, width: 1.0, opacity: 0.35 },
];

const LEFT: f64 = 0.0;
const RIGHT: f64 = 1.0;

/// Where a line starts and ends, clear of the dots.
const ENDS: [f64; 2] = [0.015, 0.985];

/// A grey dot at every token, whichever heads are shown.
fn token_dots(heads: &Heads) -> [Mark; 2] {
    let dots = |x: f64, n: usize, side: usize| {
        Mark::points(vec![x; n], 0..n)
            .sized(5)
            .coloured(NEUTRAL)
            .on(side)
            .in_legend(false)
            .silent()
    };
    [dots(LEFT, heads.queries.len(), 0), dots(RIGHT, heads.keys.len(), 1)]
}

/// A head: its lines, a trace a step, and a dot at each token to hover over.
fn traces(heads: &Heads, nth: usize) -> Vec<Mark> {
    let links = heads.links(nth);
    let mut above = f64::INFINITY;
    let mut traces = Vec::new();
    for step in &STEPS {
        let mut in_step = links
            .iter()
            .filter(|link| (step.least..above).contains(&link.share))
            .peekable();
        if in_step.peek().is_some() {
            traces.push(lines(nth, step, in_step));
        }
        above = step.least;
    }
    traces.extend(hover_dots(heads, nth, &links));
    traces.into_iter().map(|trace| of_head(heads, nth, trace)).collect()
}

/// One trace for all lines of a step.
fn lines<'a>(nth: usize, step: &Step, links: impl Iterator<Item = &'a Link>) -> Mark {
    let (mut x, mut y) = (Vec::new(), Vec::new());
    for link in links {
        x.extend([Some(ENDS[0]), Some(ENDS[1]), None]); // None lifts the pen
        y.extend([Some(link.query), Some(link.key), None]);
    }
    Mark::lines(x, y)
        .line(palette::head(nth), step.width)
        .opacity(step.opacity)
        .in_legend(false)
        .silent()
}

/// Dots that tell, when hovered over, where a token's attention goes or comes from.
fn hover_dots(heads: &Heads, nth: usize, links: &[Link]) -> [Mark; 2] {
    let from = |query: usize| {
        let ends = links.iter().filter(|link| link.query == query);
        let ends = ends.map(|link| (&heads.keys[link.key], link.share));
        description(format!("{} attends to", heads.queries[query]), ends)
    };
    let to = |key: usize| {
        let ends = links.iter().filter(|link| link.key == key);
        let ends = ends.map(|link| (&heads.queries[link.query], link.share));
        description(format!("{} is attended to by", heads.keys[key]), ends)
    };
    let dots = |x: f64, side: usize, description: Vec<String>| {
        Mark::points(vec![x; description.len()], 0..description.len())
            .sized(9)
            .coloured(palette::head(nth))
            .on(side)
            .lettered(description)
            .tells(format!("{}: {{text}}", heads.name(nth)))
            .unclipped()
    };
    let left = dots(LEFT, 0, (0..heads.queries.len()).map(from).collect());
    let right = dots(RIGHT, 1, (0..heads.keys.len()).map(to).collect());
    [left, right.in_legend(false)] // it is the left that the legend names
}

/// A heading and the five largest shares under it.
fn description<'a>(
    heading: String,
    ends: impl Iterator<Item = (&'a String, f64)>,
) -> String {
    let ends =
        ends.take(5).map(|(token, of)| format!("<br>{} {}", escaped(token), share(of)));
    escaped(&heading) + &ends.collect::<String>()
}

/// Puts a trace under its head's name, hidden unless that head is shown first.
fn of_head(heads: &Heads, nth: usize, trace: Mark) -> Mark {
    let name = heads.numbers[nth].to_string();
    trace.named(&name).with_group(heads.name(nth)).shown(nth == heads.shown)
}

/// The three strongest links of each head.
fn sketched(heads: &Heads) -> String {
    let strongest: Vec<Vec<String>> = (0..heads.count())
        .map(|nth| {
            heads.links(nth).into_iter().take(3).map(|l| arrow(heads, l)).collect()
        })
        .collect();
    let width = strongest.iter().map(|links| sketch::longest(links)).max().unwrap_or(0);
    let lines = strongest.iter().enumerate().map(|(nth, links)| {
        let links = links.iter().map(|link| format!("   {link:<width$}"));
        format!("{:<7}{}", heads.name(nth), links.collect::<String>())
            .trim_end()
            .to_owned()
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn arrow(heads: &Heads, link: Link) -> String {
    let (query, key) = (&heads.queries[link.query], &heads.keys[link.key]);
    format!("{query} ─▶ {key} {}", share(link.share))
}

/// What each query attends to in one head, as far as it is drawn.
fn table(heads: &Heads, nth: usize) -> Table {
    let least = STEPS[STEPS.len() - 1].least;
    let links = heads.links(nth);
    let drawn = |query: usize| {
        links.iter().filter(move |link| link.query == query && link.share >= least)
    };
    let row = |(query, token): (usize, &String)| {
        let keys =
            drawn(query).map(|l| format!("{} {}", heads.keys[l.key], share(l.share)));
        [token.clone(), keys.collect::<Vec<_>>().join(", ")]
    };
    let rows = heads.queries.iter().enumerate().map(row);
    Table::new(heads.name(nth), ["query", "attends to, from .05 up"], rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marks::Shape;
    use crate::testing::{NUMBERS, PILOT, assert_figure, attn};

    #[test]
    fn three_trained_heads_as_data_and_as_a_sketch() {
        let attn = attn();
        let heads = Heads::of_tokens(&attn, &PILOT).unwrap();
        let heads = heads.numbered(&NUMBERS).unwrap().showing(11).unwrap();
        assert_figure!(head_view("Head 11 looks back at the pilot", &heads));
    }

    #[test]
    fn each_share_from_the_threshold_up_is_one_line() {
        let attn = attn();
        let heads = Heads::of_tokens(&attn, &PILOT).unwrap();
        for (nth, map) in attn.iter().enumerate() {
            let drawn: usize = traces(&heads, nth)
                .into_iter()
                .filter(|trace| matches!(trace.shape, Shape::Points { lines: true, .. }))
                .map(|trace| trace.places().len() / 3)
                .sum();
            assert_eq!(drawn, map.iter().filter(|&&entry| entry >= 0.05).count());
        }
    }
}

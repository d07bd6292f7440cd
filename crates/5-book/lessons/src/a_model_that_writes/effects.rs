//! What changes when heads, paths or keys are missing, draw by draw.

use anyhow::{Context, Result};
use figures::{
    Axis, Chart, Figure, Mark, NEUTRAL, Panel, Table, escaped, palette, rounded,
};
use models::decoders::study::{MergedHeads, Windowed, Word};

use super::findings;
use crate::Args;
use crate::named_rows::{Look, NamedRows, RowList, RowPanel};
use crate::numbers::{ends, share};

/// A window breaks the model if its perplexity is at least this many times the whole
/// model's, and keeping tokens mends it if at most the other. Fixed before looking.
pub const BREAKS: f64 = 1.5;
/// At most this many times.
pub const MENDS: f64 = 1.1;

fn nats(loss: f64) -> String {
    format!("{loss:.2}")
}

fn perplexity(perplexity: f64) -> String {
    format!("{perplexity:.1}")
}

/// The pixels of a row.
const ROW: f64 = 24.0;

/// What was measured once, and what is known from draws of chance.
fn panel(
    title: &str,
    x: Axis,
    written: fn(f64) -> String,
    rows: &[Vec<f64>],
) -> RowPanel {
    let is_once = |row: usize| rows[row].len() == 1;
    let list = |name: &str, look| RowList::new(name, rows, look);
    let lists = [
        list("measured", Look::Dots(palette::head(0))).only(is_once),
        list("draws of chance", Look::Runs(NEUTRAL)).only(|row| !is_once(row)),
    ];
    let lists = lists.into_iter().filter(|list| !list.is_empty());
    RowPanel::new(title, x, written, lists.collect())
}

/// The heads that look back missing everywhere, or in one input of the copying heads.
pub(super) fn one_path(_: &Args) -> Result<Figure> {
    let findings = findings()?;
    let removed = [
        ("nothing is missing", "whole"),
        ("7 that look back", "previous"),
        ("7 others of their layers", "same layers"),
        ("7 random heads", "random"),
    ];
    let cut = [
        ("look back: keys alone", "previous", "keys"),
        ("look back: queries alone", "previous", "queries"),
        ("look back: values alone", "previous", "values"),
        ("look back: others' keys", "other readers", "keys"),
        ("7 others: keys alone", "same layers", "keys"),
    ];
    let mut cases = Vec::new();
    let [mut copying, mut later] = [const { Vec::new() }; 2];
    let mut row = |name: &str, of: Vec<[f64; 2]>| {
        cases.push(name.to_owned());
        copying.push(of.iter().map(|it| it[0]).collect());
        later.push(of.iter().map(|it| it[1]).collect());
    };
    for (name, what) in removed {
        let of = findings.composed.iter().filter(|it| it.what == what);
        row(name, of.map(|it| [it.copying, it.later]).collect());
    }
    for (name, what, from) in cut {
        let of = findings.paths.iter().filter(|it| it.what == what && it.from == from);
        row(name, of.map(|it| [it.copying, it.later]).collect());
    }
    let panels = [
        panel("mean attention weight of copying", Axis::numbers(1.0), share, &copying),
        panel("loss on later copies, nats", Axis::numbers(12.5), nats, &later),
    ];
    let title = "Removing the heads that look back from the copying heads' keys does almost \
                 as much harm as removing them everywhere";
    NamedRows::new(&cases, ROW, 2).figure(title, &panels)
}

/// The loss of a name's end, with and without a mention, and without heads.
pub(super) fn names(_: &Args) -> Result<Figure> {
    let words = &findings()?.words;
    let cases: Vec<String> =
        words.iter().map(|word| format!("Durs|{}", word.end.trim())).collect();
    let n = words.len();
    let once = |of: Vec<f64>, name: &str, symbol: &str, colour: &str| {
        let told = of.iter().zip(&cases).map(|(loss, case)| {
            format!("{}, {}<br>{}", escaped(case), escaped(name), nats(*loss))
        });
        let marks =
            Mark::points(of.iter().map(|&x| rounded(x)), (0..n).collect::<Vec<_>>());
        marks.named(name).marked(symbol, 11).coloured(colour).hover(told).unclipped()
    };
    let random = words
        .iter()
        .enumerate()
        .flat_map(|(row, word)| word.random.iter().map(move |&x| [x, row as f64]));
    let [x, y] = [0, 1]
        .map(|at| random.clone().map(|point| rounded(point[at])).collect::<Vec<_>>());
    let marks = [
        Mark::points(x, y)
            .named("mentioned twice, random heads gone")
            .marked("circle", 6)
            .coloured(NEUTRAL)
            .unclipped(),
        once(
            words.iter().map(|it| it.whole).collect(),
            "mentioned twice",
            "circle",
            palette::head(0),
        ),
        once(
            words.iter().map(|it| it.without).collect(),
            "mentioned twice, copying heads gone",
            "diamond",
            palette::wrong(),
        ),
        once(
            words.iter().map(|it| it.alone).collect(),
            "never mentioned",
            "circle-open",
            "currentColor",
        ),
    ];
    let table = names_table(words);
    let title = "Without its copying heads, the model mostly fails to finish names that it \
                 does not know";
    let panel = ("loss of the name's end, nats", Axis::between([-0.8, 20.5]));
    let chart = NamedRows::new(&cases, ROW, 1).chart(title, &[panel], [46.0, 84.0]);
    let says =
        "Rows of names: the loss of each name's end in four cases, as the table has it.";
    Ok(chart.marks(marks).tables([table]).says(says).figure()?)
}

fn names_table(words: &[Word]) -> Table {
    let columns =
        ["", "never mentioned", "twice", "copying heads gone", "random heads gone"];
    let row = |word: &Word| {
        let [least, _, most] = ends(word.random.iter().copied()).map(nats);
        let random = format!("{least} to {most}");
        let [alone, whole, without] = [word.alone, word.whole, word.without].map(nats);
        [format!("Durs|{}", word.end.trim()), alone, whole, without, random]
    };
    Table::new("Loss of the name's end, nats", columns, words.iter().map(row))
}

/// The perplexity through windows, with and without tokens that are kept.
pub(super) fn windows(_: &Args) -> Result<Figure> {
    let windows = &findings()?.windows;
    let whole = windows.iter().find(|it| it.what == "whole").context("no window")?;
    let whole = whole.loss.exp();
    let cases = [
        ("none kept", "first", 0),
        ("the first kept", "first", 1),
        ("the first 4 kept", "first", 4),
        ("4 others kept", "elsewhere", 4),
    ];
    let lines =
        format!("lines: {} without a window, × {MENDS}, × {BREAKS}", perplexity(whole));
    let rules = [1.0, MENDS, BREAKS].map(|times| times * whole);
    let panels = [(256, "perplexity, window of 256"), (64, "perplexity, window of 64")];
    let panels = panels.map(|(width, title)| {
        let of = |(_, what, kept): &(&str, &str, usize)| -> Vec<f64> {
            let is_asked = |it: &&Windowed| {
                it.what == *what && it.kept == *kept && it.width == width
            };
            windows.iter().filter(is_asked).map(|it| it.loss.exp()).collect()
        };
        let x = Axis::between([40.0, 180.0]).titled(&lines);
        panel(title, x, perplexity, &cases.each_ref().map(of)).ruled(rules)
    });
    let names = cases.map(|(name, ..)| name.to_owned());
    let title = "One kept token mends the wide window, if it is the first";
    NamedRows::new(&names, ROW, 2).figure(title, &panels)
}

/// The perplexity with the heads of keys and values of one layer merged.
pub(super) fn one_layer_merged(_: &Args) -> Result<Figure> {
    let merged = &findings()?.merged;
    let line = |(way, colour, name): (&MergedHeads, &str, &str)| {
        let y = way.single.iter().map(|loss| rounded(loss.exp()));
        let told = way.single.iter().enumerate().map(|(layer, loss)| {
            format!("layer {layer}, {name}<br>{}", perplexity(loss.exp()))
        });
        let layers: Vec<usize> = (0..way.single.len()).collect();
        Mark::points(layers, y)
            .named(name)
            .marked("circle", 8)
            .coloured(colour)
            .hover(told)
            .unclipped()
    };
    let way = |how: &str| merged.ways.iter().find(|it| it.how == how).context("a way");
    let mean = way("mean")?;
    let all = mean.loss.exp();
    let rule = |at: f64| Mark::rule([[-0.5, at], [29.5, at]]);
    let note = |at: f64, text: String| {
        Mark::texts([-0.3], [at], [text])
            .placed("top right")
            .text_size(11)
            .in_legend(false)
            .silent()
    };
    let places = [50.0, 100.0, 200.0, 500.0, 1000.0, 2000.0, 5000.0, 10_000.0];
    let y = Axis::factors(places, places.map(|place| attention::thousands(place as u64)))
        .range([40f64, 12_000.0].map(f64::log10));
    let panel = Panel::new(
        "perplexity on prose",
        Axis::between([-0.5, 29.5])
            .titled("the layer whose three heads of keys and values are made one"),
        y,
        230.0,
    );
    let title =
        "The model survives merged keys and values in any one layer, not in all thirty";
    Ok(Chart::new(title)
        .left(44.0)
        .above([28.0; 2])
        .panel(
            panel,
            [
                rule(merged.whole.exp()),
                rule(all),
                note(
                    all,
                    format!(
                        "all thirty by their mean: {}",
                        attention::thousands(all.round() as u64)
                    ),
                ),
                line((way("first")?, NEUTRAL, "the first of them")),
                line((mean, palette::head(0), "their mean")),
            ],
        )
        .figure()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use attention::median;

    #[test]
    fn the_titles_are_true() {
        let findings = findings().unwrap();
        let path = |what: &str, from: &str| {
            findings.paths.iter().find(|it| it.what == what && it.from == from).unwrap()
        };
        let [keys, everywhere] =
            ["keys", "everywhere"].map(|from| path("previous", from));
        assert!((keys.copying - everywhere.copying).abs() < 0.01);
        assert!(path("previous", "queries").copying > 0.5);
        // The heads that look back, everywhere, are in both lists.
        let composed = findings.composed.iter().find(|it| it.what == "previous").unwrap();
        assert!(
            (composed.copying - everywhere.copying).abs() < 1e-6 && composed.heads == 7
        );
        // A name that the model knows without any mention survives; no other does, and
        // random heads are missed by none.
        let is_unlikely = |loss: &f64| *loss > 3.0;
        let known = findings.words.iter().filter(|word| !is_unlikely(&word.alone));
        assert_eq!(known.count(), 1);
        for word in &findings.words {
            assert_eq!(
                is_unlikely(&word.without),
                is_unlikely(&word.alone),
                "{}",
                word.end
            );
            assert!(!word.random.iter().any(is_unlikely), "{}", word.end);
        }
        let whole = findings.windows.iter().find(|it| it.what == "whole").unwrap().loss;
        for it in
            findings.windows.iter().filter(|it| it.width == 256 && it.what != "whole")
        {
            let is_mended = it.loss - whole <= MENDS.ln();
            assert_eq!(is_mended, it.what == "first" && it.kept > 0, "{it:?}");
        }
        for way in &findings.merged.ways {
            assert!(median(way.single.iter().copied()) - findings.merged.whole < 0.2);
            assert!(way.loss - findings.merged.whole > 4.0);
        }
    }
}

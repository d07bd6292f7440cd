//! An excerpt of real maps, and what a person can review of a figure.

pub(crate) mod drawn;

use std::fmt::Write;

use attention::Matrix;

use crate::{Figure, Heads, head_maps, sketch};

/// "The pilot flew the plane to Paris.", without [CLS] and [SEP], so rows sum to less
/// than 1. Three heads of the last layer of sentence-transformers/all-MiniLM-L6-v2
/// (Apache-2.0).
pub(crate) const PILOT: [&str; 8] =
    ["the", "pilot", "flew", "the", "plane", "to", "paris", "."];

/// The numbers of those heads in their layer.
pub(crate) const NUMBERS: [usize; 3] = [4, 5, 11];

#[rustfmt::skip]
const ATTN: [[f64; 64]; 3] = [
    [
        0.007721, 0.159585, 0.017043, 0.011009, 0.032823, 0.007607, 0.491715, 0.012044,
        0.017621, 0.205949, 0.022614, 0.018583, 0.041810, 0.011081, 0.461932, 0.020754,
        0.016446, 0.195841, 0.029775, 0.021084, 0.036976, 0.020713, 0.518373, 0.021202,
        0.010289, 0.142857, 0.017072, 0.014544, 0.038220, 0.008438, 0.557563, 0.015181,
        0.019615, 0.148269, 0.020621, 0.026501, 0.048796, 0.020439, 0.553026, 0.029575,
        0.010258, 0.139518, 0.027625, 0.013507, 0.027432, 0.010825, 0.462329, 0.012954,
        0.014073, 0.124382, 0.016938, 0.016222, 0.026484, 0.009832, 0.626817, 0.016690,
        0.011678, 0.150846, 0.019280, 0.015888, 0.035601, 0.009777, 0.434698, 0.017214,
    ],
    [
        0.010834, 0.137785, 0.015237, 0.016932, 0.224256, 0.004390, 0.379899, 0.013389,
        0.027451, 0.189067, 0.034980, 0.033732, 0.205221, 0.012163, 0.274902, 0.036048,
        0.012286, 0.180601, 0.029310, 0.018066, 0.287452, 0.005486, 0.254526, 0.011446,
        0.010659, 0.127640, 0.015329, 0.017570, 0.212193, 0.004527, 0.375786, 0.013898,
        0.005801, 0.179936, 0.023504, 0.008911, 0.246035, 0.004679, 0.459942, 0.008287,
        0.019486, 0.187371, 0.026569, 0.023319, 0.265076, 0.010882, 0.216861, 0.014863,
        0.015255, 0.177965, 0.030843, 0.019736, 0.125221, 0.011064, 0.388933, 0.021235,
        0.011291, 0.107721, 0.012552, 0.018190, 0.147574, 0.003718, 0.314036, 0.014104,
    ],
    [
        0.022555, 0.230906, 0.022892, 0.032203, 0.030542, 0.007493, 0.053518, 0.041536,
        0.020474, 0.357960, 0.048546, 0.031221, 0.042325, 0.014843, 0.082972, 0.048410,
        0.025623, 0.572270, 0.051897, 0.025363, 0.055720, 0.011452, 0.029614, 0.036748,
        0.022561, 0.205007, 0.028387, 0.035162, 0.047683, 0.010618, 0.079158, 0.039007,
        0.016116, 0.377349, 0.041971, 0.028893, 0.064489, 0.017021, 0.067762, 0.030729,
        0.033238, 0.304135, 0.040600, 0.036628, 0.035696, 0.015444, 0.030481, 0.047954,
        0.008103, 0.060030, 0.016503, 0.015718, 0.011173, 0.005701, 0.054114, 0.020890,
        0.024945, 0.193980, 0.030189, 0.033260, 0.039109, 0.009628, 0.070300, 0.041218,
    ],
];

/// The three maps.
pub(crate) fn attn() -> Vec<Matrix> {
    ATTN.iter().map(|map| Matrix::from_row_slice(8, 8, map)).collect()
}

/// A small figure of them.
pub(crate) fn figure() -> Figure {
    let attn = attn();
    let heads = Heads::of_tokens(&attn, &PILOT).unwrap().numbered(&NUMBERS).unwrap();
    head_maps("Three heads look at three things", &heads)
}

/// Compares a figure with a snapshot of the calling test's module: what is read of it, and
/// what is drawn, in brief.
macro_rules! assert_figure {
    ($figure:expr) => {
        let figure = $figure;
        let read = crate::testing::read(&figure);
        let drawn = crate::testing::drawn::drawn(&figure);
        insta::assert_snapshot!("figure", format!("{read}\n{drawn}"));
    };
}
pub(crate) use assert_figure;

/// Compares a diagram with a snapshot: what is read without it, and what is written in it.
/// Both drawings write the same, and nothing ends outside of them.
macro_rules! assert_diagram {
    ($figure:expr) => {
        let figure = $figure;
        let [wide, narrow] = figure.drawings().unwrap().map(crate::testing::texts);
        let sorted = |mut texts: Vec<String>| {
            texts.sort();
            texts.dedup(); // a name may stand once beside several things, or at each
            texts
        };
        let read = crate::testing::read(&figure);
        let written = crate::layout::wrapped(&wide.join(" | "), 90).join("\n");
        insta::assert_snapshot!("diagram", format!("{read}\n{written}"));
        assert_eq!(sorted(wide), sorted(narrow));
    };
}
pub(crate) use assert_diagram;

/// The texts of a drawing, without their tags.
pub(crate) fn texts(svg: &str) -> Vec<String> {
    let texts = svg.split("<text ").skip(1);
    let text = |after: &str| {
        let (_, text) = after.split_once('>').unwrap();
        let (text, _) = text.split_once("</text>").unwrap();
        let mut plain = String::new();
        for part in text.split('<') {
            plain += part.split_once('>').map_or(part, |(_, plain)| plain);
        }
        plain.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    };
    texts.map(text).collect()
}

/// All that a figure says in text: title and sketch, the alternative, and the tables that
/// the sketch does not show.
pub(crate) fn read(figure: &Figure) -> String {
    let mut text = format!("{figure}\n\n{}\n", figure.alternative());
    for table in figure.tables() {
        let rows = sketch::table(table);
        let rows =
            if figure.sketch().contains(&rows) { "as in the sketch" } else { &rows };
        let _ = write!(text, "\n{}\n{rows}\n", table.caption);
    }
    text
}

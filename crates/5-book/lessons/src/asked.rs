//! What people ask of their own code, and no chapter computes: small numbers on the trained
//! layer, for the pages of questions.

use anyhow::Result;
use attention::{
    Mask, Matrix, MultiHeadAttention, Rng, RowVector, SeedableRng, softmax_rows,
};
use block::{Dropout, sinusoidal};
use figures::{Axis, Chart, Figure, Mark, Panel, label_width, palette};
use variants::{Changes, Pairing, QkNorm, Rotary, VariantAttention, yarn_amplitude};

use crate::args::{Args, Entry};
use crate::numbers::{apart, ends, written};
use crate::trained;

pub(crate) const FIGURES: &[Entry] = &[
    ("path-lengths", path_figure),
    ("dropped-rows", dropped_figure),
    ("last-token", last_token_figure),
    ("same-rows", same_rows_figure),
    ("left-padding", left_padding_figure),
    ("cache-slips", cache_slips_figure),
    ("norm-and-rotation", norm_figure),
    ("yarn-twice", yarn_figure),
];

/// The sentence that they are measured on.
const SENTENCE: &str = "river_banks";
/// The chance of dropout.
pub const P_DROPPED: f64 = 0.1;
/// How many tokens of padding stand in front.
pub const N_PADDING: usize = 3;
/// How much longer than in the training a text is that YaRN stretches for.
pub const STRETCH: f64 = 32.0;

/// What is measured, by its name.
pub type Named = (&'static str, f64);

fn x() -> Result<&'static Matrix> {
    Ok(&trained::layer()?.sentence(SENTENCE)?.input)
}

fn tokens() -> Result<&'static [String]> {
    Ok(&trained::layer()?.sentence(SENTENCE)?.tokens)
}

/// The trained layer with something changed in its formula.
fn layer(changes: Changes) -> Result<VariantAttention> {
    Ok(VariantAttention::from_packed(trained::layer()?.parameters.pack(), changes)?)
}

fn rotary() -> Result<Rotary> {
    let d_k = trained::layer()?.parameters.dims().d_k();
    Ok(Rotary::new(Pairing::Halves, d_k, 10_000.0)?)
}

/// How far each row is.
fn rows_apart(found: &Matrix, expected: &Matrix) -> Vec<f64> {
    let row = |i| apart(&found.rows(i, 1).into(), &expected.rows(i, 1).into());
    (0..found.nrows()).map(row).collect()
}

/// What carries a token's row to another token, and how many tokens back one step of it
/// reaches; attention reaches all.
pub const CARRIERS: [(&str, Option<usize>); 3] =
    [("recurrence", Some(1)), ("convolution, 5 wide", Some(4)), ("attention", None)];
/// The lengths of the texts of the figure.
pub const PATH_LENGTHS: [usize; 6] = [2, 4, 8, 16, 32, 64];

/// How many steps, one after the other, it takes until the last of `n` tokens depends on
/// the first, if a step lets each depend on those that it reaches.
pub fn steps_until_seen(n: usize, reach: Option<usize>) -> usize {
    let last = n - 1;
    let (mut first_seen, mut steps) = (last, 0);
    while first_seen > 0 {
        // The furthest token back that a token seen by now depends on, a step earlier.
        first_seen = reach.map_or(0, |reach| first_seen.saturating_sub(reach));
        steps += 1;
    }
    steps
}

/// The sums of head 9's rows, of which dropout has left some weights out, `[n]`.
///
/// # Errors
/// None; the layer is a part of the program.
pub fn sums_of_dropped_rows() -> Result<Vec<f64>> {
    let maps = trained::maps(&trained::layer()?.parameters, x()?)?;
    let mask = Dropout::new(P_DROPPED, Rng::seed_from_u64(1))?.mask(maps[9].shape());
    let dropped = maps[9].component_mul(&mask);
    Ok(dropped.row_iter().map(|row| row.sum()).collect())
}

/// How far the output of each token moves when another token takes the last one's place,
/// `[n]`.
///
/// # Errors
/// As [`sums_of_dropped_rows`].
pub fn moved_by_the_last(mask: &Mask) -> Result<Vec<f64>> {
    let (layer, mut other) = (layer(Changes::default())?, x()?.clone());
    let last = other.nrows() - 1;
    let first = other.row(1).into_owned();
    other.set_row(last, &first);
    let [before, after] = [x()?, &other].map(|x| layer.self_attend(x, mask));
    Ok(rows_apart(&after?.out, &before?.out))
}

/// How far the output of each token is from that under a causal mask, if none is given,
/// `[n]`.
///
/// # Errors
/// As [`sums_of_dropped_rows`].
pub fn apart_without_the_mask() -> Result<Vec<f64>> {
    let layer = layer(Changes::default())?;
    let [found, expected] = [Mask::None, Mask::Causal]
        .map(|mask| layer.self_attend(x()?, &mask).map_err(anyhow::Error::from));
    Ok(rows_apart(&found?.out, &expected?.out))
}

/// How far the outputs of a text move that is padded on the left, if padding is masked:
/// with positions that are added and count the padding, with such that do not, and with
/// rotary ones that count it.
///
/// # Errors
/// As [`sums_of_dropped_rows`].
pub fn padded_left() -> Result<[Named; 3]> {
    let (x, n) = (x()?, x()?.nrows());
    let table = sinusoidal(n + N_PADDING, x.ncols());
    let pad = |tokens: &Matrix| tokens.clone().insert_rows(0, N_PADDING, 0.5);
    let is_text = |_: usize, j: usize| j >= N_PADDING;
    let mask = Mask::Allowed(Matrix::from_fn(n + N_PADDING, n + N_PADDING, is_text));
    let plain = layer(Changes::default())?;
    let added = |first: usize| x + table.rows(first, n);
    let expected = plain.self_attend(&added(0), &Mask::None)?.out;
    let of_text = |out: Matrix| out.rows(N_PADDING, n).into_owned();
    let moved = |first: usize| -> Result<f64> {
        let out = plain.self_attend(&pad(&added(first)), &mask)?.out;
        Ok(apart(&of_text(out), &expected))
    };
    let rotated = layer(Changes { rotary: Some(rotary()?), ..Changes::default() })?;
    let by_rotation = apart(
        &of_text(rotated.self_attend(&pad(x), &mask)?.out),
        &rotated.self_attend(x, &Mask::None)?.out,
    );
    Ok([
        ("added, padding counted", moved(N_PADDING)?),
        ("added, text counted", moved(0)?),
        ("rotary, padding counted", by_rotation),
    ])
}

/// How far the output of the last token is from that of the whole pass, if it is computed
/// with a cache: as it should be; if its position is 0 again; if its causal mask counts from
/// the first key.
///
/// # Errors
/// As [`sums_of_dropped_rows`].
pub fn cache_slips() -> Result<[Named; 3]> {
    let (x, n) = (x()?, x()?.nrows());
    let layer = layer(Changes { rotary: Some(rotary()?), ..Changes::default() })?;
    let whole = layer.self_attend(x, &Mask::Causal)?.out.rows(n - 1, 1).into_owned();
    let (before, last) = (x.rows(0, n - 1).into_owned(), x.rows(n - 1, 1).into_owned());
    let mut cache = layer.cache();
    layer.forward_cached(&before, &mut cache)?;
    let right = layer.forward_cached(&last, &mut cache)?.out;
    let restarted: Vec<i64> = (0..n as i64 - 1).chain([0]).collect();
    let restarted = layer.self_attend_at(x, &restarted, &Mask::Causal)?.out;
    let from_the_top = layer.attend_to(&last, &cache, &Mask::CausalTopLeft)?.out;
    Ok([
        ("as it should be", apart(&right, &whole)),
        ("position 0 again", apart(&restarted.rows(n - 1, 1).into(), &whole)),
        ("mask from the first key", apart(&from_the_top, &whole)),
    ])
}

/// How far scores move if queries and keys are normalised behind their rotation and not
/// before it: with gains of 1, with one gain for both entries of a pair, with gains of each
/// entry's own.
///
/// # Errors
/// As [`sums_of_dropped_rows`].
pub fn norm_and_rotation() -> Result<[Named; 3]> {
    let q = trained::layer()?.parameters.heads()[9].w_q.forward(x()?)?;
    let d_k = q.ncols();
    let positions: Vec<i64> = (0..q.nrows() as i64).collect();
    let moved = |gain: &dyn Fn(usize) -> f64| -> Result<f64> {
        let gains = RowVector::from_fn(d_k, |_, entry| gain(entry));
        let norm = QkNorm { q: gains.clone(), k: gains, eps: 0.0 };
        let rotary = Some(rotary()?);
        let both = Changes { norm: Some(norm.clone()), rotary, ..Changes::default() };
        let right = both.prepare_queries(q.clone(), d_k, &positions)?;
        let rotated = Changes { norm: None, ..both.clone() };
        let rotated = rotated.prepare_queries(q.clone(), d_k, &positions)?;
        let normed = Changes { norm: Some(norm), ..Changes::default() };
        Ok(apart(&normed.prepare_queries(rotated, d_k, &positions)?, &right))
    };
    let half = d_k / 2;
    let other = |entry: usize| 0.5 + entry as f64 / half as f64;
    Ok([
        ("gains of 1", moved(&|_| 1.0)?),
        ("one gain a pair", moved(&|entry| other(entry % half))?),
        ("a gain an entry", moved(&other)?),
    ])
}

/// The largest weight of head 9's last row: without YaRN's factor, with it in queries and
/// keys, and if the scale has its square besides.
///
/// # Errors
/// As [`sums_of_dropped_rows`].
pub fn yarn_factors() -> Result<[Named; 3]> {
    let head = &trained::layer()?.parameters.heads()[9];
    let (q, k) = (head.w_q.forward(x()?)?, head.w_k.forward(x()?)?);
    let scores = &q * k.transpose() / (q.ncols() as f64).sqrt();
    let largest = |factor: f64| {
        let attn = softmax_rows(&scores * factor);
        attn.row(attn.nrows() - 1).max()
    };
    let squared = yarn_amplitude(STRETCH, 1.0).powi(2);
    Ok([
        ("no factor", largest(1.0)),
        ("in q and in k", largest(squared)),
        ("and in the scale", largest(squared.powi(2))),
    ])
}

/// Bars that lie under one another, with their numbers.
fn bars(title: String, what: &str, bars: &[(String, f64)]) -> Result<Figure> {
    let names: Vec<String> = bars.iter().map(|(name, _)| name.clone()).collect();
    let lengths: Vec<f64> = bars.iter().map(|(_, length)| *length).collect();
    let most = ends(lengths.iter().copied())[2].max(1e-9);
    let y = Axis::down(&names, 12);
    let panel =
        Panel::new(what, Axis::numbers(1.15 * most), y, 26.0 * names.len() as f64);
    let texts: Vec<String> = lengths.iter().map(|&length| written(length, 2)).collect();
    let mark = Mark::lying_bars(lengths).named(what).coloured(palette::head(0));
    let mark = mark.written(texts, "outside");
    Ok(Chart::new(title).left(label_width(&names, 12)).panel(panel, [mark]).figure()?)
}

fn named(all: [Named; 3]) -> [(String, f64); 3] {
    all.map(|(name, length)| (name.to_owned(), length))
}

/// A bar a token.
fn of_tokens(lengths: Vec<f64>) -> Result<Vec<(String, f64)>> {
    Ok(tokens()?.iter().cloned().zip(lengths).collect())
}

fn path_figure(_: &Args) -> Result<Figure> {
    let lengths = PATH_LENGTHS.map(|n| n as f64);
    let line = |(name, reach)| {
        let steps = PATH_LENGTHS.map(|n| steps_until_seen(n, reach) as f64);
        Mark::lines_and_marks(lengths, steps).named(name)
    };
    let marks = CARRIERS.map(line);
    let (across, up) = (Axis::numbers(66.0).titled("tokens"), Axis::numbers(66.0));
    let panel = Panel::new("steps from the first token to the last", across, up, 200.0);
    Ok(Chart::new("With attention, every token is one step away")
        .panel(panel, marks)
        .figure()?)
}

fn dropped_figure(_: &Args) -> Result<Figure> {
    let sums = sums_of_dropped_rows()?;
    let title = format!(
        "With dropout of {P_DROPPED} in training, rows of a map sum to 1 on average alone"
    );
    bars(title, "sum of a row", &of_tokens(sums)?)
}

fn last_token_figure(_: &Args) -> Result<Figure> {
    let title = "Without a causal mask, every token knows the last one".to_owned();
    let what = "how far an output moves with the last token";
    bars(title, what, &of_tokens(moved_by_the_last(&Mask::None)?)?)
}

fn same_rows_figure(_: &Args) -> Result<Figure> {
    let title = "Without the causal mask, the last row alone is right".to_owned();
    bars(
        title,
        "how far an output is from the right one",
        &of_tokens(apart_without_the_mask()?)?,
    )
}

fn left_padding_figure(_: &Args) -> Result<Figure> {
    let title = "Padding on the left shifts positions that are added".to_owned();
    bars(title, "how far outputs move", &named(padded_left()?))
}

fn cache_slips_figure(_: &Args) -> Result<Figure> {
    let title = "Two mistakes with a cache that only the next token reveals".to_owned();
    bars(title, "how far the last output is from the whole pass", &named(cache_slips()?))
}

fn norm_figure(_: &Args) -> Result<Figure> {
    let title =
        "A norm and a rotation commute until entries have gains of their own".to_owned();
    bars(title, "how far the order moves queries", &named(norm_and_rotation()?))
}

fn yarn_figure(_: &Args) -> Result<Figure> {
    let title = "Applied twice, YaRN's factor sharpens a row twice".to_owned();
    bars(title, "largest attention weight of a row", &named(yarn_factors()?))
}

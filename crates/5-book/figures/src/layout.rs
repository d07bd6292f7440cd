//! What all figures have in common: colours for any page, letters, lists of values.

use serde_json::{Number, Value};

/// Readable on white and on black: a notebook does not say which it is. In the book,
/// figures.js puts the theme's own colours in its place.
pub const NEUTRAL: &str = "#767676";

/// Lines behind what is drawn.
pub const FAINT: &str = "rgba(118,118,118,0.25)";

/// How wide a token is drawn, roughly: enough to leave room for it.
pub fn label_width(tokens: &[String], font_size: usize) -> f64 {
    let longest = tokens.iter().map(|token| token.chars().count()).max().unwrap_or(0);
    (longest as f64 * font_size as f64 * 0.6 + 8.0).min(140.0)
}

/// How many lines plotly's legend takes above a chart: one if all names fit side by side,
/// and otherwise columns that are as wide as the longest name.
pub(crate) fn legend_lines<'a>(
    names: impl Iterator<Item = &'a str> + Clone,
    width: f64,
) -> f64 {
    let entries = names.map(|name| name.chars().count() as f64 * 7.0 + 50.0);
    let (all, longest) =
        (entries.clone().sum::<f64>(), entries.clone().fold(1.0, f64::max));
    let room = width - 50.0;
    if all <= room {
        return 1.0;
    }
    let a_line = (room / longest).floor().max(1.0);
    (entries.count() as f64 / a_line).ceil()
}

/// A text as pages, drawings and plotly.js read it, where `<s>` stays a token and is no
/// tag. plotly.js knows no `&quot;`, so quotes stay too.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// A text whose `W_i^Q` and `d_k` are set low and high, in tags that both plotly.js and a
/// page know. Not for tokens, which stay as they are.
pub fn formula(plain: &str) -> String {
    let plain: Vec<char> = escaped(plain).chars().collect();
    let is_word = |at: usize| plain.get(at).is_some_and(|c| c.is_alphanumeric());
    let mut out = String::new();
    let mut at = 0;
    while let Some(&c) = plain.get(at) {
        // One letter alone, so that `padding_mask` keeps its line.
        let is_mark = at > 0 && is_word(at - 1) && is_word(at + 1) && !is_word(at + 2);
        let tag = match c {
            '_' => "sub",
            '^' => "sup",
            _ => "",
        };
        if is_mark && !tag.is_empty() {
            out += &format!("<{tag}>{}</{tag}>", plain[at + 1]);
            at += 2;
        } else {
            out.push(c);
            at += 1;
        }
    }
    out
}

/// What there is one of per point, bar or cell.
pub trait Values {
    /// As JSON.
    fn json(self) -> Value;

    /// As numbers; none where there is no finite one.
    fn column(self) -> Vec<Option<Number>>
    where
        Self: Sized,
    {
        match self.json() {
            Value::Array(list) => list.into_iter().map(as_number).collect(),
            _ => Vec::new(),
        }
    }

    /// As texts.
    fn texts(self) -> Vec<String>
    where
        Self: Sized,
    {
        serde_json::from_value(self.json()).unwrap_or_default()
    }
}

impl<I: IntoIterator<Item: Into<Value>>> Values for I {
    fn json(self) -> Value {
        Value::Array(self.into_iter().map(Into::into).collect())
    }
}

/// The number, if it is finite.
pub(crate) fn as_number(value: impl Into<Value>) -> Option<Number> {
    match value.into() {
        Value::Number(number) => Some(number),
        _ => None,
    }
}

/// The number with four decimals, which is what figures hold: short, and the same on
/// every machine.
pub fn rounded(number: f64) -> f64 {
    (number * 1e4).round() / 1e4
}

/// Each with four decimals.
pub fn all_rounded(numbers: &[f64]) -> Vec<f64> {
    numbers.iter().map(|&number| rounded(number)).collect()
}

/// The number with four digits that count, for axes on which decimals do not say enough.
pub fn significant(number: f64) -> f64 {
    format!("{number:.3e}").parse().unwrap_or(number)
}

/// The smallest and the largest.
pub fn ends(numbers: impl Iterator<Item = f64>) -> [f64; 2] {
    numbers.fold([f64::INFINITY, f64::NEG_INFINITY], |[least, most], number| {
        [least.min(number), most.max(number)]
    })
}

/// Lines of at most `width` characters, broken between words.
pub(crate) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.len() - 1;
        let line = &mut lines[last];
        if line.is_empty() {
            line.push_str(word);
        } else if line.chars().count() + 1 + word.chars().count() <= width {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_set_and_names_are_not() {
        let set = "W<sub>i</sub><sup>Q</sup>, √d<sub>k</sub> &lt; 2";
        assert_eq!(formula("W_i^Q, √d_k < 2"), set);
        assert_eq!(formula("padding_mask, a _ b, ^O"), "padding_mask, a _ b, ^O");
    }
}

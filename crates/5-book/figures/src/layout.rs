//! What all figures have in common: quiet axes, no tools, colours for any page.

use serde_json::{Map, Value, json};

/// Readable on white and on black: a notebook does not say which it is. In the book,
/// figures.js puts the theme's own colours in its place.
pub const NEUTRAL: &str = "#767676";

/// Lines behind what is drawn.
pub const FAINT: &str = "rgba(118,118,118,0.25)";

const TRANSPARENT: &str = "rgba(0,0,0,0)";

/// A layout as wide as its place, of fixed height, with so much room to the left, to the
/// right, above and below, all in pixels.
pub(crate) fn base(height: f64, margin: [f64; 4]) -> Value {
    let [left, right, above, below] = margin.map(|pixels| pixels as usize);
    json!({
        "autosize": true, "height": height.round() as usize,
        "margin": { "l": left, "r": right, "t": above, "b": below, "autoexpand": false },
        "font": { "family": "system-ui, sans-serif", "size": 12, "color": NEUTRAL },
        "paper_bgcolor": TRANSPARENT, "plot_bgcolor": TRANSPARENT,
        "dragmode": false, "hovermode": "closest",
    })
}

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

/// The object with these fields, each at its dotted path.
pub(crate) fn with<'a>(
    mut object: Value,
    fields: impl IntoIterator<Item = (&'a str, Value)>,
) -> Value {
    for (path, value) in fields {
        set(&mut object, path, value);
    }
    object
}

/// What there is one of per point or bar.
pub trait Values {
    /// As plotly reads them.
    fn json(self) -> Value;
}

impl<I: IntoIterator<Item: Into<Value>>> Values for I {
    fn json(self) -> Value {
        Value::Array(self.into_iter().map(Into::into).collect())
    }
}

/// Sets the field at a dotted path, making the objects on the way.
pub(crate) fn set(object: &mut Value, path: &str, value: Value) {
    let mut place = object;
    for step in path.split('.') {
        if !place.is_object() {
            *place = Value::Object(Map::new());
        }
        place = &mut place[step];
    }
    *place = value;
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

/// The layout with its title above, and room for it.
pub(crate) fn titled(layout: &Value, title: &str) -> Value {
    let lines = wrapped(title, 84);
    let room = lines.len() as f64 * 20.0 + 16.0;
    let mut layout = layout.clone();
    for path in ["/height", "/margin/t"] {
        if let Some(size) = layout.pointer_mut(path) {
            *size = json!(size.as_f64().unwrap_or(0.0) + room);
        }
    }
    // plotly hangs one line by its top, and the first of several by its middle.
    let above = if lines.len() == 1 { 8 } else { 21 };
    let lines: Vec<_> = lines.iter().map(|line| formula(line)).collect();
    layout["title"] = json!({
        "text": lines.join("<br>"),
        "font": { "size": 15 },
        "x": 0, "xref": "container", "xanchor": "left",
        "y": 1, "yref": "container", "yanchor": "top",
        "pad": { "t": above, "l": 8 },
    });
    layout
}

/// No tool bar, no zoom: there is nothing to find by zooming, and a page must scroll.
pub(crate) fn config() -> Value {
    json!({ "displayModeBar": false, "showTips": false })
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
    fn a_title_has_room_for_each_of_its_lines() {
        let layout = json!({ "height": 200, "margin": { "t": 10 } });
        let short = titled(&layout, "d_k").to_string();
        insta::assert_snapshot!(short, @r#"{"height":236.0,"margin":{"t":46.0},"title":{"font":{"size":15},"pad":{"l":8,"t":8},"text":"d<sub>k</sub>","x":0,"xanchor":"left","xref":"container","y":1,"yanchor":"top","yref":"container"}}"#);
        let long = titled(&layout, &"what there is to be seen ".repeat(4));
        let sizes = [&long["height"], &long["margin"]["t"], &long["title"]["pad"]["t"]];
        assert_eq!(sizes, [256.0, 66.0, 21.0]);
        assert_eq!(long["title"]["text"].as_str().unwrap().matches("<br>").count(), 1);
    }

    #[test]
    fn formulas_are_set_and_names_are_not() {
        let set = "W<sub>i</sub><sup>Q</sup>, √d<sub>k</sub> &lt; 2";
        assert_eq!(formula("W_i^Q, √d_k < 2"), set);
        assert_eq!(formula("padding_mask, a _ b, ^O"), "padding_mask, a _ b, ^O");
    }
}

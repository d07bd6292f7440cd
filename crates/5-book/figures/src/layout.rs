//! What all figures have in common: quiet axes, no tools, colours for any page.

use plotly::common::{Font, Title};
use plotly::layout::{Axis, DragMode, HoverMode, Layout, Margin};
use serde_json::{Map, Value, json};

/// Readable on white and on black: a notebook does not say which it is. In the book,
/// figures.js puts the theme's own colours in its place.
pub(crate) const NEUTRAL: &str = "#767676";

/// Lines behind what is drawn.
pub(crate) const FAINT: &str = "rgba(118,118,118,0.25)";

const TRANSPARENT: &str = "rgba(0,0,0,0)";

/// A layout as wide as its place, of fixed height.
pub(crate) fn base(height: f64, margin: Margin) -> Layout {
    Layout::new()
        .auto_size(true)
        .height(height.round() as usize)
        .margin(margin.auto_expand(false))
        .font(Font::new().family("system-ui, sans-serif").size(12).color(NEUTRAL))
        .paper_background_color(TRANSPARENT)
        .plot_background_color(TRANSPARENT)
        .drag_mode(DragMode::False)
        .hover_mode(HoverMode::Closest)
}

/// An axis with tokens at 0, 1, 2, … and nothing else; it cannot be dragged or zoomed, so
/// that a finger on the figure scrolls the page.
pub(crate) fn token_axis(tokens: &[String], font_size: usize) -> Axis {
    Axis::new()
        .tick_values((0..tokens.len()).map(|at| at as f64).collect())
        .tick_text(tokens.iter().map(|token| text(token)).collect())
        .tick_font(Font::new().size(font_size))
        .tick_length(0)
        .show_grid(false)
        .show_line(false)
        .zero_line(false)
        .fixed_range(true)
}

/// An axis of numbers from 0 to `end`, with faint lines across the panel.
pub(crate) fn number_axis(end: f64, title: &str) -> Axis {
    Axis::new()
        .range(vec![0.0, rounded(end)])
        .title(axis_title(title))
        .n_ticks(5)
        .tick_font(Font::new().size(11))
        .tick_length(0)
        .grid_color(FAINT)
        .zero_line_color(FAINT)
        .fixed_range(true)
}

/// How wide a token is drawn, roughly: enough to leave room for it.
pub(crate) fn label_width(tokens: &[String], font_size: usize) -> f64 {
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

/// plotly.js reads a few tags and entities in texts; tokens like `<s>` must stay tokens.
pub(crate) fn text(plain: &str) -> String {
    plain.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// A text whose `W_i^Q` and `d_k` are set low and high, in tags that both plotly.js and a
/// page know. Not for tokens, which stay as they are.
pub fn formula(plain: &str) -> String {
    let plain: Vec<char> = text(plain).chars().collect();
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

/// What an axis measures, in small letters.
pub(crate) fn axis_title(plain: &str) -> Title {
    Title::with_text(formula(plain)).font(Font::new().size(11))
}

/// Sets fields that the plotly crate has no setter for, in what `to_value` made of its
/// types (which never fails: they hold numbers, texts and lists).
pub(crate) fn with<const N: usize>(
    object: serde_json::Result<Value>,
    fields: [(&str, Value); N],
) -> Value {
    let mut object = object.unwrap_or_default();
    for (path, value) in fields {
        set(&mut object, path, value);
    }
    object
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
pub(crate) fn rounded(number: f64) -> f64 {
    (number * 1e4).round() / 1e4
}

/// The number with four digits that count, for axes on which decimals do not say enough.
pub(crate) fn significant(number: f64) -> f64 {
    format!("{number:.3e}").parse().unwrap_or(number)
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
    use crate::panels::{self, Panel, Place};
    use crate::testing::readable;
    use crate::{log_axis, palette};

    /// What the snapshots of the figures leave out.
    #[test]
    fn base_of_all_figures() {
        let tokens = ["it".to_owned(), "<s>".to_owned()];
        let powers = || log_axis::decades(0.5, 2e3, log_axis::power_of_ten);
        let panel = |title: &str, x, y| Panel {
            title: title.to_owned(),
            x,
            y,
            width: None,
            height: 100.0,
        };
        let panels = vec![
            panel("tokens", token_axis(&tokens, 12), token_axis(&tokens, 12)),
            panel("numbers", number_axis(1.5, "d_k"), number_axis(1.5, "")),
            panel("powers", powers(), powers()),
        ];
        let place = Place {
            width: panels::WIDE,
            n_columns: 2,
            left: 40.0,
            left_once: false,
            below: 30.0,
            above: 50.0,
        };
        let title = "A title that takes two lines, since it states what there is to be \
                     seen in W_i^Q and where to look";
        let heads: Vec<&str> = (0..16).map(palette::head).collect();
        let base = json!({
            "config": config(),
            "heads": heads,
            "layout": titled(&panels::layout(panels, &place), title),
            "shares": palette::shares(),
            "title of one line": titled(&json!({ "height": 200, "margin": { "t": 10 } }), "d_k"),
        });
        insta::assert_snapshot!("base", readable(&base));
    }

    #[test]
    fn formulas_are_set_and_names_are_not() {
        let set = "W<sub>i</sub><sup>Q</sup>, √d<sub>k</sub> &lt; 2";
        assert_eq!(formula("W_i^Q, √d_k < 2"), set);
        assert_eq!(formula("padding_mask, a _ b, ^O"), "padding_mask, a _ b, ^O");
    }
}

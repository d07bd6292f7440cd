//! What a figure's layout has of its own.
//!
//! All figures share a base: quiet axes, transparent paper, panels that get their room in
//! pixels, colours with names. One snapshot pins it, `base` of `layout`'s tests. A
//! figure's snapshot leaves it out, so that a change of the base changes one file, and a
//! change in a figure is not lost among a hundred lines that are the same everywhere.

use std::iter;

use plotly::layout::{Axis, Margin};
use serde_json::{Map, Value, json, to_value};

use crate::layout::{FAINT, NEUTRAL, axis_title, base, number_axis, token_axis, with};
use crate::panels::{self, GAP, axis_name, layout_key};
use crate::{Figure, log_axis, palette};

/// The traces, the layout without the base, and in which fields the other layouts differ
/// from it.
pub(crate) fn own(figure: &Figure) -> Value {
    let wide = of_layout(&figure.wide);
    let mut own = json!({ "data": figure.traces, "layout": wide });
    let others =
        [("narrow", Some(&figure.narrow)), ("notebook", figure.notebook.as_ref())];
    for (name, layout) in others {
        if let Some(layout) = layout {
            own[name] = changes(&wide, &of_layout(layout)).unwrap_or_default();
        }
    }
    together(with_named_colours(own))
}

/// The layout without the base. In place of fractions of the plot, each panel has its
/// title and its height in pixels.
fn of_layout(layout: &Value) -> Value {
    let panels = panels(layout);
    let mut rest = layout.clone();
    for (nth, panel) in panels.iter().enumerate() {
        for letter in ["x", "y"] {
            let axis = &mut rest[layout_key(letter, nth)];
            remove(axis, "domain");
            remove(axis, "anchor");
        }
        assert!(panel.height > 40.0, "panel {nth} is {} pixels high", panel.height);
        for (other, before) in panels[..nth].iter().enumerate() {
            assert!(!panel.overlaps(before), "panels {other} and {nth} overlap");
        }
    }
    if !panels.is_empty() {
        let titles = take_titles(&mut rest, panels.len());
        let titles = titles.into_iter().chain(iter::repeat(json!({})));
        let titled = titles.zip(&panels).map(|(mut title, panel)| {
            title["height"] = json!(panel.height);
            title
        });
        rest["panels"] = titled.collect();
    }
    let mut shared = with(to_value(base(0.0, Margin::new().right(GAP as usize))), []);
    if !panels.is_empty() {
        // The height is those of the panels, and what stands around them.
        remove(&mut rest, "height");
        remove(&mut shared, "height");
        let below = rest["margin"]["b"].as_f64().unwrap() - GAP;
        rest["margin"]["b"] = json!(below);
        for path in ["/legend", "/coloraxis/colorbar"] {
            if let Some(above) = rest.pointer_mut(path) {
                remove(above, "y");
            }
        }
        if rest.get("legend").is_some() {
            shared["legend"] = with(to_value(panels::legend(0.0)), []);
            remove(&mut shared["legend"], "y");
        }
    }
    let keys: Vec<String> = rest.as_object().unwrap().keys().cloned().collect();
    for key in keys.iter().filter(|key| key[1..].starts_with("axis")) {
        rest[key] = of_axis(&rest[key]);
    }
    changes(&shared, &rest).unwrap_or_default()
}

/// Takes the panels' titles out of the annotations, of which they are the first, if the
/// figure has any. What is left of each is its text.
fn take_titles(layout: &mut Value, n_panels: usize) -> Vec<Value> {
    let annotations = layout["annotations"].as_array_mut().unwrap();
    let n_titles = n_panels.min(annotations.len());
    let titles: Vec<Value> = annotations.drain(..n_titles).collect();
    if annotations.is_empty() {
        remove(layout, "annotations");
    }
    let own = titles.iter().map(|title| {
        let mut own = changes(&panels::label("", [-9.0; 2]), title).unwrap();
        remove(&mut own, "x");
        remove(&mut own, "y");
        own
    });
    own.collect()
}

/// An axis as what it adds to the kind of axis that it is most like.
fn of_axis(axis: &Value) -> Value {
    let mut axis = axis.clone();
    if let Some(text) = axis.pointer("/title/text").cloned() {
        let plain =
            with(to_value(axis_title("")), [("standoff", json!(6)), ("text", text)]);
        if axis["title"] == plain {
            axis["title"] = plain["text"].clone();
        }
    }
    let kinds = [
        ("tokens", token_axis(&[], 0)),
        ("numbers", number_axis(1.0, "")),
        ("powers", log_axis::axis(Vec::new(), Vec::new())),
        ("hidden", Axis::new().visible(false).fixed_range(true)),
    ];
    let own = kinds.map(|(kind, like)| {
        let mut like = with(to_value(like), []);
        if like.get("title").is_some() {
            like["title"] = json!("");
        }
        let mut own = changes(&like, &axis).unwrap_or_else(|| json!({}));
        own["like"] = json!(kind);
        own
    });
    own.into_iter().min_by_key(|own| own.to_string().len()).unwrap()
}

/// A panel's place, as fractions of the plot, and its height in pixels.
struct Panel {
    x: [f64; 2],
    y: [f64; 2],
    height: f64,
}

impl Panel {
    fn overlaps(&self, other: &Self) -> bool {
        let meet = |a: [f64; 2], b: [f64; 2]| a[0] < b[1] && b[0] < a[1];
        meet(self.x, other.x) && meet(self.y, other.y)
    }
}

fn panels(layout: &Value) -> Vec<Panel> {
    let pixels = |path| layout.pointer(path).and_then(Value::as_f64).unwrap();
    let plot = pixels("/height") - pixels("/margin/t") - pixels("/margin/b");
    let domain = |letter: &str, nth| -> Option<[f64; 2]> {
        let axis = &layout[layout_key(letter, nth)];
        let domain = [axis["domain"][0].as_f64()?, axis["domain"][1].as_f64()?];
        let other = if letter == "x" { "y" } else { "x" };
        assert_eq!(axis["anchor"], axis_name(other, nth));
        assert!(0.0 <= domain[0] && domain[0] < domain[1] && domain[1] <= 1.0);
        Some(domain)
    };
    (0..)
        .map_while(|nth| {
            let (x, y) = (domain("x", nth)?, domain("y", nth)?);
            // Domains are rounded: half a pixel must not depend on the other panels.
            Some(Panel { x, y, height: ((y[1] - y[0]) * plot + 0.2).floor() })
        })
        .collect()
}

/// The fields of `value` that are not as in `base`, `null` for those that are gone; lists
/// of objects by their places.
fn changes(base: &Value, value: &Value) -> Option<Value> {
    let fields = |value: &Value| match value {
        Value::Object(fields) => Some(fields.clone()),
        Value::Array(list) if list.iter().any(Value::is_object) => {
            let places = list.iter().enumerate();
            Some(places.map(|(at, item)| (at.to_string(), item.clone())).collect())
        }
        _ => None,
    };
    let same_kind = base.is_object() == value.is_object();
    match (fields(base), fields(value)) {
        _ if base == value => None,
        (Some(base), Some(value)) if same_kind => {
            let gone = base.keys().filter(|key| !value.contains_key(*key));
            let gone = gone.map(|key| (key.clone(), Value::Null));
            let changed = value.iter().filter_map(|(key, item)| {
                let changed = match base.get(key) {
                    Some(before) => changes(before, item)?,
                    None => item.clone(),
                };
                Some((key.clone(), changed))
            });
            Some(Value::Object(gone.chain(changed).collect::<Map<_, _>>()))
        }
        _ => Some(value.clone()),
    }
}

fn with_named_colours(value: Value) -> Value {
    if value == with(to_value(palette::shares()), []) {
        return json!("shares");
    }
    match value {
        Value::String(text) if text == NEUTRAL => json!("neutral"),
        Value::String(text) if text == FAINT => json!("faint"),
        Value::String(text) => {
            let head = (0..16).find(|&nth| palette::head(nth) == text);
            json!(head.map_or(text, |nth| format!("head {nth}")))
        }
        Value::Array(list) => list.into_iter().map(with_named_colours).collect(),
        Value::Object(fields) => {
            let named = fields.into_iter().map(|(key, of)| (key, with_named_colours(of)));
            Value::Object(named.collect())
        }
        plain => plain,
    }
}

/// In each list of three objects or more, first what all of them have.
fn together(value: Value) -> Value {
    match value {
        Value::Array(list) if list.len() > 2 && list.iter().all(Value::is_object) => {
            let mut shared = list[0].as_object().cloned().unwrap_or_default();
            shared
                .retain(|key, item| list.iter().all(|one| one.get(key) == Some(&*item)));
            let own = list.into_iter().map(|mut one| {
                shared.keys().for_each(|key| remove(&mut one, key));
                together(one)
            });
            let own: Vec<Value> = own.collect();
            [vec![json!({ "all": shared })], own].concat().into()
        }
        Value::Object(fields) => {
            fields.into_iter().map(|(key, of)| (key, together(of))).collect()
        }
        plain => plain,
    }
}

fn remove(object: &mut Value, key: &str) {
    if let Some(fields) = object.as_object_mut() {
        fields.remove(key);
    }
}

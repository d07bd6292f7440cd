//! A figure as plotly.js draws it in a notebook: the one place that knows its fields.

use serde_json::{Map, Value, json};

use crate::axis::{Axis, Kind};
use crate::layout::{FAINT, NEUTRAL, formula, wrapped};
use crate::marks::{Mark, Shape, Texts};
use crate::palette::unstyled;
use crate::spec::{Arrow, Axes, ColourBar, Grouping, Layout, Legend, Plot, Rect, Slider};

const TRANSPARENT: &str = "rgba(0,0,0,0)";

/// `data`, `layout` (with the title) and `config`. Of a diagram, which it does not draw,
/// only the title.
pub(crate) fn figure(name: &str, plot: Option<&Plot>) -> Value {
    let shown = plot.map(|plot| (plot, plot.notebook.as_ref().unwrap_or(&plot.wide)));
    let data: Value = match shown {
        Some((plot, layout)) => plot.marks.iter().map(|it| trace(it, layout)).collect(),
        None => json!([]),
    };
    let lines = wrapped(name, 84);
    let room = lines.len() as f64 * 20.0 + 16.0;
    let mut drawn = shown.map_or(json!({}), |(_, it)| layout(it, room));
    drawn["title"] = title(&lines);
    // No tool bar, no zoom: there is nothing to find by zooming, and a page must scroll.
    let config = json!({ "displayModeBar": false, "showTips": false });
    json!({ "data": data, "layout": drawn, "config": config })
}

fn title(lines: &[String]) -> Value {
    // plotly hangs one line by its top, and the first of several by its middle.
    let above = if lines.len() == 1 { 8 } else { 21 };
    let lines: Vec<_> = lines.iter().map(|line| formula(line)).collect();
    json!({
        "text": lines.join("<br>"),
        "font": { "size": 15 },
        "x": 0, "xref": "container", "xanchor": "left",
        "y": 1, "yref": "container", "yanchor": "top",
        "pad": { "t": above, "l": 8 },
    })
}

/// A layout as wide as its place, with so much room for its title, in pixels.
pub(crate) fn layout(it: &Layout, title: f64) -> Value {
    let margin = &it.margin;
    let is_placed = it.panels.iter().any(|panel| panel.place.is_some());
    let labels = it.labels.iter().map(|label| {
        json!({
            "text": label.text, "showarrow": false, "font": { "size": 12 },
            "xref": "paper", "x": label.x, "xanchor": "left",
            "yref": "paper", "y": label.y, "yanchor": "bottom",
        })
    });
    let below = margin.below;
    let below = if it.slider.is_some() { json!(below as f64) } else { json!(below) };
    let notes: Value = labels.chain(it.arrows.iter().map(arrow)).collect();
    let is_shown =
        !matches!(it.legend, Legend::None | Legend::Above { is_shown: false, .. });
    let mut drawn = json!({
        "autosize": true, "height": it.height as f64 + title,
        "margin": {
            "l": margin.left, "r": margin.right, "t": margin.above as f64 + title,
            "b": below, "autoexpand": false,
        },
        "font": {
            "family": "system-ui, sans-serif", "size": it.font_size, "color": NEUTRAL,
        },
        "paper_bgcolor": TRANSPARENT, "plot_bgcolor": TRANSPARENT,
        "dragmode": false, "hovermode": "closest", "showlegend": is_shown,
    });
    let shapes = (!it.boxes.is_empty()).then(|| it.boxes.iter().map(rect).collect());
    let more = [
        ("legend", legend(&it.legend)),
        ("annotations", is_placed.then_some(notes).into()),
        ("shapes", shapes.unwrap_or(Value::Null)),
        ("coloraxis", it.colour_bar.as_ref().map(colour_axis).into()),
        ("barmode", it.grouping.map(bar_mode).into()),
        ("bargap", it.bar_gap.map(short).into()),
        ("sliders", it.slider.as_ref().map(|slider| json!([slid(slider)])).into()),
    ];
    for (name, value) in more.into_iter().filter(|(_, value)| !value.is_null()) {
        drawn[name] = value;
    }
    for (nth, panel) in it.panels.iter().enumerate() {
        axes(&mut drawn, nth, panel);
    }
    drawn
}

/// The fields that have a value.
fn object<const N: usize>(fields: [(&str, Value); N]) -> Value {
    let there = fields.into_iter().filter(|(_, value)| !value.is_null());
    Value::Object(there.map(|(name, value)| (name.to_owned(), value)).collect())
}

/// As an integer, where it is one.
fn short(number: f64) -> Value {
    if number.fract() == 0.0 { json!(number as i64) } else { json!(number) }
}

fn bar_mode(grouping: Grouping) -> &'static str {
    match grouping {
        Grouping::Beside => "group",
        Grouping::Stacked => "stack",
        Grouping::Signed => "relative",
    }
}

// ---- Panels.

/// How a trace names its axis: `x`, `x2`, …
pub(crate) fn axis_name(letter: &str, nth: usize) -> String {
    if nth == 0 { letter.to_owned() } else { format!("{letter}{}", nth + 1) }
}

/// How the layout names it: `xaxis`, `xaxis2`, …
pub(crate) fn layout_key(letter: &str, nth: usize) -> String {
    axis_name(&format!("{letter}axis"), nth)
}

fn axes(drawn: &mut Value, nth: usize, panel: &Axes) {
    let mut y = axis(&panel.y);
    if panel.over == Some(true) {
        (y["overlaying"], y["side"]) = (json!("y"), json!("right"));
        drawn[layout_key("y", nth)] = y;
        return;
    }
    let mut x = axis(&panel.x);
    if let Some(place) = &panel.place {
        (x["domain"], y["domain"]) = (json!(place.across), json!(place.up));
        (x["anchor"], y["anchor"]) =
            (json!(axis_name("y", nth)), json!(axis_name("x", nth)));
        for axis in [&mut x, &mut y] {
            if axis.get("title").is_some() {
                axis["title"]["standoff"] = json!(6); // plotly's own is wider
            }
        }
    }
    (drawn[layout_key("x", nth)], drawn[layout_key("y", nth)]) = (x, y);
}

/// An axis that cannot be dragged or zoomed.
pub(crate) fn axis(it: &Axis) -> Value {
    let when = |is: bool, value: Value| if is { value } else { Value::Null };
    let is_seen = it.kind != Kind::Hidden;
    let has_numbers = it.kind == Kind::Numbers;
    let has_lines = has_numbers || it.kind == Kind::Factors;
    let has_outline = it.kind == Kind::Bare && it.labelled != Some(false);
    let zero = if it.has_dark_zero { NEUTRAL } else { FAINT };
    let size = it.size.map(|size| json!({ "size": size }));
    let title = it.title.as_ref().map(|it| json!({ "text": it, "font": { "size": 11 } }));
    object([
        ("fixedrange", json!(true)),
        ("visible", when(!is_seen, json!(false))),
        ("type", when(it.is_log(), json!("log"))),
        ("range", it.range.map(|ends| json!(ends)).into()),
        ("ticklen", when(is_seen, json!(0))),
        ("tickfont", size.into()),
        ("gridcolor", when(has_lines, json!(FAINT))),
        ("zerolinecolor", when(has_numbers, json!(zero))),
        ("nticks", it.n_lines.into()),
        ("tickformat", when(it.n_lines == Some(4), json!("~s"))),
        ("showgrid", when(is_seen && !it.lines, json!(false))),
        ("zeroline", when(is_seen && !it.lines, json!(false))),
        ("showline", when(is_seen && !has_lines && !has_outline, json!(false))),
        ("tickvals", it.places.as_ref().map(|it| json!(it)).into()),
        ("ticktext", it.names.as_ref().map(|it| json!(it)).into()),
        ("tickangle", it.angle.into()),
        ("showticklabels", it.labelled.into()),
        ("ticklabelstandoff", it.standoff.clone().map(Value::Number).into()),
        ("title", title.into()),
    ])
}

// ---- Over the panels.

fn legend(legend: &Legend) -> Value {
    match legend {
        Legend::None => Value::Null,
        Legend::Above { at, in_order, .. } => object([
            ("orientation", json!("h")),
            ("x", json!(0.0)),
            ("xanchor", json!("left")),
            ("y", json!(at)),
            ("yanchor", json!("top")),
            ("traceorder", in_order.then_some("normal").into()),
        ]),
        Legend::Beside => json!({
            "x": 1.0, "xanchor": "right", "y": 1.0,
            "title": { "text": "head", "side": "top" },
            "itemsizing": "constant", "tracegroupgap": 0, "entrywidth": 20,
            "xref": "container", // clear of the tokens at any width
        }),
    }
}

fn colour_axis(bar: &ColourBar) -> Value {
    json!({
        "cmin": bar.ends[0], "cmax": bar.ends[1], "colorscale": unstyled(&bar.stops),
        "colorbar": {
            "orientation": "h", "thickness": 8, "lenmode": "pixels", "len": 180,
            "outlinewidth": 0,
            "x": 0.0, "xanchor": "left", "xpad": 0.0,
            "y": bar.at, "yanchor": "top", "ypad": 0.0,
            "tickvals": bar.ticks, "tickfont": { "size": 10 },
            "title": { "text": bar.title, "font": { "size": 11 }, "side": "top" },
        },
    })
}

fn slid(slider: &Slider) -> Value {
    let n_marks = slider.labels.len() * slider.marks_each;
    // Shows the traces of a state, and no others.
    let step = |(nth, label): (usize, &String)| {
        let shown: Vec<bool> =
            (0..n_marks).map(|at| at / slider.marks_each == nth).collect();
        json!({ "label": label, "method": "restyle", "args": ["visible", shown] })
    };
    json!({
        "active": slider.active,
        "currentvalue": { "prefix": slider.prefix, "font": { "size": 12 } },
        "font": { "size": 10 },
        "x": 0, "len": 1, "xanchor": "left",
        "y": 0, "yanchor": "top",
        "pad": { "t": slider.above, "b": 0 },
        "ticklen": 3,
        "steps": slider.labels.iter().enumerate().map(step).collect::<Value>(),
    })
}

fn rect(it: &Rect) -> Value {
    let [x, y] = ["x", "y"].map(|letter| axis_name(letter, it.panel));
    let is_strip = it.strip == Some(true);
    let line = object([("color", it.line.into()), ("width", json!(it.width))]);
    object([
        ("type", json!("rect")),
        ("line", line),
        ("fillcolor", it.fill.into()),
        ("xref", json!(x)),
        ("x0", json!(it.x[0])),
        ("x1", json!(it.x[1])),
        ("yref", json!(if is_strip { format!("{y} domain") } else { y })),
        ("y0", json!(it.y[0])),
        ("y1", if is_strip { short(it.y[1]) } else { json!(it.y[1]) }),
    ])
}

fn arrow(it: &Arrow) -> Value {
    let ([x, y], [from_x, from_y]) = (it.to, it.from);
    json!({
        "text": "", "font": { "size": 10 },
        "xref": "x", "x": x, "yref": "y", "y": y,
        "axref": "x", "ax": from_x, "ayref": "y", "ay": from_y,
        "showarrow": true, "arrowhead": 2, "arrowcolor": it.colour,
        "arrowwidth": it.width, "arrowsize": it.head,
    })
}

// ---- Traces.

pub(crate) fn trace(it: &Mark, layout: &Layout) -> Value {
    let mut fields = Map::new();
    let shape = [of_shape(it), name_and_texts(it), styled(it), hover(it)];
    for part in shape {
        if let Value::Object(part) = part {
            fields.extend(part);
        }
    }
    let is_over = layout.panels.iter().any(|panel| panel.over == Some(true));
    if let Some(nth) = it.panel {
        if !is_over {
            fields.insert("xaxis".to_owned(), json!(axis_name("x", nth)));
        }
        fields.insert("yaxis".to_owned(), json!(axis_name("y", nth)));
    }
    if let Some(is_shown) = it.shown {
        // Where a legend shows and hides, its entry must stay.
        let hidden = if is_over { json!("legendonly") } else { json!(false) };
        let shown = if is_shown { json!(true) } else { hidden };
        fields.insert("visible".to_owned(), shown);
    }
    Value::Object(fields)
}

fn of_shape(it: &Mark) -> Value {
    match &it.shape {
        Shape::Points { x, y, lines, marks, texts } => {
            let parts = [("lines", lines), ("markers", marks), ("text", texts)];
            let drawn: Vec<&str> =
                parts.iter().filter(|(_, is)| **is).map(|(part, _)| *part).collect();
            json!({ "type": "scatter", "mode": drawn.join("+"), "x": x, "y": y })
        }
        Shape::Bars { places, sizes, lying: None } => {
            json!({ "type": "bar", "x": places, "y": sizes })
        }
        Shape::Bars { places, sizes, lying: Some(_) } => {
            json!({ "type": "bar", "x": sizes, "y": places, "orientation": "h" })
        }
        Shape::Cells { rows, gap } => {
            let scale = it.scale.as_ref();
            let end = |nth: usize| scale.map(|scale| json!(scale.ends[nth]));
            // Of maps that lie on one another, each tells of its own cells.
            let is_quiet = it.has_gaps && scale.is_some();
            object([
                ("type", json!("heatmap")),
                ("z", json!(rows)),
                ("xgap", json!(gap)),
                ("ygap", json!(gap)),
                ("hoverongaps", is_quiet.then_some(false).into()),
                ("coloraxis", scale.is_none().then_some("coloraxis").into()),
                ("colorscale", scale.map(|it| json!(unstyled(&it.stops))).into()),
                ("showscale", scale.map(|_| false).into()),
                ("zmin", end(0).into()),
                ("zmax", end(1).into()),
            ])
        }
    }
}

/// Its name, and its texts.
fn name_and_texts(it: &Mark) -> Value {
    let is_bar = matches!(it.shape, Shape::Bars { .. });
    let is_cell = matches!(it.shape, Shape::Cells { .. });
    let has_texts = it.texts.is_some();
    let fits = is_bar && it.text_place.as_deref() == Some("auto");
    let font =
        object([("size", it.text_size.into()), ("color", it.text_colour.clone().into())]);
    let has_font = it.text_size.is_some() || it.text_colour.is_some();
    let in_cells = match it.numbered {
        Some(true) => Some("%{z:.3f}"),
        _ => (is_cell && has_texts).then_some("%{text}"),
    };
    object([
        ("name", it.name.clone().into()),
        ("legendgroup", it.group.clone().into()),
        ("showlegend", it.legend.into()),
        ("text", texts(it.texts.as_ref())),
        ("textposition", it.text_place.clone().into()),
        ("textfont", has_font.then_some(font).into()),
        ("textangle", (is_bar && has_texts).then_some(0).into()),
        ("insidetextanchor", fits.then_some("start").into()),
        ("insidetextfont", fits.then(|| json!({ "color": "#fff" })).into()),
        ("texttemplate", in_cells.into()),
    ])
}

fn styled(it: &Mark) -> Value {
    let line = it.line.as_ref().map(|line| {
        let dash = line.dash.clone();
        let colour = line.colour.clone();
        object([
            ("color", colour.into()),
            ("width", line.width.into()),
            ("dash", dash.into()),
        ])
    });
    let outline =
        it.outline.as_ref().map(|it| json!({ "color": it.colour, "width": it.width }));
    let pattern = |is_hatched| json!({ "shape": if is_hatched { "/" } else { "" } });
    let marker = object([
        ("symbol", it.symbol.clone().into()),
        ("size", it.size.into()),
        ("color", it.colour.as_ref().map(|it| json!(it)).into()),
        ("opacity", it.mark_opacity.into()),
        ("line", outline.into()),
        ("pattern", it.hatched.map(pattern).into()),
    ]);
    let has_marker = marker.as_object().is_some_and(|fields| !fields.is_empty());
    object([
        ("line", line.into()),
        ("marker", has_marker.then_some(marker).into()),
        ("opacity", it.opacity.into()),
        ("cliponaxis", it.unclipped.map(|is| !is).into()),
    ])
}

/// What stands under the pointer.
fn hover(it: &Mark) -> Value {
    let info = match (it.is_silent, &it.told, &it.pattern) {
        (true, ..) => Some("skip"),
        (_, Some(_), None) => Some("text"),
        _ => None,
    };
    let template = it.pattern.as_ref().map(|pattern| {
        let pattern = pattern.replace("{row}", "%{y}").replace("{column}", "%{x}");
        let pattern =
            pattern.replace("{number}", "%{z:.3f}").replace("{text}", "%{text}");
        pattern.replace("{told}", "%{hovertext}") + "<extra></extra>"
    });
    object([
        ("hovertext", texts(it.told.as_ref())),
        ("hoverinfo", info.into()),
        ("hovertemplate", template.into()),
    ])
}

fn texts(texts: Option<&Texts>) -> Value {
    texts.map(|texts| json!(texts)).into()
}

//! plotly.js ignores a field that it does not know, without a word. The crate plotly knows
//! their names and what each takes: what it writes is what is written here.

use plotly::common::{
    ColorScale, ColorScaleElement, DashType, Font, HoverInfo, Line, Marker, MarkerSymbol,
    Mode, Orientation, Position, Title,
};
use plotly::layout::AxisType;
use plotly::{Bar, HeatMap, Scatter};
use serde_json::{Value, json, to_value};

use super::*;
use crate::axis::Axis;
use crate::spec::Layout;

macro_rules! assert_same {
    ($ours:expr, $plotlys:expr $(,)?) => {
        let plotlys = to_value($plotlys).unwrap();
        assert_eq!(as_floats(&$ours), as_floats(&plotlys));
    };
}

/// 1 and 1.0 are one number to plotly.js.
fn as_floats(value: &Value) -> Value {
    match value {
        Value::Number(number) => json!(number.as_f64()),
        Value::Array(values) => values.iter().map(as_floats).collect(),
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| (name.clone(), as_floats(value)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
        other => other.clone(),
    }
}

fn drawn(mark: &Mark) -> Value {
    crate::plotly::trace(mark, &Layout::new(0.0, [0.0; 4]))
}

const X: [f64; 2] = [0.0, 1.0];
const Y: [f64; 2] = [0.5, 2.0];

#[test]
fn lines_are_those_of_plotly() {
    let ours = Mark::lines(X, Y)
        .on(1)
        .named("a <b>")
        .of_group("runs", false)
        .line("red", 1.5)
        .dashed("dashdot")
        .silent()
        .unclipped();
    let plotlys = Scatter::new(X.to_vec(), Y.to_vec())
        .mode(Mode::Lines)
        .x_axis("x2")
        .y_axis("y2")
        .name("a &lt;b&gt;")
        .legend_group("runs")
        .show_legend(false)
        .line(Line::new().color("red").width(1.5).dash(DashType::DashDot))
        .hover_info(HoverInfo::Skip)
        .clip_on_axis(false);
    assert_same!(drawn(&ours), plotlys);
}

#[test]
fn marks_and_texts_are_those_of_plotly() {
    let ours = Mark::points(X, Y)
        .marked("diamond", 7)
        .coloured("blue")
        .written(["a", "b"], "middle right")
        .hover(["it", "was"]);
    let plotlys = Scatter::new(X.to_vec(), Y.to_vec())
        .mode(Mode::MarkersText)
        .marker(Marker::new().symbol(MarkerSymbol::Diamond).size(7).color("blue"))
        .text_array(vec!["a", "b"])
        .text_position(Position::MiddleRight)
        .hover_text_array(vec!["it", "was"])
        .hover_info(HoverInfo::Text);
    assert_same!(drawn(&ours), plotlys);
    let both = Scatter::new(X.to_vec(), Y.to_vec()).mode(Mode::LinesMarkers);
    assert_same!(drawn(&Mark::lines_and_marks(X, Y)), both);
}

#[test]
fn bars_are_those_of_plotly() {
    let lying = Bar::new(Y.to_vec(), vec![0.0, 1.0]).orientation(Orientation::Horizontal);
    assert_same!(drawn(&Mark::lying_bars(Y)), lying);
    assert_same!(drawn(&Mark::bars(Y)), Bar::new(vec![0.0, 1.0], Y.to_vec()));
}

#[test]
fn cells_are_those_of_plotly() {
    let rows = vec![X.to_vec(), Y.to_vec()];
    let scale = vec![(0.0, "black"), (1.0, "white")];
    let ours = Mark::cells(rows.clone(), 2).scaled(scale, [0.0, 1.0]);
    let stop = |at, colour: &str| ColorScaleElement(at, colour.to_owned());
    let scale = ColorScale::Vector(vec![stop(0.0, "black"), stop(1.0, "white")]);
    let plotlys = HeatMap::new_z(rows)
        .x_gap(2)
        .y_gap(2)
        .color_scale(scale)
        .show_scale(false)
        .zmin(0.0)
        .zmax(1.0);
    assert_same!(drawn(&ours), plotlys);
}

#[test]
fn axes_are_those_of_plotly() {
    let font = || Font::new().size(11);
    let ours = Axis::factors([1.0, 10.0], ["1", "10"]).titled("d").range([0.0, 1.0]);
    let plotlys = plotly::layout::Axis::new()
        .type_(AxisType::Log)
        .tick_font(font())
        .tick_length(0)
        .grid_color(crate::layout::FAINT)
        .fixed_range(true)
        .tick_values(vec![1.0, 10.0])
        .tick_text(vec!["1", "10"])
        .title(Title::with_text("d").font(font()))
        .range(vec![0.0, 1.0]);
    assert_same!(crate::plotly::axis(&ours), plotlys);
    let ours = Axis::names(&["it".to_owned()], 11).upright().labelled(false);
    let plotlys = plotly::layout::Axis::new()
        .tick_font(font())
        .tick_length(0)
        .show_grid(false)
        .show_line(false)
        .zero_line(false)
        .fixed_range(true)
        .tick_values(vec![0.0])
        .tick_text(vec!["it"])
        .tick_angle(-90.0)
        .show_tick_labels(false);
    assert_same!(crate::plotly::axis(&ours), plotlys);
}

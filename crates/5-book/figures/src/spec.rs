//! What a figure draws: marks, and where they lie, once where there is room and once on a
//! phone. As JSON it is what the page's scripts read, and nothing else.

use serde::Serialize;
use serde_json::Value;

use crate::axis::Axis;
use crate::marks::Mark;
use crate::palette::{self, Stops};

/// A figure along axes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Plot {
    pub(crate) marks: Vec<Mark>,
    /// Where there is room.
    pub(crate) wide: Layout,
    /// On a phone.
    pub(crate) narrow: Layout,
    /// In a notebook, if it is not the wide one: where a page has buttons, a notebook needs
    /// a legend.
    #[serde(skip)]
    pub(crate) notebook: Option<Layout>,
}

impl Plot {
    /// What a page reads: what is not drawn is not there.
    pub(crate) fn to_page(&self) -> Value {
        let seen = Self {
            marks: self.marks.iter().cloned().map(Mark::seen).collect(),
            ..self.clone()
        };
        let mut page = serde_json::to_value(seen).unwrap_or_default();
        drop_nulls(&mut page);
        page
    }
}

/// Takes the fields without a value away.
fn drop_nulls(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|_, field| !field.is_null());
            fields.values_mut().for_each(drop_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_nulls),
        _ => {}
    }
}

/// Where marks lie on a width. Places are parts of the area within the margin, from the
/// left and from below.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(crate) struct Layout {
    /// In pixels.
    pub(crate) height: usize,
    pub(crate) margin: Margin,
    /// Of letters that have no size of their own, in a notebook.
    #[serde(skip)]
    pub(crate) font_size: usize,
    pub(crate) panels: Vec<Axes>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) labels: Vec<Label>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) boxes: Vec<Rect>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) arrows: Vec<Arrow>,
    #[serde(skip_serializing_if = "Legend::is_hidden")]
    pub(crate) legend: Legend,
    pub(crate) colour_bar: Option<ColourBar>,
    /// How the bars of several marks lie; side by side if it is not said.
    pub(crate) grouping: Option<Grouping>,
    /// Between bars, as a part of a place.
    pub(crate) bar_gap: Option<f64>,
    pub(crate) slider: Option<Slider>,
    /// What a page's buttons choose: `head`.
    pub(crate) choose: Option<&'static str>,
}

/// Around the area of the panels, in pixels.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(crate) struct Margin {
    pub(crate) left: usize,
    pub(crate) right: usize,
    pub(crate) above: usize,
    pub(crate) below: usize,
}

impl Layout {
    /// So high and with so much room to the left, to the right, above and below, all in
    /// pixels; and no panels yet.
    pub(crate) fn new(height: f64, margin: [f64; 4]) -> Self {
        let [left, right, above, below] = margin.map(|pixels| pixels as usize);
        let margin = Margin { left, right, above, below };
        Self { height: height.round() as usize, margin, font_size: 12, ..Self::default() }
    }

    /// Of the area of the panels, in pixels.
    pub(crate) fn area_height(&self) -> f64 {
        (self.height - self.margin.above - self.margin.below) as f64
    }

    /// With a slider below, for which it grows by so many pixels.
    pub(crate) fn slid(mut self, slider: Slider, room: f64) -> Self {
        self.height += room as usize;
        self.margin.below += room as usize;
        Self { slider: Some(slider), ..self }
    }
}

/// The axes of a panel.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Axes {
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    /// None is the whole area.
    pub(crate) place: Option<Extent>,
    /// Whether it lies on the first panel, with its y axis on the right.
    pub(crate) over: Option<bool>,
}

/// From where to where a panel goes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Extent {
    pub(crate) across: [f64; 2],
    pub(crate) up: [f64; 2],
}

/// A text whose lower left corner is at a place.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Label {
    pub(crate) text: String,
    pub(crate) x: f64,
    pub(crate) y: f64,
}

/// A rectangle on a panel.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Rect {
    pub(crate) panel: usize,
    /// On the panel's axis.
    pub(crate) x: [f64; 2],
    /// On the panel's axis; of a strip, below the panel, in parts of its height.
    pub(crate) y: [f64; 2],
    pub(crate) strip: Option<bool>,
    pub(crate) fill: Option<&'static str>,
    pub(crate) line: Option<&'static str>,
    pub(crate) width: f64,
}

/// An arrow on the first panel.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Arrow {
    pub(crate) from: [f64; 2],
    pub(crate) to: [f64; 2],
    pub(crate) width: f64,
    /// Of its head, in widths of the line.
    pub(crate) head: f64,
    pub(crate) colour: &'static str,
}

/// The names of marks.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) enum Legend {
    #[default]
    None,
    /// In lines from this place down.
    Above {
        at: f64,
        is_shown: bool,
        /// Whether the names of stacked bars are in the order of the bars.
        in_order: bool,
    },
    /// Under one another, right of the panels: a notebook has it where a page has buttons.
    Beside,
}

impl Legend {
    fn is_hidden(&self) -> bool {
        !matches!(self, Self::Above { is_shown: true, .. })
    }
}

/// A page reads where it begins.
impl Serialize for Legend {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Above { at, .. } => to.serialize_f64(*at),
            _ => to.serialize_none(),
        }
    }
}

/// The scale of all maps that have none of their own.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct ColourBar {
    pub(crate) stops: Stops,
    pub(crate) ends: [f64; 2],
    pub(crate) title: &'static str,
    /// How high it begins.
    pub(crate) at: f64,
    pub(crate) ticks: [f64; 3],
}

impl ColourBar {
    /// From 0 to `most`, in the colours of shares.
    pub(crate) fn of_shares(most: f64, title: &'static str, at: f64) -> Self {
        let ticks = [0.0, crate::layout::rounded(most / 2.0), most];
        Self { stops: palette::shares(), ends: [0.0, most], title, at, ticks }
    }
}

/// How the bars of several marks at one place lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Grouping {
    /// Side by side.
    Beside,
    /// On one another.
    Stacked,
    /// On one another, those below 0 downwards.
    Signed,
}

/// A slider through states, of which one is shown at a time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Slider {
    /// Before the label of the state that is shown.
    pub(crate) prefix: &'static str,
    /// One a state.
    pub(crate) labels: Vec<String>,
    /// Which is shown first.
    pub(crate) active: usize,
    /// How many marks a state has; they follow one another.
    pub(crate) marks_each: usize,
    /// Between the plot and the slider in a notebook, in pixels.
    #[serde(skip)]
    pub(crate) above: Value,
}

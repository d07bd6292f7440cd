//! What traces and layouts share.

use serde::{Serialize, Serializer};

object! {
    /// Letters.
    Font {
        family: impl Serialize => "family",
        size: usize => "size",
        color: impl Serialize => "color",
    }
}

object! {
    /// A line over or beside something.
    Title {
        text: impl Serialize => "text",
        font: Font => "font",
        side: Side => "side",
    }
}

impl Title {
    /// A title that says this.
    pub fn with_text(text: impl Into<String>) -> Self {
        Self::new().text(text.into())
    }
}

object! {
    /// How a line is drawn.
    Line {
        color: impl Serialize => "color",
        width: f64 => "width",
        dash: DashType => "dash",
    }
}

object! {
    /// How points or bars are drawn.
    Marker {
        symbol: MarkerSymbol => "symbol",
        size: usize => "size",
        color: impl Serialize => "color",
        color_array: Vec<impl Serialize> => "color",
        opacity: f64 => "opacity",
        line: Line => "line",
    }
}

object! {
    /// What a scale's colours stand for.
    ColorBar {
        title: Title => "title",
        orientation: Orientation => "orientation",
        thickness: usize => "thickness",
        len: usize => "len",
        len_mode: ThicknessMode => "lenmode",
        outline_width: usize => "outlinewidth",
        tick_font: Font => "tickfont",
        tick_vals: Vec<f64> => "tickvals",
        x: f64 => "x",
        x_anchor: Anchor => "xanchor",
        x_pad: f64 => "xpad",
        y: f64 => "y",
        y_anchor: Anchor => "yanchor",
        y_pad: f64 => "ypad",
    }
}

/// A place on a scale, from 0 to 1, and its colour.
#[derive(Debug, Clone)]
pub struct ColorScaleElement(pub f64, pub String);

impl Serialize for ColorScaleElement {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (self.0, &self.1).serialize(serializer)
    }
}

/// Colours for numbers.
#[derive(Debug, Clone)]
pub enum ColorScale {
    /// From its first element to its last.
    Vector(Vec<ColorScaleElement>),
}

impl Serialize for ColorScale {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self::Vector(elements) = self;
        elements.serialize(serializer)
    }
}

choice! {
    /// What of a scatter is drawn.
    Mode {
        Lines => "lines",
        LinesMarkers => "lines+markers",
        Markers => "markers",
        MarkersText => "markers+text",
        Text => "text",
    }
}

choice! {
    /// What is said of a point under the pointer.
    HoverInfo {
        Skip => "skip",
        Text => "text",
    }
}

choice! {
    /// The strokes of a line.
    DashType {
        Solid => "solid",
        Dash => "dash",
        Dot => "dot",
        DashDot => "dashdot",
    }
}

choice! {
    /// The shape of a point.
    MarkerSymbol {
        Circle => "circle",
        CircleOpen => "circle-open",
        Diamond => "diamond",
        DiamondOpen => "diamond-open",
        Square => "square",
        TriangleUp => "triangle-up",
    }
}

choice! {
    /// Along which axis.
    Orientation {
        Horizontal => "h",
    }
}

choice! {
    /// Which edge stands at the place that is named.
    Anchor {
        Left => "left",
        Right => "right",
        Top => "top",
    }
}

choice! {
    /// Where an axis stands.
    AxisSide {
        Right => "right",
    }
}

choice! {
    /// Where a title stands.
    Side {
        Top => "top",
    }
}

choice! {
    /// What a length is measured in.
    ThicknessMode {
        Pixels => "pixels",
    }
}

choice! {
    /// Where a point's text stands.
    Position {
        TopLeft => "top left",
    }
}

//! Axes, and what stands around traces.

use serde::Serialize;

use crate::common::{Anchor, AxisSide, ColorBar, ColorScale, Font, Orientation, Title};

object! {
    /// A figure without its traces.
    Layout {
        auto_size: bool => "autosize",
        height: usize => "height",
        margin: Margin => "margin",
        font: Font => "font",
        paper_background_color: impl Serialize => "paper_bgcolor",
        plot_background_color: impl Serialize => "plot_bgcolor",
        drag_mode: DragMode => "dragmode",
        hover_mode: HoverMode => "hovermode",
        show_legend: bool => "showlegend",
        legend: Legend => "legend",
        x_axis: Axis => "xaxis",
        y_axis: Axis => "yaxis",
        y_axis2: Axis => "yaxis2",
    }
}

object! {
    /// Room around the axes, in pixels.
    Margin {
        left: usize => "l",
        right: usize => "r",
        top: usize => "t",
        bottom: usize => "b",
        auto_expand: bool => "autoexpand",
    }
}

object! {
    /// An axis.
    Axis {
        title: Title => "title",
        type_: AxisType => "type",
        visible: bool => "visible",
        range: Vec<f64> => "range",
        domain: &[f64] => "domain",
        fixed_range: bool => "fixedrange",
        side: AxisSide => "side",
        overlaying: impl Serialize => "overlaying",
        n_ticks: usize => "nticks",
        tick_values: Vec<f64> => "tickvals",
        tick_text: Vec<String> => "ticktext",
        tick_font: Font => "tickfont",
        tick_length: usize => "ticklen",
        tick_angle: f64 => "tickangle",
        tick_format: impl Serialize => "tickformat",
        show_tick_labels: bool => "showticklabels",
        show_line: bool => "showline",
        show_grid: bool => "showgrid",
        grid_color: impl Serialize => "gridcolor",
        zero_line: bool => "zeroline",
        zero_line_color: impl Serialize => "zerolinecolor",
    }
}

object! {
    /// Colours that traces share.
    ColorAxis {
        cmin: f64 => "cmin",
        cmax: f64 => "cmax",
        color_scale: ColorScale => "colorscale",
        color_bar: ColorBar => "colorbar",
    }
}

object! {
    /// The names of traces.
    Legend {
        title: Title => "title",
        orientation: Orientation => "orientation",
        item_sizing: ItemSizing => "itemsizing",
        trace_group_gap: usize => "tracegroupgap",
        x: f64 => "x",
        x_anchor: Anchor => "xanchor",
        y: f64 => "y",
        y_anchor: Anchor => "yanchor",
    }
}

object! {
    /// Text at a place.
    Annotation {
        text: impl Serialize => "text",
        show_arrow: bool => "showarrow",
        font: Font => "font",
        arrow_head: u8 => "arrowhead",
        arrow_width: f64 => "arrowwidth",
        arrow_color: impl Serialize => "arrowcolor",
        ax: impl Serialize => "ax",
        ay: impl Serialize => "ay",
        x_ref: impl Serialize => "xref",
        y_ref: impl Serialize => "yref",
        x: f64 => "x",
        y: f64 => "y",
    }
}

object! {
    /// Something drawn over or under the traces.
    Shape {
        shape_type: ShapeType => "type",
        x_ref: impl Serialize => "xref",
        y_ref: impl Serialize => "yref",
        x0: impl Serialize => "x0",
        x1: impl Serialize => "x1",
        y0: impl Serialize => "y0",
        y1: impl Serialize => "y1",
        fill_color: impl Serialize => "fillcolor",
        line: ShapeLine => "line",
    }
}

object! {
    /// The line around a shape.
    ShapeLine {
        color: impl Serialize => "color",
        width: f64 => "width",
    }
}

choice! {
    /// How an axis counts.
    AxisType {
        Log => "log",
    }
}

choice! {
    /// What a shape is.
    ShapeType {
        Rect => "rect",
    }
}

choice! {
    /// How large a legend's points are.
    ItemSizing {
        Constant => "constant",
    }
}

choice! {
    /// What dragging does.
    DragMode {
        False => false,
    }
}

choice! {
    /// Which points are told of.
    HoverMode {
        Closest => "closest",
    }
}

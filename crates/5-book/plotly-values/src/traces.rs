//! What is drawn on axes. Each lies in a box, as plotly's do.

use std::marker::PhantomData;

use serde::{Serialize, Serializer};

use crate::common::{ColorScale, HoverInfo, Line, Marker, Mode, Orientation, Position};
use crate::object::Object;

/// A trace with a setter for each field. Its types are those of its numbers, by which
/// nothing is decided here.
macro_rules! trace {
    (
        $(#[$doc:meta])*
        $name:ident<$($of:ident),*> { $($setter:ident: $type:ty => $key:literal,)* }
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone)]
        pub struct $name<$($of),*>(Object, PhantomData<($($of,)*)>);

        impl<$($of),*> $name<$($of),*> {
            $(
                #[doc = concat!("Sets `", $key, "`.")]
                #[must_use]
                pub fn $setter(mut self: Box<Self>, value: $type) -> Box<Self> {
                    self.0.set($key, value);
                    self
                }
            )*
        }

        impl<$($of),*> Serialize for $name<$($of),*> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                self.0.serialize(serializer)
            }
        }
    };
}

trace! {
    /// Points, lines between them, or both.
    Scatter<X, Y> {
        name: impl Serialize => "name",
        mode: Mode => "mode",
        line: Line => "line",
        marker: Marker => "marker",
        text_array: Vec<String> => "text",
        text_position: Position => "textposition",
        hover_info: HoverInfo => "hoverinfo",
        hover_text_array: Vec<String> => "hovertext",
        hover_template: impl Serialize => "hovertemplate",
        show_legend: bool => "showlegend",
        legend_group: impl Serialize => "legendgroup",
        opacity: f64 => "opacity",
        x_axis: impl Serialize => "xaxis",
        y_axis: impl Serialize => "yaxis",
    }
}

trace! {
    /// Bars.
    Bar<X, Y> {
        name: impl Serialize => "name",
        orientation: Orientation => "orientation",
        marker: Marker => "marker",
        text_array: Vec<String> => "text",
        hover_info: HoverInfo => "hoverinfo",
        hover_text_array: Vec<String> => "hovertext",
        show_legend: bool => "showlegend",
        legend_group: impl Serialize => "legendgroup",
        x_axis: impl Serialize => "xaxis",
        y_axis: impl Serialize => "yaxis",
    }
}

trace! {
    /// Numbers as colours.
    HeatMap<X, Y, Z> {
        name: impl Serialize => "name",
        zmin: f64 => "zmin",
        zmax: f64 => "zmax",
        color_scale: ColorScale => "colorscale",
        show_scale: bool => "showscale",
        hover_info: HoverInfo => "hoverinfo",
        hover_template: impl Serialize => "hovertemplate",
        x_axis: impl Serialize => "xaxis",
        y_axis: impl Serialize => "yaxis",
    }
}

impl<X: Serialize, Y: Serialize> Scatter<X, Y> {
    /// At these places.
    pub fn new(x: Vec<X>, y: Vec<Y>) -> Box<Self> {
        Box::new(Self(placed("scatter", x, y), PhantomData))
    }
}

impl<X: Serialize, Y: Serialize> Bar<X, Y> {
    /// At these places, of these lengths.
    pub fn new(x: Vec<X>, y: Vec<Y>) -> Box<Self> {
        Box::new(Self(placed("bar", x, y), PhantomData))
    }
}

impl<Z: Serialize> HeatMap<f64, f64, Z> {
    /// Of these rows.
    pub fn new_z(z: Vec<Z>) -> Box<Self> {
        let mut object = Object::default();
        object.set("type", "heatmap");
        object.set("z", z);
        Box::new(Self(object, PhantomData))
    }
}

fn placed(kind: &str, x: impl Serialize, y: impl Serialize) -> Object {
    let mut object = Object::default();
    object.set("type", kind);
    object.set("x", x);
    object.set("y", y);
    object
}

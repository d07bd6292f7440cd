//! A slider through states, of which one is shown at a time.

use serde_json::{Value, json};

/// One label a state.
pub(crate) struct Slider {
    /// Before the label of the state that is shown.
    pub(crate) prefix: &'static str,
    pub(crate) labels: Vec<String>,
    /// Which is shown first.
    pub(crate) active: usize,
    /// How many traces a state has; they follow one another.
    pub(crate) traces_each: usize,
    /// Between the plot and the slider, in pixels.
    pub(crate) above: Value,
}

impl Slider {
    /// The layout with the slider under it, for which it grows by so many pixels.
    pub(crate) fn under(self, mut layout: Value, room: f64) -> Value {
        for path in ["/height", "/margin/b"] {
            if let Some(size) = layout.pointer_mut(path) {
                *size = json!(size.as_f64().unwrap_or(0.0) + room);
            }
        }
        layout["sliders"] = json!([{
            "active": self.active,
            "currentvalue": { "prefix": self.prefix, "font": { "size": 12 } },
            "font": { "size": 10 },
            "x": 0, "len": 1, "xanchor": "left",
            "y": 0, "yanchor": "top",
            "pad": { "t": self.above, "b": 0 },
            "ticklen": 3,
            "steps": (0..self.labels.len()).map(|nth| self.step(nth)).collect::<Value>(),
        }]);
        layout
    }

    /// Shows the traces of a state, and no others.
    fn step(&self, nth: usize) -> Value {
        let n_traces = self.labels.len() * self.traces_each;
        let visible: Vec<bool> =
            (0..n_traces).map(|at| at / self.traces_each == nth).collect();
        json!({
            "label": self.labels[nth], "method": "restyle", "args": ["visible", visible],
        })
    }
}

//! What a reader can take hold of.

use figures::formula;
use serde::Serialize;
use serde_json::{Value, json};

/// One control of a live figure.
#[derive(Debug, Clone, Serialize)]
pub struct Control {
    /// What an address calls it: the name of the setting.
    pub key: &'static str,
    /// What stands next to it.
    pub label: &'static str,
    /// What it is, and what it can be set to.
    #[serde(flatten)]
    pub kind: Kind,
    /// Where it stands first, as an address writes it.
    pub first: String,
    /// Whether a page can play it: move it step by step to its end. A slider's.
    pub is_played: bool,
    /// Of a figure that is trained: whether it can be changed without training anew.
    pub at_any_time: bool,
}

/// A kind of control, with what it can be set to.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
#[expect(missing_docs, reason = "a range is a range: least, most and step")]
pub enum Kind {
    /// A number from a range, on a slider and in a field.
    Number { least: f64, most: f64, step: f64 },
    /// A whole number from a range.
    Count { least: usize, most: usize },
    /// One of several, each a value and what stands next to it.
    Choice { options: Vec<(String, String)> },
    /// On or off.
    Switch,
    /// A line of text of so many characters.
    Text { most: usize },
    /// Words that are typed or pasted, of so many characters; what stands in their place while
    /// there are none.
    Words { most: usize, placeholder: String },
    /// A matrix whose entries are typed, between `-most` and `most`.
    Matrix { rows: Vec<String>, columns: Vec<String>, most: f64 },
    /// A table of cells that are on (1) or off (0), painted by hand.
    Paint { rows: Vec<String>, columns: Vec<String> },
    /// A point of a plane, to be dragged, between `-most` and `most` along both axes.
    Point { most: f64 },
}

impl Control {
    /// What a page needs to make the control.
    pub fn to_json(&self) -> Value {
        let mut control = json!(self);
        control["caption"] = json!(formula(self.label));
        control
    }
}

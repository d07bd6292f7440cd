//! What a reader can take hold of.

use attention::{Matrix, thousands};
use figures::formula;
use serde_json::{Value, json};

/// One control of a live figure.
#[derive(Debug, Clone)]
pub struct Control {
    /// What an address calls it.
    pub key: &'static str,
    /// What stands next to it.
    pub label: String,
    /// What it is, and where it stands first.
    pub kind: Kind,
    /// Of a figure that is trained: whether it can be changed without training anew.
    pub at_any_time: bool,
}

/// A kind of control, with what it can be set to and where it stands first.
#[derive(Debug, Clone)]
pub enum Kind {
    /// A number from a range, on a slider and in a field.
    Number {
        /// The least and the most.
        range: [f64; 2],
        /// From one place of the slider to the next.
        step: f64,
        /// Where it stands first.
        first: f64,
    },
    /// A whole number from a range.
    Count {
        /// The least and the most.
        range: [usize; 2],
        /// Where it stands first.
        first: usize,
    },
    /// One of several, each a value and what stands next to it.
    Choice {
        /// All of them.
        options: Vec<(String, String)>,
        /// Which of them is chosen first.
        first: usize,
    },
    /// On or off.
    Switch {
        /// Whether it is on first.
        first: bool,
    },
    /// A line of text.
    Text {
        /// The most characters.
        most: usize,
        /// What it says first.
        first: &'static str,
    },
    /// A matrix whose entries are typed.
    Matrix {
        /// What the rows are.
        rows: Vec<String>,
        /// What the columns are.
        columns: Vec<String>,
        /// The largest entry, and its negative the least.
        most: f64,
        /// What it holds first.
        first: Matrix,
    },
    /// A table of cells that are on (1) or off (0), painted by hand.
    Paint {
        /// What the rows are.
        rows: Vec<String>,
        /// What the columns are.
        columns: Vec<String>,
        /// What it holds first.
        first: Matrix,
    },
    /// A point of a plane, to be dragged.
    Point {
        /// The largest x and y, and their negatives the least.
        most: f64,
        /// Where it stands first.
        first: [f64; 2],
    },
}

impl Kind {
    /// One of several, each a value and what stands next to it; the first is chosen first.
    pub fn choice<V: Into<String>, N: Into<String>>(
        options: impl IntoIterator<Item = (V, N)>,
    ) -> Self {
        let options = options.into_iter();
        let options = options.map(|(value, name)| (value.into(), name.into())).collect();
        Self::Choice { options, first: 0 }
    }

    /// A size from 2 to the power of `least` to 2 to the power of `most`.
    pub fn power_of_two([least, most]: [u32; 2], first: u32) -> Self {
        let sizes = (least..=most).map(|exponent| 1usize << exponent);
        let options = sizes.map(|size| (size.to_string(), thousands(size))).collect();
        Self::Choice { options, first: (first - least) as usize }
    }
}

impl Control {
    /// A control of this key, label and kind.
    pub fn new(key: &'static str, label: impl Into<String>, kind: Kind) -> Self {
        Self { key, label: label.into(), kind, at_any_time: false }
    }

    /// The same, of a figure that is trained: changed without training anew.
    pub fn at_any_time(self) -> Self {
        Self { at_any_time: true, ..self }
    }

    /// Where it stands first, as an address writes it.
    pub fn first(&self) -> String {
        match &self.kind {
            Kind::Number { first, .. } => first.to_string(),
            Kind::Count { first, .. } => first.to_string(),
            Kind::Choice { options, first } => {
                options.get(*first).map(|(value, _)| value.clone()).unwrap_or_default()
            }
            Kind::Switch { first } => if *first { "on" } else { "off" }.to_owned(),
            Kind::Text { first, .. } => (*first).to_owned(),
            Kind::Matrix { first, .. } | Kind::Paint { first, .. } => written(first),
            Kind::Point { first: [x, y], .. } => format!("{x},{y}"),
        }
    }

    /// What a page needs to make the control.
    pub fn to_json(&self) -> Value {
        let mut control = match &self.kind {
            Kind::Number { range: [least, most], step, .. } => {
                json!({ "kind": "number", "least": least, "most": most, "step": step })
            }
            Kind::Count { range: [least, most], .. } => {
                json!({ "kind": "count", "least": least, "most": most })
            }
            Kind::Choice { options, .. } => {
                json!({ "kind": "choice", "options": options })
            }
            Kind::Switch { .. } => json!({ "kind": "switch" }),
            Kind::Text { most, .. } => json!({ "kind": "text", "most": most }),
            Kind::Matrix { rows, columns, most, .. } => {
                json!({ "kind": "matrix", "rows": rows, "columns": columns, "most": most })
            }
            Kind::Paint { rows, columns, .. } => {
                json!({ "kind": "paint", "rows": rows, "columns": columns })
            }
            Kind::Point { most, .. } => json!({ "kind": "point", "most": most }),
        };
        control["key"] = json!(self.key);
        control["label"] = json!(self.label);
        control["caption"] = json!(formula(&self.label));
        control["first"] = json!(self.first());
        control["at_any_time"] = json!(self.at_any_time);
        control
    }
}

/// A matrix as an address writes it: rows apart by `;`, entries by `,`.
fn written(matrix: &Matrix) -> String {
    let row =
        |row: Vec<f64>| row.iter().map(f64::to_string).collect::<Vec<_>>().join(",");
    let rows = matrix.row_iter().map(|it| row(it.iter().copied().collect()));
    rows.collect::<Vec<_>>().join(";")
}

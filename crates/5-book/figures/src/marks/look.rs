//! What a mark is made of.

use serde::Serialize;
use serde_json::{Number, Value};

use crate::layout::Values;
use crate::palette::Stops;

/// Numbers; none where there is a gap.
type Column = Vec<Option<Number>>;

/// What is drawn at the places.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(crate) enum Shape {
    /// Lines through points, a mark or a text at each: one of these or several.
    Points {
        x: Column,
        y: Column,
        #[serde(rename = "has_lines")]
        lines: bool,
        #[serde(rename = "has_marks")]
        marks: bool,
        #[serde(rename = "has_texts")]
        texts: bool,
    },
    Bars {
        places: Column,
        sizes: Column,
        /// Whether they lie under one another.
        lying: Option<bool>,
    },
    Cells {
        rows: Vec<Column>,
        /// In a notebook, in pixels.
        #[serde(skip)]
        gap: usize,
    },
}

impl Default for Shape {
    fn default() -> Self {
        Self::Cells { rows: Vec::new(), gap: 0 }
    }
}

impl Shape {
    pub(super) fn bars(sizes: Column, are_lying: bool) -> Self {
        let places = (0..sizes.len()).column();
        Self::Bars { places, sizes, lying: are_lying.then_some(true) }
    }
}

/// How a line is drawn.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(crate) struct Stroke {
    pub(crate) colour: Option<String>,
    pub(crate) width: Option<f64>,
    pub(crate) dash: Option<String>,
}

/// Marks that are dragged along an axis that is not logarithmic.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Drags {
    pub(crate) axis: &'static str,
    /// What each mark sets.
    pub(crate) keys: Texts,
}

/// A line around marks.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Outline {
    pub(crate) colour: String,
    pub(crate) width: Option<Number>,
}

/// The colours of cells, between two ends.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Scale {
    pub(crate) stops: Stops,
    pub(crate) ends: [Option<Number>; 2],
}

/// Of all bars or marks, or one each.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub(crate) enum Colours {
    One(String),
    Each(Vec<String>),
}

impl Colours {
    pub(super) fn new(value: Value) -> Option<Self> {
        match value {
            Value::String(colour) => Some(Self::One(colour)),
            list => serde_json::from_value(list).ok().map(Self::Each),
        }
    }
}

/// One text per point or bar, or rows of them.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub(crate) enum Texts {
    List(Vec<String>),
    Rows(Vec<Vec<String>>),
}

impl Texts {
    pub(super) fn new(texts: impl Values) -> Self {
        let value = texts.json();
        if value.get(0).is_some_and(Value::is_array) {
            return Self::Rows(serde_json::from_value(value).unwrap_or_default());
        }
        Self::List(serde_json::from_value(value).unwrap_or_default())
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        let texts: Vec<&String> = match self {
            Self::List(list) => list.iter().collect(),
            Self::Rows(rows) => rows.iter().flatten().collect(),
        };
        texts.into_iter().map(String::as_str)
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::List(list) => list.len(),
            Self::Rows(rows) => rows.len(),
        }
    }
}

//! What a page's scripts know of a thing that is drawn.

/// What a drawing calls a thing that may move.
#[derive(Debug, Clone, Default)]
pub(in crate::diagram) struct Key {
    /// Unique in its drawing.
    pub(in crate::diagram) name: String,
    /// What it is made of, if that was drawn before it.
    pub(in crate::diagram) from: Option<String>,
    /// What a click on it sets: `word=2`.
    pub(in crate::diagram) pick: Option<String>,
    /// What its numbers are sums of.
    pub(in crate::diagram) product: Option<Product>,
}

/// What a row of numbers is: a row times a matrix. A page writes the sum of each out.
#[derive(Debug, Clone)]
pub(in crate::diagram) struct Product {
    /// What the row is called.
    pub(in crate::diagram) name: String,
    /// The things whose numbers, one after the other, are the row.
    pub(in crate::diagram) left: Vec<String>,
    /// The rows of the matrix; or one thing, whose numbers are its only column.
    pub(in crate::diagram) right: Vec<String>,
    /// What the sums are divided by: `√2`.
    pub(in crate::diagram) over: Option<String>,
}

impl Key {
    pub(in crate::diagram) fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    pub(in crate::diagram) fn from(self, other: impl Into<String>) -> Self {
        Self { from: Some(other.into()), ..self }
    }

    pub(in crate::diagram) fn sums(self, product: Product) -> Self {
        Self { product: Some(product), ..self }
    }

    pub(in crate::diagram) fn picks(self, setting: impl Into<String>) -> Self {
        Self { pick: Some(setting.into()), ..self }
    }
}

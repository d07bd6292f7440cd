//! The shapes of one forward pass, step by step.

use std::fmt;

use crate::Shape;

/// One step of a pass: what is computed, from which shapes, to which shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShapeStep {
    /// The formula, such as `Q_i = X · W_i^Q`.
    pub formula: String,
    /// The shapes that go in; none if the step changes no shape.
    pub from: Vec<Shape>,
    /// How many equal pieces the step joins; 1 for a product.
    pub pieces: usize,
    /// The shape that comes out.
    pub to: Shape,
}

impl ShapeStep {
    /// A product of matrices.
    pub fn product(formula: impl Into<String>, from: [Shape; 2], to: Shape) -> Self {
        Self { formula: formula.into(), from: from.to_vec(), pieces: 1, to }
    }

    /// A step that keeps its shape.
    pub fn same(formula: impl Into<String>, shape: Shape) -> Self {
        Self { formula: formula.into(), from: vec![], pieces: 1, to: shape }
    }

    /// A piece cut from a matrix.
    pub fn piece(formula: impl Into<String>, from: Shape, to: Shape) -> Self {
        Self { formula: formula.into(), from: vec![from], pieces: 1, to }
    }

    /// Equal pieces set side by side.
    pub fn joined(
        formula: impl Into<String>,
        pieces: usize,
        from: Shape,
        to: Shape,
    ) -> Self {
        Self { formula: formula.into(), from: vec![from], pieces, to }
    }

    fn shapes(&self) -> String {
        let text = |(rows, cols): &Shape| format!("({rows}, {cols})");
        if self.from.is_empty() {
            return text(&self.to);
        }
        let from = self.from.iter().map(text).collect::<Vec<_>>().join(" × ");
        let pieces =
            if self.pieces == 1 { String::new() } else { format!("{} × ", self.pieces) };
        format!("{pieces}{from} → {}", text(&self.to))
    }
}

/// The shapes of one forward pass, taken from the matrices that it made.
///
/// # Source
/// Source 003, "Parallel Head Computation", whose layout it prints.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ShapeTrace {
    parts: Vec<(String, Vec<ShapeStep>)>,
}

impl ShapeTrace {
    /// The trace with one more part under its heading.
    #[must_use]
    pub fn part(mut self, heading: impl Into<String>, steps: Vec<ShapeStep>) -> Self {
        self.parts.push((heading.into(), steps));
        self
    }

    /// The trace with all parts of another one behind it.
    #[must_use]
    pub fn followed_by(mut self, other: Self) -> Self {
        self.parts.extend(other.parts);
        self
    }

    /// Every step in order.
    pub fn steps(&self) -> impl Iterator<Item = &ShapeStep> {
        self.parts.iter().flat_map(|(_, steps)| steps)
    }
}

impl fmt::Display for ShapeTrace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.steps().map(|step| step.formula.chars().count()).max();
        let width = width.unwrap_or(0);
        for (heading, steps) in &self.parts {
            writeln!(f, "{heading}")?;
            for step in steps {
                writeln!(f, "  {:<width$}   {}", step.formula, step.shapes())?;
            }
        }
        Ok(())
    }
}

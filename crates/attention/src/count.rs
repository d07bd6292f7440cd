//! The ledger of parameters.

use std::fmt;

use crate::table::write_table;
use crate::{Linear, Real, Shape, thousands};

/// One line of the ledger: a matrix or a bias, and how many heads have their own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Count {
    name: String,
    copies: usize,
    shape: Shape,
}

impl Count {
    /// The lines of a projection: its matrix, and its bias if it has one. The superscript
    /// is `^Q`, or `_i^Q` for a projection that each head has.
    pub(crate) fn of_linear<T: Real>(
        superscript: &str,
        copies: usize,
        linear: &Linear<T>,
    ) -> Vec<Self> {
        let weight = (format!("W{superscript}"), linear.weight.shape());
        let bias =
            linear.bias.as_ref().map(|bias| (format!("b{superscript}"), bias.shape()));
        [Some(weight), bias]
            .into_iter()
            .flatten()
            .map(|(name, shape)| Self { name, copies, shape })
            .collect()
    }

    /// `W^Q`, `b^O`, or `W_i^Q` for a matrix that each head has.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many there are of it.
    pub fn copies(&self) -> usize {
        self.copies
    }

    /// Rows and columns; a bias has one row.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// How many numbers can be learned here: copies × rows × columns.
    pub fn parameters(&self) -> usize {
        self.copies * self.shape.0 * self.shape.1
    }

    fn shape_text(&self) -> String {
        let (rows, cols) = self.shape;
        let is_bias = self.name.starts_with('b');
        let one =
            if is_bias { format!("({cols},)") } else { format!("({rows}, {cols})") };
        if self.copies == 1 { one } else { format!("{} × {one}", self.copies) }
    }
}

/// A ledger of every parameter of a layer, made from the matrices that it holds.
///
/// It prints itself as a table, matrices before biases.
///
/// ```
/// use attention::{Dims, LayerParameters, Rng, SeedableRng};
///
/// let rng = &mut Rng::seed_from_u64(1);
/// let layer: LayerParameters = LayerParameters::random(Dims::new(256, 8)?, true, rng);
/// let ledger = layer.count();
/// assert_eq!((ledger.total(), ledger.in_words().as_str()), (263_168, "~263K"));
/// assert_eq!(ledger.counts()[0].name(), "W_i^Q");
/// # Ok::<(), attention::Error>(())
/// ```
///
/// # Source
/// Source 003, "Parameter Count": 263,168 at `d_model` 256 with 8 heads.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ParameterCount {
    counts: Vec<Count>,
}

impl ParameterCount {
    /// A ledger of these lines; matrices are put before biases.
    ///
    /// A line is made from matrices that are in memory, so no number here overflows.
    pub(crate) fn of_parts(counts: impl IntoIterator<Item = Count>) -> Self {
        let mut counts: Vec<Count> = counts.into_iter().collect();
        counts.sort_by_key(|count| count.name.starts_with('b'));
        Self { counts }
    }

    /// The lines.
    pub fn counts(&self) -> &[Count] {
        &self.counts
    }

    /// The number of parameters in all.
    pub fn total(&self) -> usize {
        self.counts.iter().map(Count::parameters).sum()
    }

    /// The total rounded to thousands, as people say it: `~263K`.
    pub fn in_words(&self) -> String {
        match self.total() {
            small if small < 1_000 => small.to_string(),
            middle if middle < 1_000_000 => format!("~{:.0}K", middle as f64 / 1e3),
            large => format!("~{:.1}M", large as f64 / 1e6),
        }
    }
}

impl fmt::Display for ParameterCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rows = vec![["matrix", "shape", "parameters"].map(String::from).to_vec()];
        rows.extend(self.counts.iter().map(|count| {
            vec![count.name.clone(), count.shape_text(), thousands(count.parameters())]
        }));
        rows.push(vec!["total".into(), self.in_words(), thousands(self.total())]);
        write_table(f, &rows)
    }
}

#[cfg(test)]
mod tests {
    use crate::{Dims, LayerParameters, Rng, SeedableRng};

    #[test]
    fn a_layer_counts_its_parameters() {
        let dims = Dims::with_head_sizes(6, 3, 4, 5).unwrap();
        let layer: LayerParameters =
            LayerParameters::random(dims, true, &mut Rng::seed_from_u64(1));
        insta::assert_snapshot!(layer.count(), @"
        matrix  shape       parameters
        W_i^Q   3 × (6, 4)          72
        W_i^K   3 × (6, 4)          72
        W_i^V   3 × (6, 5)          90
        W^O     (15, 6)             90
        b_i^Q   3 × (4,)            12
        b_i^K   3 × (4,)            12
        b_i^V   3 × (5,)            15
        b^O     (6,)                 6
        ──────────────────────────────
        total   369                369
        ");
    }
}

//! The ledger of parameters.

use std::fmt;

use crate::table::write_table;
use crate::{Dims, Error, Linear, Real, Result, Shape, thousands};

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
    pub fn of_linear<T: Real>(
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

/// A ledger of every parameter of a layer, made from the matrices that it holds; or, if
/// it is to be known before there are any, [from its sizes](Self::of_dims).
///
/// It prints itself as a table, matrices before biases.
///
/// ```
/// use attention::{Dims, LayerParameters, ParameterCount, Rng, SeedableRng};
///
/// let rng = &mut Rng::seed_from_u64(1);
/// let layer: LayerParameters = LayerParameters::random(Dims::new(256, 8)?, true, rng);
/// let ledger = layer.count();
/// assert_eq!((ledger.total(), ledger.in_words().as_str()), (263_168, "~263K"));
/// assert_eq!(ledger.counts()[0].name(), "W_i^Q");
/// let large = ParameterCount::of_dims(Dims::new(12_288, 96)?, false)?;
/// assert_eq!(large.in_words(), "~604.0M");
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
    /// Their matrices are in memory, so no number here overflows.
    pub fn of_parts(counts: impl IntoIterator<Item = Count>) -> Self {
        let mut counts: Vec<Count> = counts.into_iter().collect();
        counts.sort_by_key(|count| count.name.starts_with('b'));
        Self { counts }
    }

    /// The ledger that a packed layer of these sizes would have, however large.
    ///
    /// # Errors
    /// [`Error::TooLarge`] if a `usize` cannot hold the count.
    pub fn of_dims(dims: Dims, bias: bool) -> Result<Self> {
        let (d_model, concat_width) = (dims.d_model(), dims.concat_width());
        let keys = dims.n_heads() * dims.d_k();
        let matrices = [
            ("Q", (d_model, keys)),
            ("K", (dims.key_width(), keys)),
            ("V", (dims.value_width(), concat_width)),
            ("O", (concat_width, d_model)),
        ];
        let biases = matrices.map(|(name, (_, width))| ('b', name, (1, width)));
        let parts = matrices.map(|(name, shape)| ('W', name, shape)).into_iter();
        let parts = parts.chain(biases.into_iter().filter(|_| bias));
        let mut total = Some(0usize);
        let count = |(letter, name, shape): (char, &str, Shape)| {
            total = total.and_then(|sum| sum.checked_add(shape.0.checked_mul(shape.1)?));
            Count { name: format!("{letter}^{name}"), copies: 1, shape }
        };
        let counts = parts.map(count).collect();
        let what = || format!("the parameters of a layer {d_model} wide, added up,");
        total.ok_or_else(|| Error::TooLarge { what: what() })?;
        Ok(Self { counts })
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
    use crate::{Dims, LayerParameters, ParameterCount, Rng, SeedableRng};

    #[test]
    fn sizes_alone_give_the_ledger_of_the_layer() {
        let wide = Dims::with_head_sizes(6, 3, 4, 5).unwrap();
        let across = wide.with_source_widths(7, 8).unwrap();
        for dims in [wide, across, Dims::new(1, 1).unwrap(), Dims::new(48, 12).unwrap()] {
            for bias in [true, false] {
                let layer: LayerParameters =
                    LayerParameters::random(dims, bias, &mut Rng::seed_from_u64(1));
                let ledger = ParameterCount::of_dims(dims, bias).unwrap();
                assert_eq!(ledger, layer.pack().count());
            }
        }
        let vast = Dims::new(1 << 40, 8).unwrap();
        insta::assert_snapshot!(ParameterCount::of_dims(vast, true).unwrap_err(), @"the parameters of a layer 1099511627776 wide, added up, is more than this machine can count");
    }

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

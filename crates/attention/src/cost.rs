//! The ledger of work: how many multiply-adds a forward pass takes.

use std::fmt;

use crate::table::write_table;
use crate::{Dims, thousands};

/// One line of the ledger: a product of two matrices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cost {
    /// What the product computes.
    pub name: &'static str,
    /// The product with its sizes.
    pub formula: String,
    /// A multiplication and an addition, counted as one.
    pub multiply_adds: usize,
}

/// The multiply-adds of one forward pass over one sequence, by step.
///
/// Softmax, biases and masks are left out: they grow more slowly than any of these.
///
/// # Source
/// Source 000, section 10.3, "Why divide the dimension?": 8 heads of 64 cost what one of
/// 512 costs, and 8 heads of 512 cost 8 times as much.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MultiplyAdds {
    costs: Vec<Cost>,
}

impl MultiplyAdds {
    /// Counts a pass of `n_q` queries over `n_kv` keys and values.
    // ANCHOR: count
    pub fn count(dims: Dims, n_q: usize, n_kv: usize) -> Self {
        let (h, d_k, d_v) = (dims.n_heads(), dims.d_k(), dims.d_v());
        // h products of [n, m] × [m, p] take h · n · m · p multiply-adds.
        let cost = |name, [h, n, m, p]: [usize; 4]| Cost {
            name,
            formula: format!("{h} × ({n}, {m}) × ({m}, {p})"),
            multiply_adds: h * n * m * p,
        };
        Self {
            costs: vec![
                cost("query W^Q", [h, n_q, dims.d_model(), d_k]),
                cost("key W^K", [h, n_kv, dims.key_width(), d_k]),
                cost("value W^V", [h, n_kv, dims.value_width(), d_v]),
                cost("Q Kᵀ", [h, n_q, d_k, n_kv]),
                cost("A V", [h, n_q, n_kv, d_v]),
                cost("concat W^O", [1, n_q, dims.concat_width(), dims.d_model()]),
            ],
        }
    }
    // ANCHOR_END: count

    /// The lines.
    pub fn costs(&self) -> &[Cost] {
        &self.costs
    }

    /// The multiply-adds in all.
    pub fn total(&self) -> usize {
        self.costs.iter().map(|cost| cost.multiply_adds).sum()
    }
}

impl fmt::Display for MultiplyAdds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rows =
            vec![["step", "products", "multiply-adds"].map(String::from).to_vec()];
        rows.extend(self.costs.iter().map(|cost| {
            vec![cost.name.into(), cost.formula.clone(), thousands(cost.multiply_adds)]
        }));
        rows.push(vec!["total".into(), String::new(), thousands(self.total())]);
        write_table(f, &rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dividing_the_width_keeps_the_cost_and_not_dividing_multiplies_it() {
        let total = |h, width| {
            let dims = Dims::with_head_sizes(512, h, width, width).unwrap();
            MultiplyAdds::count(dims, 100, 100).total()
        };
        assert_eq!(total(8, 64), total(1, 512));
        assert_eq!(total(8, 512), 8 * total(1, 512));
    }

    #[test]
    fn the_ledger_prints_itself() {
        let dims = Dims::new(256, 8).unwrap();
        insta::assert_snapshot!(MultiplyAdds::count(dims, 30, 30), @"
        step        products                    multiply-adds
        query W^Q   8 × (30, 256) × (256, 32)       1,966,080
        key W^K     8 × (30, 256) × (256, 32)       1,966,080
        value W^V   8 × (30, 256) × (256, 32)       1,966,080
        Q Kᵀ        8 × (30, 32) × (32, 30)           230,400
        A V         8 × (30, 30) × (30, 32)           230,400
        concat W^O  1 × (30, 256) × (256, 256)      1,966,080
        ─────────────────────────────────────────────────────
        total                                       8,325,120
        ");
    }
}

//! The ledger of work: how many multiply-adds a forward pass takes.

use std::fmt;

use crate::table::write_table;
use crate::{Dims, Error, Result, thousands};

/// One line of the ledger: a product of two matrices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cost {
    /// What the product computes.
    pub name: &'static str,
    /// The product with its sizes.
    pub formula: String,
    /// A multiplication and an addition, counted as one.
    pub multiply_adds: u64,
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
    total: u64,
}

impl MultiplyAdds {
    /// Counts a pass of `n_q` queries over `n_kv` keys and values.
    ///
    /// ```
    /// use attention::{Dims, MultiplyAdds};
    ///
    /// let one_wide = Dims::with_head_sizes(512, 1, 512, 512)?;
    /// let eight_narrow = Dims::new(512, 8)?;
    /// let of = |dims| MultiplyAdds::count(dims, 100, 100);
    /// assert_eq!(of(eight_narrow)?.total(), of(one_wide)?.total());
    /// # Ok::<(), attention::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::TooLarge`] if a `u64` cannot hold the count.
    // ANCHOR: count
    pub fn count(dims: Dims, n_q: usize, n_kv: usize) -> Result<Self> {
        let (h, d_k, d_v) = (dims.n_heads(), dims.d_k(), dims.d_v());
        Self::of_products([
            ("query W^Q", [h, n_q, dims.d_model(), d_k]),
            ("key W^K", [h, n_kv, dims.key_width(), d_k]),
            ("value W^V", [h, n_kv, dims.value_width(), d_v]),
            ("Q Kᵀ", [h, n_q, d_k, n_kv]),
            ("A V", [h, n_q, n_kv, d_v]),
            ("concat W^O", [1, n_q, dims.concat_width(), dims.d_model()]),
        ])
    }
    // ANCHOR_END: count

    /// Counts products by name: `[h, n, m, p]` are h products of `[n, m]` and `[m, p]`, which
    /// take h · n · m · p multiply-adds.
    ///
    /// # Errors
    /// As [`count`](Self::count).
    pub fn of_products(
        products: impl IntoIterator<Item = (&'static str, [usize; 4])>,
    ) -> Result<Self> {
        let cost = |(name, [h, n, m, p]): (_, [usize; 4])| {
            let formula = format!("{h} × ({n}, {m}) × ({m}, {p})");
            let multiply_adds =
                checked([h, n, m, p].map(|it| it as u64), u64::checked_mul, &formula)?;
            Ok(Cost { name, formula, multiply_adds })
        };
        let costs = products.into_iter().map(cost).collect::<Result<Vec<_>>>()?;
        let each = costs.iter().map(|cost| cost.multiply_adds);
        let total = checked(each, u64::checked_add, "the sum of all products")?;
        Ok(Self { costs, total })
    }

    /// The lines.
    pub fn costs(&self) -> &[Cost] {
        &self.costs
    }

    /// The multiply-adds in all.
    pub fn total(&self) -> u64 {
        self.total
    }
}

/// The numbers combined, if a `u64` holds what comes out.
fn checked(
    numbers: impl IntoIterator<Item = u64>,
    combine: fn(u64, u64) -> Option<u64>,
    what: &str,
) -> Result<u64> {
    let all = numbers.into_iter().map(Some).reduce(|a, b| combine(a?, b?)).flatten();
    all.ok_or_else(|| Error::TooLarge { what: what.to_string() })
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
            MultiplyAdds::count(dims, 100, 100).unwrap().total()
        };
        assert_eq!(total(8, 64), total(1, 512));
        assert_eq!(total(8, 512), 8 * total(1, 512));
    }

    #[test]
    fn the_ledger_prints_itself() {
        let dims = Dims::new(256, 8).unwrap();
        insta::assert_snapshot!(MultiplyAdds::count(dims, 30, 30).unwrap(), @"
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

    #[test]
    fn what_is_too_much_to_count_is_refused_with_its_numbers() {
        let refused = |width, n| {
            let dims = Dims::with_head_sizes(width, 1, width, 1).unwrap();
            MultiplyAdds::count(dims, n, n).unwrap_err()
        };
        insta::assert_snapshot!(refused(1 << 40, 1), @"1 × (1, 1099511627776) × (1099511627776, 1099511627776) is more than this machine can count");
        insta::assert_snapshot!(refused(1 << 31, 2), @"the sum of all products is more than this machine can count");
        let widest = Dims::new(usize::MAX, usize::MAX).unwrap();
        assert!(MultiplyAdds::count(widest, 1, 1).is_err());
    }
}

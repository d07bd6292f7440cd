//! What is timed: five sizes of a layer, forward, and forward and backward.

use std::fmt;

use anyhow::{Context, Result};
use attention::{Dims, Mask, MultiplyAdds};

/// One size of a self-attention layer and its input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Case {
    /// What `--case` calls it.
    pub name: &'static str,
    /// The number of sequences.
    pub batch: usize,
    /// The number of tokens of each.
    pub tokens: usize,
    /// The width of a token.
    pub d_model: usize,
    /// The number of heads.
    pub heads: usize,
    /// Whether a causal mask is on.
    pub causal: bool,
}

/// The sizes of sources 003 and 004, of a small language model, and two long ones.
pub const CASES: [Case; 5] = [
    Case::new("003", [1, 30, 256, 8], false),
    Case::new("004", [32, 100, 512, 8], false),
    Case::new("1k-causal", [8, 1024, 768, 12], true),
    Case::new("4k", [1, 4096, 512, 8], false),
    Case::new("16k", [1, 16384, 256, 4], false),
];

/// What is timed of a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pass {
    /// The output.
    Forward,
    /// The output, and the gradients of the input and of all parameters.
    ForwardBackward,
    /// Nothing but the product of one projection, all tokens by W^Q: the control that says
    /// how much of a layer's speed is that of its products.
    Product,
}

impl Pass {
    /// Each of them.
    pub const ALL: [Self; 3] = [Self::Forward, Self::ForwardBackward, Self::Product];

    /// `forward`, `forward + backward` or `product`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Forward => "forward",
            Self::ForwardBackward => "forward + backward",
            Self::Product => "product",
        }
    }

    /// The pass of this name.
    ///
    /// # Errors
    /// Another name.
    pub fn named(name: &str) -> Result<Self> {
        Self::ALL
            .into_iter()
            .find(|pass| pass.name() == name)
            .with_context(|| format!("there is no pass {name:?}"))
    }
}

impl Case {
    /// A case of `[batch, tokens, d_model, heads]`.
    pub const fn new(name: &'static str, sizes: [usize; 4], causal: bool) -> Self {
        let [batch, tokens, d_model, heads] = sizes;
        Self { name, batch, tokens, d_model, heads, causal }
    }

    /// The cases with these names; `all` is every one.
    ///
    /// # Errors
    /// A name that no case has, with those that there are.
    pub fn named(names: &[String]) -> Result<Vec<Self>> {
        if names.iter().any(|name| name == "all") {
            return Ok(CASES.to_vec());
        }
        let known = CASES.map(|case| case.name).join(", ");
        let find = |name: &String| {
            CASES.into_iter().find(|case| case.name == name).with_context(|| {
                format!("there is no case {name:?}; there are {known}, and all")
            })
        };
        names.iter().map(find).collect()
    }

    /// The sizes of the layer.
    ///
    /// # Errors
    /// A width that the heads do not divide.
    pub fn dims(&self) -> attention::Result<Dims> {
        Dims::new(self.d_model, self.heads)
    }

    /// The mask of every sequence.
    pub fn mask(&self) -> Mask {
        if self.causal { Mask::Causal } else { Mask::None }
    }

    /// Multiplications and additions of the products, each counted: the four projections,
    /// and of the maps what the mask leaves. Softmax is not counted.
    ///
    /// The backward pass is counted twice the forward pass: each product has two gradients. What
    /// an implementation computes a second time, to keep less, counts for nothing.
    ///
    /// # Errors
    /// As [`Case::dims`].
    pub fn flops(&self, pass: Pass) -> attention::Result<f64> {
        let (n, d) = (self.tokens, self.d_model);
        if pass == Pass::Product {
            return Ok(2.0 * (self.batch * n * d * d) as f64);
        }
        let all = MultiplyAdds::count(self.dims()?, n, n)?.total() as usize;
        let hidden = if self.causal { n * (n - 1) / 2 } else { 0 };
        let multiply_adds = self.batch * (all - 2 * hidden * d); // Q Kᵀ and A V
        let passes = if pass == Pass::Forward { 1 } else { 3 };
        Ok(2.0 * (passes * multiply_adds) as f64)
    }

    /// The bytes of every head's map of every sequence, in numbers of so many bytes.
    pub fn maps(&self, bytes: usize) -> u64 {
        (self.batch * self.heads) as u64 * self.map(bytes)
    }

    /// The bytes of one map.
    pub fn map(&self, bytes: usize) -> u64 {
        (self.tokens * self.tokens * bytes) as u64
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { batch, tokens, d_model, heads, causal, .. } = self;
        let causal = if *causal { ", causal" } else { "" };
        write!(f, "({batch}, {tokens}, {d_model}), {heads} heads{causal}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_causal_mask_leaves_the_diagonal_and_what_is_below() {
        let flops =
            |causal| Case::new("", [2, 3, 8, 2], causal).flops(Pass::Forward).unwrap();
        // Four projections (3, 8) × (8, 8), and two products over 9 or 6 pairs.
        assert_eq!(flops(false), 2.0 * 2.0 * (4 * 3 * 8 * 8 + 2 * 9 * 8) as f64);
        assert_eq!(flops(true), 2.0 * 2.0 * (4 * 3 * 8 * 8 + 2 * 6 * 8) as f64);
        let back = CASES[0].flops(Pass::ForwardBackward).unwrap();
        assert_eq!(back, 3.0 * CASES[0].flops(Pass::Forward).unwrap());
        let product = CASES[1].flops(Pass::Product).unwrap();
        assert_eq!(product, 2.0 * (32 * 100 * 512 * 512) as f64);
    }

    #[test]
    fn cases_are_found_by_name() {
        let named = |names: &[&str]| {
            Case::named(&names.iter().map(|&n| n.into()).collect::<Vec<_>>())
        };
        assert_eq!(named(&["4k", "003"]).unwrap(), [CASES[3], CASES[0]]);
        assert_eq!(named(&["all"]).unwrap(), CASES);
        insta::assert_snapshot!(named(&["5k"]).unwrap_err(), @r#"there is no case "5k"; there are 003, 004, 1k-causal, 4k, 16k, and all"#);
    }
}

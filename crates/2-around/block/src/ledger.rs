//! What a block costs, part by part.

use std::fmt;

use attention::{
    Error, Linear, MultiHeadAttention, MultiplyAdds, Real, Result, thousands, write_table,
};

use crate::Block;

/// A part of a block with what it costs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// What it is.
    pub name: &'static str,
    /// How many parameters are learned in it.
    pub parameters: usize,
    /// Multiply-adds of a pass over one sequence; what grows more slowly is left out.
    pub multiply_adds: u64,
}

/// The parts of a block, from the parameters that it holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ledger {
    /// The parts.
    pub parts: Vec<Part>,
    /// The number of tokens of the pass.
    pub n_tokens: usize,
}

impl Ledger {
    /// Counts a block and a pass of `n_tokens` through it.
    ///
    /// ```
    /// use attention::{Dims, LayerParameters, Rng, SeedableRng};
    /// use block::{Block, FeedForward, LayerNorm, Ledger, Norm, Sublayer};
    /// use fused_heads::FusedAttention;
    ///
    /// let rng = &mut Rng::seed_from_u64(1);
    /// let parameters = LayerParameters::<f64>::random(Dims::new(256, 8)?, true, rng);
    /// let norm = || Norm::After(LayerNorm::identity(256));
    /// let block = Block {
    ///     attention: Sublayer::new(FusedAttention::new(&parameters), norm()),
    ///     feed_forward: Some(Sublayer::new(FeedForward::random(256, 1024, rng), norm())),
    /// };
    /// let ledger = Ledger::of(&block, 30)?;
    /// assert_eq!(ledger.parts[0].parameters, 263_168); // a third of the block
    /// assert_eq!(ledger.parameters(), 789_760);
    /// # Ok::<(), attention::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::TooLarge`] if a `u64` cannot hold a count.
    pub fn of<A: MultiHeadAttention<T>, T: Real>(
        block: &Block<A, T>,
        n_tokens: usize,
    ) -> Result<Self> {
        let layer = &block.attention.function;
        let work = MultiplyAdds::count(layer.dims(), n_tokens, n_tokens)?;
        let of_pairs = |name: &str| matches!(name, "Q Kᵀ" | "A V");
        let pairs = work
            .costs()
            .iter()
            .filter(|cost| of_pairs(cost.name))
            .map(|c| c.multiply_adds);
        let pairs = pairs.sum();
        let mut parts = vec![
            Part {
                name: "attention: projections",
                parameters: layer.parameter_count().total(),
                multiply_adds: work.total() - pairs,
            },
            Part {
                name: "attention: pairs of tokens",
                parameters: 0,
                multiply_adds: pairs,
            },
        ];
        let ffn = block.feed_forward.as_ref();
        if let Some(sublayer) = ffn {
            let both = [&sublayer.function.w_1, &sublayer.function.w_2];
            let parameters = both.iter().map(|linear| count(linear)).sum();
            let weights: usize = both.iter().map(|linear| linear.weight.len()).sum();
            let multiply_adds = (weights as u64).checked_mul(n_tokens as u64);
            let what = || format!("{n_tokens} tokens through a feed-forward layer");
            let multiply_adds =
                multiply_adds.ok_or_else(|| Error::TooLarge { what: what() })?;
            parts.push(Part { name: "feed-forward", parameters, multiply_adds });
        }
        let norms = [Some(&block.attention.norm), ffn.map(|sublayer| &sublayer.norm)];
        let norms = norms.into_iter().flatten().filter_map(|norm| norm.get());
        let parameters = norms.map(|norm| norm.gain.len() + norm.bias.len()).sum();
        parts.push(Part { name: "norms", parameters, multiply_adds: 0 });
        Ok(Self { parts, n_tokens })
    }

    /// The parameters in all.
    pub fn parameters(&self) -> usize {
        self.parts.iter().map(|part| part.parameters).sum()
    }

    /// The multiply-adds in all.
    pub fn multiply_adds(&self) -> u64 {
        self.parts.iter().map(|part| part.multiply_adds).sum()
    }
}

fn count<T: Real>(linear: &Linear<T>) -> usize {
    linear.entries().iter().map(|entries| entries.len()).sum()
}

impl fmt::Display for Ledger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let share = |n: f64, all: f64| format!("{:.1} %", 100.0 * n / all.max(1.0));
        let (parameters, work) = (self.parameters(), self.multiply_adds());
        let head = ["part", "parameters", "share", "multiply-adds", "share"];
        let mut rows = vec![head.map(String::from).to_vec()];
        rows.extend(self.parts.iter().map(|part| {
            vec![
                part.name.into(),
                thousands(part.parameters),
                share(part.parameters as f64, parameters as f64),
                thousands(part.multiply_adds),
                share(part.multiply_adds as f64, work as f64),
            ]
        }));
        let empty = String::new;
        rows.push(vec![
            "total".into(),
            thousands(parameters),
            empty(),
            thousands(work),
            empty(),
        ]);
        write_table(f, &rows)
    }
}

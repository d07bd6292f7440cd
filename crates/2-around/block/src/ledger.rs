//! What a block costs, part by part, and a whole encoder and decoder.

use std::fmt;

use attention::{
    Error, MultiHeadAttention, MultiplyAdds, Real, Result, thousands, write_table,
};

use gradients::Entries;

use crate::{Block, EncoderDecoder, FeedForward};

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
    /// The number of tokens of the pass; of an encoder and a decoder those that are written.
    pub n_tokens: usize,
}

impl Ledger {
    /// Counts a block and a pass of `n_tokens` through it.
    ///
    /// ```
    /// use attention::{Dims, LayerParameters, Rng, SeedableRng};
    /// use block::{Block, FeedForward, LayerNorm, Ledger, Norms, Sublayer};
    /// use fused_heads::FusedAttention;
    ///
    /// let rng = &mut Rng::seed_from_u64(1);
    /// let parameters = LayerParameters::<f64>::random(Dims::new(256, 8)?, true, rng);
    /// let norms = || Norms::after(LayerNorm::identity(256));
    /// let attention = Sublayer::new(FusedAttention::new(&parameters), norms());
    /// let feed_forward = Sublayer::new(FeedForward::random(256, 1024, rng), norms());
    /// let block = Block::new(attention, Some(feed_forward));
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
        let mut ledger = Self::new(n_tokens);
        ledger.add(&ALONE, block, [n_tokens; 2])?;
        Ok(ledger)
    }

    /// Counts an encoder and a decoder, and a pass of `n_target` tokens that read `n_source`:
    /// of cross-attention the keys and values are projected once per token of the source.
    ///
    /// # Errors
    /// As [`of`](Self::of).
    pub fn of_both<A: MultiHeadAttention<T>, T: Real>(
        model: &EncoderDecoder<A, T>,
        [n_source, n_target]: [usize; 2],
    ) -> Result<Self> {
        let mut ledger = Self::new(n_target);
        for block in &model.encoder.blocks {
            ledger.add(&ENCODER, block, [n_source; 2])?;
        }
        for block in &model.decoder.blocks {
            ledger.add(&DECODER, block, [n_target, n_source])?;
        }
        let last_norms = [&model.encoder.last_norm, &model.decoder.last_norm];
        for norm in last_norms {
            ledger.add_part(NORMS, norm.n_entries(), 0);
        }
        Ok(ledger)
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

/// How the parts of a block are called: projections and pairs of its attention.
struct Names {
    attention: [&'static str; 2],
    feed_forward: &'static str,
}

const CROSS: [&str; 2] = ["cross: projections", "cross: target × source"];
const ALONE: Names = Names {
    attention: ["attention: projections", "attention: pairs of tokens"],
    feed_forward: "feed-forward",
};
const ENCODER: Names = Names {
    attention: ["encoder: projections", "encoder: source × source"],
    feed_forward: "encoder: feed-forward",
};
const DECODER: Names = Names {
    attention: ["decoder: projections", "decoder: target × target"],
    feed_forward: "decoder: feed-forward",
};

/// All norms together, the last part.
const NORMS: &str = "norms";

impl Ledger {
    fn new(n_tokens: usize) -> Self {
        let norms = Part { name: NORMS, parameters: 0, multiply_adds: 0 };
        Self { parts: vec![norms], n_tokens }
    }

    /// Adds a block and a pass of n_tokens that read n_source others.
    fn add<A: MultiHeadAttention<T>, T: Real>(
        &mut self,
        names: &Names,
        block: &Block<A, T>,
        [n_tokens, n_source]: [usize; 2],
    ) -> Result<()> {
        let own = &block.attention;
        self.add_attention(names.attention, &own.function, [n_tokens; 2])?;
        self.add_part(NORMS, own.norms.n_entries(), 0);
        if let Some(cross) = &block.cross {
            self.add_attention(CROSS, &cross.function, [n_tokens, n_source])?;
            self.add_part(NORMS, cross.norms.n_entries(), 0);
        }
        if let Some(sublayer) = &block.feed_forward {
            self.add_feed_forward(names.feed_forward, &sublayer.function, n_tokens)?;
            self.add_part(NORMS, sublayer.norms.n_entries(), 0);
        }
        Ok(())
    }

    /// An attention of n_q queries on n_kv keys, its projections and its pairs.
    fn add_attention<T: Real>(
        &mut self,
        [projections, of_pairs]: [&'static str; 2],
        layer: &impl MultiHeadAttention<T>,
        [n_q, n_kv]: [usize; 2],
    ) -> Result<()> {
        let work = MultiplyAdds::count(layer.dims(), n_q, n_kv)?;
        let is_of_pairs = |name: &str| matches!(name, "Q Kᵀ" | "A V");
        let costs = work.costs().iter().filter(|cost| is_of_pairs(cost.name));
        let pairs = costs.map(|cost| cost.multiply_adds).sum();
        let n_parameters = layer.parameter_count().total();
        self.add_part(projections, n_parameters, work.total() - pairs);
        self.add_part(of_pairs, 0, pairs);
        Ok(())
    }

    fn add_feed_forward<T: Real>(
        &mut self,
        name: &'static str,
        layer: &FeedForward<T>,
        n_tokens: usize,
    ) -> Result<()> {
        let weights: usize = layer.projections().map(|it| it.weight.len()).sum();
        let work = (weights as u64).checked_mul(n_tokens as u64);
        let what = || format!("{n_tokens} tokens through a feed-forward layer");
        let work = work.ok_or_else(|| Error::TooLarge { what: what() })?;
        self.add_part(name, layer.n_entries(), work);
        Ok(())
    }

    /// Adds to the part of this name, which stands before the norms.
    fn add_part(&mut self, name: &'static str, parameters: usize, multiply_adds: u64) {
        match self.parts.iter_mut().find(|other| other.name == name) {
            Some(other) => {
                other.parameters += parameters;
                other.multiply_adds += multiply_adds;
            }
            None => {
                let part = Part { name, parameters, multiply_adds };
                self.parts.insert(self.parts.len() - 1, part);
            }
        }
    }
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
        let total = ["total", &thousands(parameters), "", &thousands(work), ""];
        rows.push(total.map(String::from).to_vec());
        write_table(f, &rows)
    }
}

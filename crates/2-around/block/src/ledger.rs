//! What a block costs, part by part, and a whole encoder and decoder.

use std::fmt;

use attention::{
    Error, Linear, MultiHeadAttention, MultiplyAdds, Real, Result, thousands, write_table,
};

use crate::{Block, EncoderDecoder, FeedForward, LayerNorm, Norm, Sublayer};

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
        let [projections, pairs] =
            ["attention: projections", "attention: pairs of tokens"];
        let attention = &block.attention;
        let mut parts = attention_parts([projections, pairs], attention, [n_tokens; 2])?;
        parts.extend(feed_forward_part("feed-forward", &block.feed_forward, n_tokens)?);
        let ffn = block.feed_forward.as_ref().map(|sublayer| &sublayer.norm);
        let norms = [Some(&attention.norm), ffn].into_iter().flatten();
        parts.push(norms_part(norms.filter_map(Norm::get)));
        Ok(Self { parts, n_tokens })
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
        let mut parts: Vec<Part> = Vec::new();
        let mut norms: Vec<&LayerNorm<T>> = Vec::new();
        for block in &model.encoder.blocks {
            let names = ["encoder: projections", "encoder: source × source"];
            add(&mut parts, attention_parts(names, &block.attention, [n_source; 2])?);
            let name = "encoder: feed-forward";
            add(&mut parts, feed_forward_part(name, &block.feed_forward, n_source)?);
            let ffn = block.feed_forward.as_ref().map(|sublayer| &sublayer.norm);
            norms.extend(
                [Some(&block.attention.norm), ffn]
                    .into_iter()
                    .flatten()
                    .filter_map(Norm::get),
            );
        }
        for block in &model.decoder.blocks {
            let names = ["decoder: projections", "decoder: target × target"];
            add(&mut parts, attention_parts(names, &block.attention, [n_target; 2])?);
            let names = ["cross: projections", "cross: target × source"];
            let lengths = [n_target, n_source];
            add(&mut parts, attention_parts(names, &block.cross_attention, lengths)?);
            let name = "decoder: feed-forward";
            add(&mut parts, feed_forward_part(name, &block.feed_forward, n_target)?);
            let ffn = block.feed_forward.as_ref().map(|sublayer| &sublayer.norm);
            let own = [&block.attention.norm, &block.cross_attention.norm];
            norms.extend(own.into_iter().chain(ffn).filter_map(Norm::get));
        }
        norms.extend(&model.encoder.last_norm);
        norms.extend(&model.decoder.last_norm);
        parts.push(norms_part(norms.into_iter()));
        Ok(Self { parts, n_tokens: n_target })
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

/// What an attention of n_q queries on n_kv keys costs, for its projections and its pairs.
fn attention_parts<A: MultiHeadAttention<T>, T: Real>(
    [projections, of_pairs]: [&'static str; 2],
    attention: &Sublayer<A, T>,
    [n_q, n_kv]: [usize; 2],
) -> Result<Vec<Part>> {
    let layer = &attention.function;
    let work = MultiplyAdds::count(layer.dims(), n_q, n_kv)?;
    let is_of_pairs = |name: &str| matches!(name, "Q Kᵀ" | "A V");
    let costs = work.costs().iter().filter(|cost| is_of_pairs(cost.name));
    let pairs = costs.map(|cost| cost.multiply_adds).sum();
    Ok(vec![
        Part {
            name: projections,
            parameters: layer.parameter_count().total(),
            multiply_adds: work.total() - pairs,
        },
        Part { name: of_pairs, parameters: 0, multiply_adds: pairs },
    ])
}

fn feed_forward_part<T: Real>(
    name: &'static str,
    feed_forward: &Option<Sublayer<FeedForward<T>, T>>,
    n_tokens: usize,
) -> Result<Option<Part>> {
    let Some(sublayer) = feed_forward else { return Ok(None) };
    let both = [&sublayer.function.w_1, &sublayer.function.w_2];
    let parameters = both.iter().map(|linear| count(linear)).sum();
    let weights: usize = both.iter().map(|linear| linear.weight.len()).sum();
    let multiply_adds = (weights as u64).checked_mul(n_tokens as u64);
    let what = || format!("{n_tokens} tokens through a feed-forward layer");
    let multiply_adds = multiply_adds.ok_or_else(|| Error::TooLarge { what: what() })?;
    Ok(Some(Part { name, parameters, multiply_adds }))
}

fn norms_part<'a, T: Real>(norms: impl Iterator<Item = &'a LayerNorm<T>>) -> Part {
    let parameters = norms.map(|norm| norm.gain.len() + norm.bias.len()).sum();
    Part { name: "norms", parameters, multiply_adds: 0 }
}

/// Adds parts to those of the same names.
fn add(all: &mut Vec<Part>, parts: impl IntoIterator<Item = Part>) {
    for part in parts {
        match all.iter_mut().find(|other| other.name == part.name) {
            Some(other) => {
                other.parameters += part.parameters;
                other.multiply_adds += part.multiply_adds;
            }
            None => all.push(part),
        }
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

//! What is trained: two embeddings, an encoder, a decoder, an unembedding; and how they learn
//! together.

use attention::{
    Batch, Dims, Error, LayerParameters, Linear, Mask, Matrix, Result, Rng, random_matrix,
};
use block::{
    Activation, Block, Embedding, EncoderDecoder, FeedForward, LayerNorm, Ledger, Norms,
    Positions, Stack, StackGradients, StackPass, Sublayer,
};
use fused_heads::FusedAttention;
use gradients::{Adam, Entries, Optimiser, cross_entropy, linear_backward};

use super::{DateTexts, Dates, N_SOURCE, N_TARGET, PartShares};
use crate::Learner;
use crate::repeats::largest;

/// What a converter is built of: one block that reads and one that writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DateArchitecture {
    /// The width of a letter.
    pub d_model: usize,
    /// The number of heads of each attention.
    pub n_heads: usize,
    /// The width of the feed-forward layers.
    pub d_ff: usize,
}

impl DateArchitecture {
    /// Four heads on letters 32 wide: a quarter of the usual one, for a page that trains
    /// while somebody waits. [`Dates::small_schedule`] goes with it.
    pub fn small() -> Self {
        Self { d_model: 32, n_heads: 4, d_ff: 64 }
    }
}

impl Default for DateArchitecture {
    /// Four heads on letters 64 wide.
    fn default() -> Self {
        Self { d_model: 64, n_heads: 4, d_ff: 128 }
    }
}

/// From a date in any form to "2031-03-12". In `f32`, as [`Model`](crate::one_layer::Model).
#[derive(Debug, Clone, PartialEq)]
pub struct DateConverter {
    /// Of the letters that are read.
    pub source: Embedding<f32>,
    /// Of the letters written so far.
    pub target: Embedding<f32>,
    /// With norms before.
    pub model: EncoderDecoder<FusedAttention<f32>, f32>,
    /// From what comes out to a logit for each letter, `[d_model, Dates::N_WRITTEN]`.
    pub unembedding: Linear<f32>,
}

impl DateConverter {
    /// Random parameters, with learned positions on both sides.
    ///
    /// # Errors
    /// [`attention::Error`] for sizes that do not fit.
    pub fn random(built: DateArchitecture, rng: &mut Rng) -> Result<Self> {
        let DateArchitecture { d_model, n_heads, .. } = built;
        let dims = Dims::new(d_model, n_heads)?;
        let mut embedding = |n_letters, n_positions| Embedding {
            positions: Positions::Learned(random_matrix(n_positions, d_model, 1.0, rng)),
            ..Embedding::random(n_letters, d_model, rng)
        };
        let source = embedding(Dates::N_READ, N_SOURCE);
        let target = embedding(Dates::N_WRITTEN + 1, N_TARGET); // and the start
        let attention = |rng: &mut Rng| random_attention(dims, rng);
        let feed_forward = |rng: &mut Rng| random_feed_forward(built, rng);
        let reading = Block::new(attention(rng), feed_forward(rng));
        let (own, cross) = (attention(rng), attention(rng));
        let writing = Block { cross: Some(cross), ..Block::new(own, feed_forward(rng)) };
        let norm = || LayerNorm::identity(d_model);
        let [encoder, decoder] = [reading, writing]
            .map(|block| Stack { blocks: vec![block], last_norm: Some(norm().into()) });
        let unembedding = Linear::random(d_model, Dates::N_WRITTEN, true, rng);
        let model = EncoderDecoder { encoder, decoder };
        Ok(Self { source, target, model, unembedding })
    }

    /// What is read, through the encoder.
    ///
    /// # Errors
    /// [`attention::Error`] without dates.
    pub fn encode(&self, texts: &DateTexts) -> Result<StackPass<'_, f32>> {
        let x = self.source.forward(&texts.source, N_SOURCE)?;
        let x = Batch::new(texts.n_dates(), x)?;
        StackPass::forward(&self.model.encoder, &x, &texts.masks)
    }

    /// What comes out of the encoder, which the decoder reads.
    pub(super) fn memory(&self, texts: &DateTexts) -> Result<Batch<f32>> {
        Batch::new(texts.n_dates(), self.encode(texts)?.out().clone())
    }

    /// The letters so far, `[n_dates · n_letters]`, through the decoder; none sees what comes
    /// after it. With an order, letter r gets what letter `order[r]` reads.
    pub(super) fn decode<'a>(
        &'a self,
        letters: &[usize],
        memory: &'a Batch<f32>,
        texts: &DateTexts,
        order: Option<&'a [usize]>,
    ) -> Result<StackPass<'a, f32>> {
        let n_dates = texts.n_dates();
        let y = self.target.forward(letters, letters.len() / n_dates.max(1))?;
        let (y, memory) = (Batch::new(n_dates, y)?, (memory, &texts.masks[..]));
        let decoder = &self.model.decoder;
        StackPass::forward_moved(decoder, &y, &[Mask::Causal], memory, order)
    }

    /// What it writes, each letter the likeliest after those that it wrote before,
    /// `[n_dates · N_TARGET]`.
    pub(crate) fn write(&self, texts: &DateTexts) -> Result<Vec<usize>> {
        let memory = self.memory(texts)?;
        letter_by_letter(texts.n_dates(), &self.unembedding, |so_far| {
            Ok(self.decode(so_far, &memory, texts, None)?.out().clone())
        })
    }

    /// The share of dates that it writes without a mistake.
    ///
    /// # Errors
    /// As [`encode`](Self::encode).
    pub fn whole(&self, texts: &DateTexts) -> Result<f64> {
        Ok(texts.whole(&self.write(texts)?))
    }

    /// Where the heads of the cross-attention look while the right letters are written. The
    /// map of date s is judged by the parts of date `judged_by[s]`: itself, or, as a control,
    /// another one.
    ///
    /// # Errors
    /// As [`encode`](Self::encode).
    pub fn shares(&self, texts: &DateTexts, judged_by: &[usize]) -> Result<PartShares> {
        self.shares_given(texts, &texts.given(), judged_by)
    }

    /// Where the heads look in a date with the queries of a decoder that writes another one:
    /// it is given the letters of date `asked_by[s]` when it reads date s. The maps are
    /// judged by the parts of the date that is read.
    ///
    /// # Errors
    /// [`attention::Error`] for another number of dates, or one that there
    /// is not; as [`encode`](Self::encode).
    pub fn shares_asked_by(
        &self,
        texts: &DateTexts,
        asked_by: &[usize],
    ) -> Result<PartShares> {
        let n = texts.n_dates();
        Error::expect_length("the list of asking dates", n, asked_by.len())?;
        let own = texts.given();
        let mut given = Vec::new();
        for &date in asked_by {
            Error::expect_index("date", date, n)?;
            given.extend_from_slice(&own[date * N_TARGET..(date + 1) * N_TARGET]);
        }
        self.shares_given(texts, &given, &(0..n).collect::<Vec<_>>())
    }

    fn shares_given(
        &self,
        texts: &DateTexts,
        given: &[usize],
        judged_by: &[usize],
    ) -> Result<PartShares> {
        let memory = self.memory(texts)?;
        let pass = self.decode(given, &memory, texts, None)?;
        PartShares::of(&pass.blocks()[0].cross()?.attn, texts, judged_by)
    }

    /// What it holds, and what a date takes.
    ///
    /// # Errors
    /// [`attention::Error`] if a `u64` cannot hold a count.
    pub fn costs(&self) -> Result<Costs> {
        let blocks = Ledger::of_both(&self.model, [N_SOURCE, N_TARGET])?;
        Ok(Costs::of(self, &self.unembedding, blocks.multiply_adds()))
    }

    /// The number of heads of the cross-attention.
    pub fn n_heads(&self) -> usize {
        self.cross().parameters().dims().n_heads()
    }

    pub(super) fn cross(&self) -> &FusedAttention<f32> {
        let cross = self.model.decoder.blocks[0].cross.as_ref();
        &cross.expect("a converter reads another text").function
    }
}

/// Counts of a whole model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Costs {
    /// How many parameters are learned.
    pub parameters: usize,
    /// Multiply-adds of one date: all letters that can be read and the ten that are written,
    /// once each, as in training, or in writing with what was computed before kept. Pairs
    /// that a mask hides are counted too.
    pub multiply_adds: u64,
}

impl Costs {
    /// Those of a model with this unembedding, whose blocks take so many multiply-adds.
    pub(super) fn of(
        model: &impl Entries<f32>,
        unembedding: &Linear<f32>,
        of_blocks: u64,
    ) -> Self {
        let multiply_adds = of_blocks + (unembedding.weight.len() * N_TARGET) as u64;
        Self { parameters: model.n_entries(), multiply_adds }
    }
}

/// What is written, `[n_dates · N_TARGET]`, each letter the likeliest after those before it:
/// `pass` takes the letters so far of all dates to what comes out behind them, whose last row
/// of each date says what comes next.
pub(super) fn letter_by_letter(
    n_dates: usize,
    unembedding: &Linear<f32>,
    pass: impl Fn(&[usize]) -> Result<Matrix<f32>>,
) -> Result<Vec<usize>> {
    let mut written = vec![vec![Dates::START]; n_dates];
    for _ in 0..N_TARGET {
        let out = pass(&written.concat())?;
        let n_rows = out.nrows() / n_dates.max(1);
        let rows = (1..=n_dates).map(|date| date * n_rows - 1); // the last of each
        let last = out.select_rows(&rows.collect::<Vec<_>>());
        let next = largest(&unembedding.forward(&last)?);
        written.iter_mut().zip(next).for_each(|(so_far, letter)| so_far.push(letter));
    }
    Ok(written.iter().flat_map(|written| &written[1..]).copied().collect())
}

/// Attention with random parameters, a norm before it.
pub(super) fn random_attention(
    dims: Dims,
    rng: &mut Rng,
) -> Sublayer<FusedAttention<f32>, f32> {
    let layer = FusedAttention::new(&LayerParameters::random(dims, true, rng));
    Sublayer::new(layer, Norms::before(LayerNorm::identity(dims.d_model())))
}

/// A feed-forward layer with random parameters, a norm before it.
pub(super) fn random_feed_forward(
    built: DateArchitecture,
    rng: &mut Rng,
) -> Option<Sublayer<FeedForward<f32>, f32>> {
    let layer = FeedForward::random(built.d_model, built.d_ff, rng);
    let layer = FeedForward { activation: Activation::Relu, ..layer };
    Some(Sublayer::new(layer, Norms::before(LayerNorm::identity(built.d_model))))
}

/// A look at dates that it was not trained on.
#[derive(Debug, Clone, PartialEq)]
pub struct DateLook<S = PartShares> {
    /// The number of steps taken so far.
    pub step: usize,
    /// The loss of the last step; none before the first.
    pub loss: Option<f64>,
    /// The share of dates that are written without a mistake.
    pub whole: f64,
    /// Where the heads of the cross-attention look, or those of each block from the letters
    /// that are written.
    pub shares: S,
}

impl Learner for DateConverter {
    type Examples = DateTexts;
    type Look = DateLook;

    fn descend(&mut self, read: &DateTexts, adam: &mut Adam<f32>) -> Result<f32> {
        let (loss, gradients) = self.gradients(read, None)?;
        adam.step_entries(self, &gradients)?;
        Ok(loss)
    }

    fn look(&self, test: &DateTexts, losses: &[f64], _: usize) -> Result<DateLook> {
        Ok(DateLook {
            step: losses.len(),
            loss: losses.last().copied(),
            whole: self.whole(test)?,
            shares: self.shares(test, &(0..test.n_dates()).collect::<Vec<_>>())?,
        })
    }

    fn score(look: &DateLook) -> f64 {
        look.whole
    }
}

/// The gradients of all that a [`DateConverter`] holds: embeddings, encoder and decoder,
/// unembedding.
type DateGradients = ([Embedding<f32>; 2], [StackGradients<f32>; 2], Linear<f32>);

gradients::entries!([] f32, DateConverter: source, target, model, unembedding);

impl DateConverter {
    // Teacher forcing: before each letter stand the right ones, whatever it would have written.
    /// The loss and its gradients; with an order, letter r gets what letter `order[r]` reads.
    pub(super) fn gradients(
        &self,
        read: &DateTexts,
        order: Option<&[usize]>,
    ) -> Result<(f32, DateGradients)> {
        let encoded = self.encode(read)?;
        let memory = Batch::new(read.n_dates(), encoded.out().clone())?;
        let decoded = self.decode(&read.given(), &memory, read, order)?;
        let logits = self.unembedding.forward(decoded.out())?;
        let loss = cross_entropy(&logits, &read.target)?;

        let d_out = linear_backward(&self.unembedding, decoded.out(), &loss.gradient)?;
        let decoder = decoded.backward(&d_out.d_x)?;
        let encoder = encoded.backward(decoder.d_memory()?)?;
        let target = self.target.backward(&read.given(), N_TARGET, decoder.d_x())?;
        let source = self.source.backward(&read.source, N_SOURCE, encoder.d_x())?;
        Ok((loss.value, ([source, target], [encoder, decoder], d_out.d_linear)))
    }
}

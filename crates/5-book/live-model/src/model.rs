//! A model of a reader's: a sentence in all its heads, and a text that it writes, token by
//! token, also without some heads.

use ablation::{Draws, HeadOfLayer};
use attention::{LayerParameters, Matrix};
use fused_heads::FusedAttention;
use maps::TextHeads;
use model_files::MOST_SHOWN;
use models::decoders::FastDecoder;
use models::encoders::{Ablation, Encoder, Pass, Stage, Way};
use models::translators::Half;
use models::{Head, Kind, WriteOptions, finite};
use serde_json::{Value, json};
use texts::{Growing, Long, Text};

use crate::steps::{Request, Step, chosen, piece, token};
use crate::{Error, Writing};

/// A model and its tokenizer.
#[derive(Debug)]
pub struct Model {
    pub(crate) model: models::Model<LayerParameters<f32>, FastDecoder>,
    pub(crate) text: Text,
}

/// A sentence in all heads.
#[derive(Debug)]
pub struct SentenceHeads {
    /// Its tokens and their maps.
    pub text: TextHeads,
    pass: Pass<f32>,
    zeros: Vec<Matrix<f32>>,
}

/// So many draws, from this seed on, as `cargo learn ablate` takes them.
const DRAWS: (usize, u64) = (20, 0);

/// Tokens of a prompt that are read at once, so that a page can say how far it is, and stop.
const PIECE: usize = 16;

fn stage(parameters: &LayerParameters<f32>) -> Stage<f32> {
    Box::new(FusedAttention::new(parameters))
}

impl Model {
    /// What a reader is told of it.
    pub fn about(&self) -> Value {
        match &self.model.kind {
            Kind::Encoder(encoder) => json!({
                "writes": false,
                "family": encoder.config.family.name,
                "n_layers": encoder.config.n_layers,
                "n_heads": encoder.config.dims.n_heads(),
                "longest": encoder.config.longest().min(MOST_SHOWN),
            }),
            Kind::Decoder(decoder) => json!({
                "writes": true,
                "family": decoder.config.family.name,
                "n_layers": decoder.config.n_layers,
                "n_heads": decoder.config.sizes.groups.n_heads(),
                "n_kv_heads": decoder.config.sizes.groups.n_kv_heads(),
                "longest": decoder.config.n_positions,
                "n_vocabulary": decoder.config.n_vocabulary,
                "weight_bytes": decoder.weight_bytes(),
            }),
            Kind::Translator(translator) => {
                let config = &translator.config;
                let half = |half: Half| json!({ "n_layers": half.n_layers, "n_heads": half.sizes.dims.n_heads() });
                json!({
                    "writes": true,
                    "translates": true,
                    "family": config.family.name,
                    "encoder": half(config.encoder),
                    "decoder": half(config.decoder),
                    "n_positions": config.n_positions,
                    "longest": config.longest().min(MOST_SHOWN),
                    "n_vocabulary": config.n_target_vocabulary,
                    "left_out": config.writing.left_out,
                })
            }
        }
    }

    fn encoder(&self) -> Result<&Encoder<LayerParameters<f32>, f32>, Error> {
        match &self.model.kind {
            Kind::Encoder(encoder) => Ok(encoder),
            _ => Err(Error::LooksNot),
        }
    }

    /// A sentence in all heads of a model in which every token reads every other.
    ///
    /// # Errors
    /// As [`Text::pieces`] and [`Encoder::pass`]; [`Error::LongPage`]; [`Error::LooksNot`] of
    /// another model.
    pub fn look(&self, sentence: &str) -> Result<SentenceHeads, Error> {
        let encoder = self.encoder()?;
        let longest = encoder.config.longest();
        let pieces = self.text.pieces(sentence, longest, Long::Refuse)?;
        expect_short(pieces.pieces.len())?;
        let pass = encoder.pass(&pieces.sequence, stage)?;
        // A page is told numbers as JSON, which has no NaN.
        let attn = finite(pass.layers.clone())?.attn;
        let text = TextHeads::of_encoder(pieces.pieces, pieces.is_special, attn);
        Ok(SentenceHeads { text, zeros: pass.zeros(), pass })
    }

    /// The same sentence without some heads, zeros in their stead: what changes, and its maps.
    ///
    /// # Errors
    /// As [`Encoder::ablated`]; [`models::Error::HeadName`].
    pub fn ablate(
        &self,
        looked: &SentenceHeads,
        heads: &[String],
    ) -> Result<(Ablation, TextHeads), Error> {
        let mut heads: Vec<HeadOfLayer> =
            self.heads(heads)?.into_iter().map(Head::place).collect();
        heads.sort_unstable();
        heads.dedup();
        let n_heads = self.encoder()?.config.dims.n_heads();
        let draws = Draws::new(&heads, n_heads, DRAWS.0, DRAWS.1);
        let (ablation, layers) = Ablation::begin(&self.way(looked)?, heads, draws)?;
        let maps = finite(layers)?.attn;
        Ok((ablation, TextHeads { maps, ..looked.text.clone() }))
    }

    /// Computes the next draw of an ablation on that sentence, and says whether there was one.
    ///
    /// # Errors
    /// As [`Encoder::ablated`].
    pub fn draw(
        &self,
        looked: &SentenceHeads,
        ablation: &mut Ablation,
    ) -> Result<bool, Error> {
        Ok(ablation.draw(&self.way(looked)?)?)
    }

    fn way<'a>(
        &'a self,
        SentenceHeads { pass, zeros, .. }: &'a SentenceHeads,
    ) -> Result<Way<'a, f32>, Error> {
        Ok(Way { model: self.encoder()?, pass, instead: zeros, stage })
    }

    /// Begins a text without some heads, by their names; gives its tokens too, as a page shows
    /// them: those of a prompt, or those of a source and the one that is read first.
    ///
    /// # Errors
    /// [`Error::WritesNot`]; [`Error::LongPage`] for a source; as [`Text::pieces`],
    /// [`models::Sampling`], [`models::Model::head`] and [`models::Model::write`].
    pub fn begin(&mut self, asked: &Request) -> Result<(Writing, Value), Error> {
        let Self { model, text } = self;
        let has_source = match &model.kind {
            Kind::Encoder(_) => return Err(Error::WritesNot),
            Kind::Decoder(_) => false,
            Kind::Translator(_) => true,
        };
        let pieces = text.pieces(&asked.prompt, model.longest(), Long::Refuse)?;
        let given = pieces.sequence;
        if has_source {
            expect_short(given.n_tokens())?;
        }
        let off = asked.off.iter().map(|name| model.head(name));
        let options = WriteOptions {
            most: asked.n_tokens,
            choice: asked.choice()?,
            off: off.collect::<Result<_, _>>()?,
            piece: Some(PIECE),
            is_looking: true,
        };
        let writing = model.write(&given, options)?;
        let mut growing = Growing::default();
        let tokens = given.ids.iter().map(|&id| token(text, &mut growing, id));
        let tokens = tokens.collect::<Result<Vec<_>, _>>()?;
        let (text, told) = match writing.draft().ids().first() {
            Some(&id) if has_source => {
                let first = json!({ "id": id, "piece": piece(text, id), "adds": "" });
                (Growing::default(), json!({ "source": tokens, "tokens": [first] }))
            }
            _ => (growing, json!({ "tokens": tokens })),
        };
        let (n_given, sampling) = (given.n_tokens(), asked.sampling()?);
        Ok((Writing { writing, text, n_given, sampling }, told))
    }

    /// Reads what is unread, or the first of it; once all is read, chooses what comes next.
    ///
    /// # Errors
    /// As [`models::Model::step`].
    pub fn step(&mut self, to: &mut Writing) -> Result<Step, Error> {
        let Self { model, text } = self;
        let models::Step { id, logits, looks, source } = model.step(&mut to.writing)?;
        let (n_read, n) = (to.writing.draft().n_read(), to.n_given);
        let told = match id {
            None if source.is_some() => {
                json!({ "n_read": n, "n_tokens": n, "is_source": true })
            }
            None => json!({ "n_read": n_read, "n_tokens": n }),
            Some(id) => chosen(text, to, &logits, id)?,
        };
        let is_last = id.is_some() && to.writing.draft().is_done();
        Ok(Step { told, looks, source, is_last })
    }

    /// As many random other heads of the same layers and parts, by their names.
    ///
    /// # Errors
    /// As [`models::Model::head`]; [`Error::WritesNot`].
    pub fn others(&self, heads: &[String], seed: u64) -> Result<Vec<String>, Error> {
        if let Kind::Encoder(_) = self.model.kind {
            return Err(Error::WritesNot);
        }
        let others = self.model.others(&self.heads(heads)?, seed);
        Ok(others.iter().map(Head::to_string).collect())
    }

    fn heads(&self, names: &[String]) -> Result<Vec<Head>, Error> {
        Ok(names.iter().map(|name| self.model.head(name)).collect::<Result<_, _>>()?)
    }
}

/// Refuses a text whose maps are more than a page draws.
fn expect_short(n_tokens: usize) -> Result<(), Error> {
    match n_tokens <= MOST_SHOWN {
        true => Ok(()),
        false => Err(Error::LongPage { n_tokens }),
    }
}

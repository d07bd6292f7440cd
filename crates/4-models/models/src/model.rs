//! A model of any of the three kinds, read from its files: what it gives of a text, with all
//! heads and without some.

mod step;

use ablation::Draws;
use attention::{LayerParameters, Matrix, MultiHeadAttention};
use model_files::Sequence;

use crate::ablated::Whole;
use crate::decoders::{self, CachedDecoder};
use crate::encoders::Encoder;
use crate::finite::finite;
use crate::head::{Head, Part};
use crate::kind::{Kind, ModelFiles};
use crate::translators;
use crate::{Error, Result};

pub use step::{Step, WriteOptions, Writing};

/// A model that is read.
///
/// E is the attention of an encoder, and D a decoder: as it is read, which gives whole maps, or
/// packed, which writes fast.
#[derive(Debug)]
pub struct Model<E = LayerParameters<f32>, D = decoders::AsRead<f32>> {
    /// What it is.
    pub kind: Kind<Encoder<E, f32>, D, translators::AsRead<f32>>,
    /// The heads that put out zeros.
    off: Vec<Head>,
    /// Their layers with all heads.
    whole: Whole<f32>,
}

impl<E, D> Model<E, D> {
    /// A model with all heads on.
    pub fn new(kind: Kind<Encoder<E, f32>, D, translators::AsRead<f32>>) -> Self {
        Self { kind, off: Vec::new(), whole: Whole::default() }
    }

    /// The model of its files; `stage` makes the attention of an encoder, and `decoder` a
    /// decoder.
    ///
    /// # Errors
    /// As [`Encoder::read`], [`translators::AsRead::read`], and `decoder`.
    pub fn read(
        files: &ModelFiles,
        stage: impl FnMut(&LayerParameters<f32>) -> E,
        decoder: impl FnOnce(&decoders::Files) -> Result<D>,
    ) -> Result<Self> {
        Ok(Self::new(match files {
            Kind::Encoder(files) => Kind::Encoder(Encoder::read(files, stage)?),
            Kind::Decoder(files) => Kind::Decoder(decoder(files)?),
            Kind::Translator(files) => {
                Kind::Translator(translators::AsRead::read(files)?)
            }
        }))
    }
}

impl<D> Model<LayerParameters<f32>, D> {
    /// A decoder with all heads on.
    pub fn of_decoder(decoder: D) -> Self {
        Self::new(Kind::Decoder(decoder))
    }

    /// The decoder, if it is one.
    pub fn decoder(&mut self) -> Option<&mut D> {
        match &mut self.kind {
            Kind::Decoder(decoder) => Some(decoder),
            Kind::Encoder(_) | Kind::Translator(_) => None,
        }
    }
}

impl<E: MultiHeadAttention<f32>> Model<E> {
    /// `maps[l][h]` of a text, `[n_tokens, n_tokens]`.
    ///
    /// # Errors
    /// As [`Encoder::forward`]; [`Error::NotFinite`]; [`Error::TwoTexts`] for a model that
    /// reads two texts.
    pub fn maps(&self, sequence: &Sequence) -> Result<Vec<Vec<Matrix<f32>>>> {
        let layers = match &self.kind {
            Kind::Encoder(model) => model.forward(sequence)?,
            Kind::Decoder(model) => model.forward(sequence)?,
            Kind::Translator(model) => {
                return Err(Error::TwoTexts { family: model.config.family.name });
            }
        };
        Ok(finite(layers)?.attn)
    }
}

impl<E, D: CachedDecoder> Model<E, D> {
    /// The name of its family.
    pub fn family(&self) -> &'static str {
        match &self.kind {
            Kind::Encoder(model) => model.config.family.name,
            Kind::Decoder(model) => model.config().family.name,
            Kind::Translator(model) => model.config.family.name,
        }
    }

    /// How many tokens a text may have.
    pub fn longest(&self) -> usize {
        match &self.kind {
            Kind::Encoder(model) => model.config.longest(),
            Kind::Decoder(model) => model.config().n_positions,
            Kind::Translator(model) => model.config.longest(),
        }
    }

    /// A head by its name.
    ///
    /// # Errors
    /// [`Error::HeadName`], or [`Error::PartName`] in a model with three kinds of heads.
    pub fn head(&self, name: &str) -> Result<Head> {
        let has_parts = matches!(self.kind, Kind::Translator(_));
        match name.parse::<Head>() {
            Ok(head) if head.part.is_some() == has_parts => Ok(head),
            _ if has_parts => Err(Error::PartName { name: name.to_owned() }),
            _ => Err(Error::HeadName { name: name.to_owned() }),
        }
    }

    /// As many random other heads of the same layers and parts, as a control; fewer where a
    /// layer has no others.
    pub fn others(&self, heads: &[Head], seed: u64) -> Vec<Head> {
        let parts = [None].into_iter().chain(Part::ALL.map(Some));
        let of_part = |part| {
            let here = heads.iter().filter(|it| it.part == part);
            let here: Vec<_> = here.map(|it| it.place()).collect();
            let draws = Draws::new(&here, self.n_heads(part), 1, seed);
            let drawn = draws.sets.into_iter().flatten();
            drawn.map(move |(layer, head)| Head { part, layer, head })
        };
        parts.flat_map(of_part).collect()
    }

    /// How many heads each layer of a part has.
    fn n_heads(&self, part: Option<Part>) -> usize {
        let dims = match &self.kind {
            Kind::Encoder(model) => model.config.dims,
            Kind::Decoder(model) => model.config().dims(),
            Kind::Translator(model) => match part {
                Some(Part::Source) => model.config.encoder.sizes.dims,
                _ => model.config.decoder.sizes.dims,
            },
        };
        dims.n_heads()
    }

    /// Makes these heads put out zeros, and no others, from the next token on that is read.
    /// What was read before was computed with the heads of its time.
    ///
    /// # Errors
    /// [`Error::Sizes`], [`Error::HeadName`] and [`Error::PartName`] for a head that is not
    /// there; [`Error::WritesNot`] for an encoder, whose passes are ablated whole
    /// ([`Encoder::ablated`]).
    pub fn ablate(&mut self, heads: &[Head]) -> Result<()> {
        if self.off == heads {
            return Ok(());
        }
        let done = self.switch_off(heads);
        match done.is_ok() {
            true => self.off = heads.to_vec(),
            false => {
                self.off.clear();
                self.switch_off(&[])?;
            }
        }
        done
    }

    fn switch_off(&mut self, heads: &[Head]) -> Result<()> {
        match &mut self.kind {
            Kind::Encoder(_) => Err(self.writes_not()),
            Kind::Decoder(model) => model.switch_off(heads, &mut self.whole),
            Kind::Translator(model) => self.whole.switch_off(model, heads),
        }
    }

    fn writes_not(&self) -> Error {
        Error::WritesNot { family: self.family() }
    }
}

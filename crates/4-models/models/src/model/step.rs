//! A model writes, step by step: it reads on, or chooses a token.

use attention::Matrix;
use model_files::Sequence;
use variants::Cache;

use super::Model;
use crate::decoders::{CachedDecoder, Looks};
use crate::finite::finite;
use crate::head::Head;
use crate::kind::Kind;
use crate::translators::{self, Source};
use crate::writing::{Choice, Draft, Generation};
use crate::{Error, Result};

/// How a text is written.
#[derive(Debug, Clone)]
pub struct WriteOptions {
    /// How many tokens at most.
    pub most: usize,
    /// How each is chosen.
    pub choice: Choice,
    /// The heads that put out zeros.
    pub off: Vec<Head>,
    /// How many tokens of a decoder's prompt are read in one step; all of them for `None`.
    pub piece: Option<usize>,
    /// Whether each step says where the heads looked.
    pub is_looking: bool,
}

impl WriteOptions {
    /// At most so many tokens, each the most likely, with all heads.
    pub fn greedy(most: usize) -> Self {
        let (choice, off) = (Choice::greedy(), Vec::new());
        Self { most, choice, off, piece: None, is_looking: false }
    }
}

/// For so many tokens that are to be written room is made in advance: caches grow, and a model
/// may claim any length.
const MOST_IN_ADVANCE: usize = 1024;

/// A text that a model is writing.
#[derive(Debug)]
pub struct Writing<C> {
    draft: Draft,
    off: Vec<Head>,
    piece: usize,
    is_looking: bool,
    read: Read<C>,
}

/// What is kept of what was read.
#[derive(Debug)]
enum Read<C> {
    Decoder(C),
    Translator {
        text: Sequence,
        /// What was read of it, in the first step.
        source: Option<Box<Source<f32>>>,
        target: Vec<Cache<f32>>,
    },
}

impl<C> Writing<C> {
    /// The text so far. Of a model that writes from a source it begins with the token that is
    /// read first.
    pub fn draft(&self) -> &Draft {
        &self.draft
    }
}

/// What a step gave.
#[derive(Debug, Default)]
pub struct Step {
    /// The token that was chosen, once all before it are read.
    pub id: Option<usize>,
    /// The logits that it was chosen from: minus infinity for what the model's files forbid.
    pub logits: Vec<f64>,
    /// Where the heads looked from the token that was read last, if that is asked for; in a
    /// model that has a source, first those on what is written, then those on the source.
    pub looks: Vec<Looks>,
    /// All maps of a source that was read in this step: `source[l][i]` is of layer l and head i,
    /// `[n_source, n_source]`.
    pub source: Option<Vec<Vec<Matrix<f32>>>>,
}

impl<E, D: CachedDecoder> Model<E, D> {
    /// Begins to write behind a text, or from it; nothing is read yet.
    ///
    /// # Errors
    /// [`Error::Room`]; [`Error::WritesNot`]; as [`Generation::start`] and
    /// [`ablate`](Self::ablate).
    pub fn write(
        &mut self,
        text: &Sequence,
        options: WriteOptions,
    ) -> Result<Writing<D::Caches>> {
        let WriteOptions { most, choice, off, piece, is_looking } = options;
        let (draft, read) = match &self.kind {
            Kind::Encoder(_) => return Err(self.writes_not()),
            Kind::Decoder(model) => {
                let (config, n_text) = (model.config(), text.n_tokens());
                let n_positions = config.n_positions;
                if n_text.saturating_add(most) > n_positions {
                    return Err(Error::Room { n_text, n_new: most, n_positions });
                }
                let ends = config.ends.clone();
                let draft = Draft::new(&text.ids, choice).up_to(most);
                let draft =
                    draft.keeping_to(Generation { ends, ..Generation::default() });
                let caches = model.caches(n_text + most.min(MOST_IN_ADVANCE));
                (draft, Read::Decoder(caches))
            }
            Kind::Translator(model) => {
                let draft = translators::draft(&model.config, choice, most)?;
                let (text, target) = (text.clone(), model.caches());
                (draft, Read::Translator { text, source: None, target })
            }
        };
        self.ablate(&off)?;
        let piece = piece.unwrap_or(usize::MAX);
        Ok(Writing { draft, off, piece, is_looking, read })
    }

    /// Reads on, and once all is read, chooses the next token.
    ///
    /// # Errors
    /// For tokens that the model has not; [`Error::NotFinite`] for the maps of a source;
    /// [`Error::Logits`]; [`Error::WritesNot`] for a text of a model of another kind.
    pub fn step(&mut self, writing: &mut Writing<D::Caches>) -> Result<Step> {
        // Another text may have been read with other heads.
        self.ablate(&writing.off)?;
        let Writing { draft, piece, is_looking, read, .. } = writing;
        let (mut logits, looks) = match (&mut self.kind, read) {
            (Kind::Decoder(model), Read::Decoder(caches)) => {
                let unread = draft.unread();
                let is_all = unread.len() <= *piece;
                let next = &unread[..unread.len().min(*piece)];
                let (logits, looks) =
                    model.read_behind(next, caches, *is_looking && is_all)?;
                if !is_all {
                    draft.count_read(*piece);
                    return Ok(Step::default());
                }
                (logits, looks.into_iter().collect())
            }
            (Kind::Translator(model), Read::Translator { text, source, target }) => {
                let Some(source) = source else {
                    let read = model.read_source(text)?;
                    let maps = finite(read.layers.clone())?.attn;
                    *source = Some(Box::new(read));
                    return Ok(Step { source: Some(maps), ..Step::default() });
                };
                let layers = model.decode_cached(draft.unread(), source, target)?;
                let logits = model.logits(layers.out())?;
                let looks = match is_looking {
                    true => {
                        [&layers.attn, &layers.cross].map(|it| Looks::of_last(it)).into()
                    }
                    false => Vec::new(),
                };
                (logits.iter().map(|&logit| logit.into()).collect(), looks)
            }
            _ => return Err(self.writes_not()),
        };
        let id = draft.choose(&mut logits)?;
        Ok(Step { id: Some(id), logits, looks, source: None })
    }
}

//! A model that reads one text and writes another: what it might have written, and where the
//! heads of all three kinds looked.

use ablation::Draws;
use attention::Matrix;
use model_files::{MOST_SHOWN, Sequence};
use models::decoders::{Choice, Looks};
use models::finite;
use models::translators::{AsRead, Half, Head, Part, Source, Whole};
use serde_json::{Value, json};
use texts::{Growing, Long, Text};
use variants::Cache;

use crate::steps::{Chosen, piece, token};
use crate::{Asked, Error, Step};

/// A model that reads a source and writes from it.
#[derive(Debug)]
pub struct Translator {
    model: AsRead<f32>,
    text: Text,
    off: Vec<Head>,
    /// The layers that have heads off, with all of them.
    whole: Whole<f32>,
}

/// A target that is being written.
#[derive(Debug)]
pub struct Translation {
    source: Sequence,
    /// What was read of it, in the first step.
    read: Option<Source<f32>>,
    caches: Vec<Cache<f32>>,
    /// What is read next.
    unread: usize,
    /// What was written, without the token that the decoder reads first.
    text: Growing,
    n_tokens: usize,
    temperature: f64,
    choice: Choice,
    off: Vec<Head>,
}

impl Translator {
    pub(crate) fn new(model: AsRead<f32>, text: Text) -> Self {
        Self { model, text, off: Vec::new(), whole: Whole::default() }
    }

    /// What a reader is told of it.
    pub fn about(&self) -> Value {
        let config = &self.model.config;
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

    /// Begins to write from a text; gives the tokens of this source, and the one that the
    /// decoder reads first.
    ///
    /// # Errors
    /// As [`Text::pieces`], [`Choice::sampled`], [`AsRead::ablate`] and
    /// [`models::translators::Writing::start`]; [`Error::LongPage`].
    pub fn begin(&mut self, asked: &Asked<Head>) -> Result<(Translation, Value), Error> {
        let config = &self.model.config;
        let pieces = self.text.pieces(&asked.prompt, config.longest(), Long::Refuse)?;
        let n_tokens = pieces.sequence.n_tokens();
        if n_tokens > MOST_SHOWN {
            return Err(Error::LongPage { n_tokens });
        }
        let start = config.writing.start(config.n_target_vocabulary)?;
        // Positions are spent by what is read, and the last token is not.
        let most = asked.n_tokens.min(config.longest());
        let choice = asked.choice()?;
        self.ablate(&asked.off)?;
        let mut of_source = Growing::default();
        let ids = pieces.sequence.ids.iter();
        let source = ids.map(|&id| token(&self.text, &mut of_source, id));
        let source = source.collect::<Result<Vec<_>, _>>()?;
        let first = json!({ "id": start, "piece": piece(&self.text, start), "adds": "" });
        let translation = Translation {
            source: pieces.sequence,
            read: None,
            caches: self.model.caches(),
            unread: start,
            text: Growing::default(),
            n_tokens: most,
            temperature: asked.temperature,
            choice,
            off: asked.off.clone(),
        };
        Ok((translation, json!({ "source": source, "tokens": [first] })))
    }

    /// Reads the source, and after that writes a token.
    ///
    /// # Errors
    /// As [`AsRead::read_source`] and [`AsRead::decode_cached`];
    /// [`models::Error::NotFinite`] for maps, [`models::Error::Logits`].
    pub fn step(&mut self, translation: &mut Translation) -> Result<Step, Error> {
        // Another text may have been read without other heads.
        self.ablate(&translation.off)?;
        match translation.read.take() {
            None => self.read(translation),
            Some(source) => {
                let step = self.write(&source, translation);
                translation.read = Some(source);
                step
            }
        }
    }

    fn read(&self, translation: &mut Translation) -> Result<Step, Error> {
        let read = self.model.read_source(&translation.source)?;
        let maps = finite(read.layers.clone())?.attn;
        translation.read = Some(read);
        let n = translation.source.n_tokens();
        let told = json!({ "n_read": n, "n_tokens": n, "is_source": true });
        Ok(Step { told, looks: Vec::new(), source: Some(maps), is_last: false })
    }

    fn write(&self, source: &Source<f32>, to: &mut Translation) -> Result<Step, Error> {
        let Self { model, text, .. } = self;
        let layers = model.decode_cached(&[to.unread], source, &mut to.caches)?;
        let logits = model.logits(layers.out())?;
        let mut logits: Vec<f64> = logits.iter().map(|&logit| logit.into()).collect();
        let n_before = to.text.ids().len();
        let writing = &model.config.writing;
        writing.forbid(&mut logits, n_before == 0);
        let chosen = Chosen::of(&logits, &mut to.choice, to.temperature, text)?;
        let is_end = writing.ends.contains(&chosen.id);
        let is_last = is_end || n_before + 1 >= to.n_tokens;
        to.unread = chosen.id;
        let told = chosen.told(text, &mut to.text, n_before, [is_end, is_last])?;
        let looks = vec![from_one(&layers.attn), from_one(&layers.cross)];
        Ok(Step { told, looks, source: None, is_last })
    }

    /// As many random other heads of the same layers and parts, as a control; fewer where a
    /// layer has no others.
    pub fn others(&self, heads: &[Head], seed: u64) -> Vec<Head> {
        let config = &self.model.config;
        let of_part = |part| {
            let half = if part == Part::Source { config.encoder } else { config.decoder };
            let here = heads.iter().filter(|it| it.part == part);
            let here: Vec<_> = here.map(|it| (it.layer, it.head)).collect();
            let draws = Draws::new(&here, half.sizes.dims.n_heads(), 1, seed);
            let drawn = draws.sets.into_iter().flatten();
            drawn.map(move |(layer, head)| Head { part, layer, head })
        };
        Part::ALL.into_iter().flat_map(of_part).collect()
    }

    /// These heads off, and all others on.
    fn ablate(&mut self, heads: &[Head]) -> Result<(), Error> {
        if self.off == heads {
            return Ok(());
        }
        self.model.put_back(std::mem::take(&mut self.whole));
        self.off.clear();
        self.whole = self.model.ablate(heads)?;
        self.off = heads.to_vec();
        Ok(())
    }
}

/// The maps of one token that was read.
fn from_one(maps: &[Vec<Matrix<f32>>]) -> Looks {
    let of_layer = |heads: &Vec<Matrix<f32>>| {
        let n_keys = heads.first().map_or(0, Matrix::ncols);
        Matrix::from_fn(heads.len(), n_keys, |head, key| heads[head][(0, key)])
    };
    Looks { layers: maps.iter().map(of_layer).collect() }
}

//! A text that is read token by token.

use attention::Real;
use block::Layers;
use variants::Cache;

use crate::Result;
use crate::ablated::Whole;
use crate::decoders::config::Config;
use crate::decoders::decoder::AsRead;
use crate::decoders::looks::Looks;
use crate::head::Head;
use crate::writing::Predict;

/// A text that is being read: a model, and a cache per layer.
#[derive(Debug, Clone)]
pub struct Reader<'a, T: Real = f64> {
    model: &'a AsRead<T>,
    caches: Vec<Cache<T>>,
    last: Option<Layers<T>>,
}

impl<'a, T: Real> Reader<'a, T> {
    /// At the start of a text.
    pub fn new(model: &'a AsRead<T>) -> Self {
        Self { model, caches: model.caches(), last: None }
    }

    /// Hidden states and maps of the tokens that were read last.
    pub fn last(&self) -> Option<&Layers<T>> {
        self.last.as_ref()
    }
}

impl<T: Real> Predict for Reader<'_, T> {
    fn predict(&mut self, ids: &[usize]) -> Result<Vec<f64>> {
        let layers = self.model.forward_cached(ids, &mut self.caches)?;
        let last = layers.out().nrows() - 1;
        let logits = self.model.logits(&layers.out().rows(last, 1).into_owned())?;
        self.last = Some(layers);
        Ok(logits.iter().map(|logit| logit.to_f64()).collect())
    }
}

/// A decoder that reads tokens behind those of its caches: as it is read from its files, or
/// packed.
pub trait CachedDecoder {
    /// What it keeps of a text.
    type Caches: std::fmt::Debug;

    /// What its files say.
    fn config(&self) -> &Config;

    /// Those of an empty text, with room for so many tokens; for more they grow.
    fn caches(&self, n_tokens: usize) -> Self::Caches;

    /// The logits behind some tokens, and where the heads looked from the last of them, if that
    /// is asked for.
    ///
    /// # Shapes
    /// `[n_vocabulary]`.
    ///
    /// # Errors
    /// As [`AsRead::forward_cached`] and [`AsRead::logits`].
    fn read_behind(
        &mut self,
        ids: &[usize],
        caches: &mut Self::Caches,
        is_looking: bool,
    ) -> Result<(Vec<f64>, Option<Looks>)>;

    /// Makes these heads put out zeros, and no others; `whole` keeps what is to be put back.
    ///
    /// # Errors
    /// [`Error::Sizes`](crate::Error::Sizes) and [`Error::HeadName`](crate::Error::HeadName)
    /// for a head that is not there.
    fn switch_off(&mut self, heads: &[Head], whole: &mut Whole<f32>) -> Result<()>;
}

impl CachedDecoder for AsRead<f32> {
    type Caches = Vec<Cache<f32>>;

    fn config(&self) -> &Config {
        &self.config
    }

    fn caches(&self, _: usize) -> Vec<Cache<f32>> {
        self.caches()
    }

    fn read_behind(
        &mut self,
        ids: &[usize],
        caches: &mut Vec<Cache<f32>>,
        is_looking: bool,
    ) -> Result<(Vec<f64>, Option<Looks>)> {
        let layers = self.forward_cached(ids, caches)?;
        let looks = is_looking.then(|| Looks::of_last(&layers.attn));
        let last = layers.out().nrows() - 1;
        let logits = self.logits(&layers.out().rows(last, 1).into_owned())?;
        Ok((logits.iter().map(|&logit| logit.into()).collect(), looks))
    }

    fn switch_off(&mut self, heads: &[Head], whole: &mut Whole<f32>) -> Result<()> {
        whole.switch_off(self, heads)
    }
}

//! Where the heads look from the token that is read last, and the model without some of them.
//!
//! The keys of a text are in its caches anyway, so where a token's queries look is one product
//! a head more: no map is kept, and no other token asked. An ablated head puts out zeros, as
//! in [`study::ablated_layer`](crate::decoders::study::ablated_layer); what it does not say is not added
//! by W^O.

use attention::Matrix;

use super::{FastDecoder, PackedCaches};
use crate::Result;
use crate::decoders::looks::Looks;
use crate::decoders::study::HeadOfLayer;
use crate::head::lowest_layer;

impl FastDecoder {
    /// Ablates these heads and no others, from the next token on that is read.
    /// What caches have was computed with the heads of its time.
    ///
    /// # Errors
    /// [`Error::Sizes`](crate::Error::Sizes) for a layer or a head that is not there; the heads
    /// are then as they were.
    pub fn ablate(&mut self, heads: &[HeadOfLayer]) -> Result<()> {
        lowest_layer(heads, [self.blocks.len(), self.config.dims().n_heads()])?;
        for (layer, block) in self.blocks.iter_mut().enumerate() {
            let here = heads.iter().filter(|head| head.0 == layer).map(|head| head.1);
            block.ablate(here.collect());
        }
        Ok(())
    }

    /// As [`read`](Self::read), and where every head looked from the last of these tokens.
    ///
    /// # Shapes
    /// `[n_vocabulary]`, and a [`Looks`] over all tokens of the caches.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_looking(
        &mut self,
        ids: &[usize],
        caches: &mut PackedCaches,
    ) -> Result<(Vec<f32>, Looks)> {
        let mut layers = Vec::with_capacity(self.blocks.len());
        let x = self.through(ids, caches, |block, work, q, cache| {
            let n = cache.n_tokens();
            let q = q.rows(q.nrows() - 1, 1).into_owned();
            let rows = block.rows(work, &q, cache, &[n - 1])?;
            layers.push(Matrix::from_fn(rows.len(), n, |head, key| rows[head][(0, key)]));
            Ok(())
        })?;
        Ok((self.last_logits(&x)?, Looks { layers }))
    }
}

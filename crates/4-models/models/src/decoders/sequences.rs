//! What a decoder gets from a file.

use model_files::Sequence;
use tensors::TensorFile;

use crate::decoders::config::Config;
use crate::{Error, Result};

impl Config {
    /// The sequences of a file, each id and position being one that the model has.
    ///
    /// # Shapes
    /// As [`Sequence::read`].
    ///
    /// # Errors
    /// As [`Sequence::read`] and [`Sequence::expect_positions`];
    /// [`model_files::Error::Unsupported`] for types of tokens in GPT-2, which embeds them as tokens,
    /// and for positions from which it does not follow whether texts lie side by side.
    pub fn sequences(&self, file: &TensorFile) -> Result<Vec<Sequence>> {
        let refused = |found: &str, why| {
            let (file, found) = (file.name().to_string(), found.to_string());
            Err(Error::Files(model_files::Error::Unsupported { file, found, why }))
        };
        if self.family.name == "gpt2" && file.contains("token_type_ids") {
            let why = "GPT-2 adds the embedding of the token with the type's id, also of \
                       type 0, which is not done here";
            return refused("token_type_ids", why);
        }
        let sequences = Sequence::read(file, self.n_vocabulary, 1, true)?;
        Sequence::expect_positions(&sequences, file, self.n_positions)?;
        let counts = |one: &Sequence| {
            let places = one.positions.as_deref().unwrap_or_default();
            places.windows(2).all(|two| two[1] == two[0].wrapping_add(1))
        };
        if !file.contains("attention_mask") && !sequences.iter().all(counts) {
            let why = "it does not count by one and there is no attention_mask: several \
                       texts in a row, which must not see each other, or one; for one text \
                       give an attention_mask";
            return refused("position_ids", why);
        }
        Ok(sequences)
    }
}

//! The header of a GGUF file, which says what it is before its weights have come.

use model_files::Gguf;
use models::decoders::Files;
use texts::Text;

use crate::Error;

/// What is known of a GGUF file while it comes in.
#[derive(Debug, Default)]
pub(super) struct Beginning {
    /// The tokenizer, of a header that was read.
    text: Option<Box<Text>>,
    /// With fewer bytes the header is not read again: each time twice as many.
    n_tried: usize,
}

impl Beginning {
    /// Reads the header of a file of `n_bytes` once, as soon as its bytes are among these.
    ///
    /// # Errors
    /// As [`Gguf::begin`], [`Files::of_gguf`] and [`Files::text`];
    /// [`model_files::GgufError::Kind`] for a tensor of the model in a kind of number that is
    /// not read here.
    pub fn check(
        &mut self,
        file: &str,
        bytes: &[u8],
        n_bytes: usize,
    ) -> Result<(), Error> {
        let is_all = bytes.len() == n_bytes;
        if self.text.is_some() || (bytes.len() < 2 * self.n_tried && !is_all) {
            return Ok(());
        }
        self.n_tried = bytes.len();
        let gguf = Gguf::begin(file, bytes, n_bytes).map_err(models::Error::from)?;
        let Some(gguf) = gguf else { return Ok(()) };
        let unread = gguf.tensors().iter().filter_map(|(name, info)| {
            Some((name.clone(), gguf.expect(name, &info.shape).err()?))
        });
        let unread: Vec<_> = unread.collect();
        let files = Files::of_gguf(file.into(), gguf)?;
        let is_used = |name: &String| files.unused.iter().all(|it| it.name != *name);
        if let Some((_, error)) = unread.into_iter().find(|(name, _)| is_used(name)) {
            return Err(models::Error::from(error).into());
        }
        self.text = Some(Box::new(files.text()?));
        Ok(())
    }

    /// The tokenizer that the header has.
    pub fn text(self) -> Option<Text> {
        self.text.map(|text| *text)
    }
}

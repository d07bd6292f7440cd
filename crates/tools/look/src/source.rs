//! Where maps come from: a sentence through a model, or a file.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fs, io::Read as _};

use ::texts::{Long, Pieces, Text};
use anyhow::{Context, Result, bail, ensure};
use attention::LayerParameters;
use base64::prelude::{BASE64_STANDARD, Engine as _};
use kernels::PackedStage;
use maps::file::{Grid, MapText};
use maps::{TextHeads, file};
use model_files::read_text;
use models::decoders;
use models::encoders::Stage;
use models::{Kind, Model, ModelFiles};

use crate::sizes::{check_size, cut_hint};
use crate::view::{BesideMaps, View};

/// The longest text file that is read, in bytes.
const MOST_TEXT: u64 = 64 << 20;

/// The files that a command reads, whether they are there or not, of models and another: none
/// is written over.
pub fn inputs(models: &[&Path], file: Option<&Path>) -> Vec<PathBuf> {
    let of_models = models.iter().flat_map(|model| ModelFiles::files(model));
    of_models.chain(file.map(Path::to_path_buf)).collect()
}

/// The files of a model that writes.
pub fn decoder(path: &Path) -> Result<decoders::Files> {
    let model = ModelFiles::open(path)?;
    let family = model.family();
    let why = match model {
        ModelFiles::Decoder(files) => return Ok(files),
        ModelFiles::Encoder(_) => {
            "in which every token reads every other: it does not write"
        }
        _ => "which writes from a source: `cargo learn look --model` shows it",
    };
    bail!("{} is of the family {family}, {why}", path.display())
}

/// A model's files and its tokenizer: texts are read, and refused, before weights are.
pub struct ModelSource {
    pub files: ModelFiles,
    pub text: Text,
    /// When they began to be read.
    pub start: Instant,
}

impl ModelSource {
    pub fn of(folder: &Path) -> Result<Self> {
        let start = Instant::now();
        let files = ModelFiles::open(folder)?;
        let text = files.text()?;
        Ok(Self { files, text, start })
    }

    /// A text in tokens, if there is room for all its maps.
    pub fn pieces(&self, text: &str, long: Long) -> Result<Pieces> {
        let pieces = self.tokens(text, long)?;
        let [n_layers, n_heads] = self.files.n_heads();
        check_size([pieces.pieces.len(); 2], n_layers * n_heads)?;
        Ok(pieces)
    }

    /// A text in tokens.
    pub fn tokens(&self, text: &str, long: Long) -> Result<Pieces> {
        cut_hint(self.text.pieces(text, self.files.longest(), long))
    }

    /// A sentence in all heads.
    pub fn sentence(self, sentence: &str, long: Long) -> Result<View> {
        let (pieces, start) = (self.pieces(sentence, long)?, self.start);
        self.reader()?.view(sentence, pieces, start.elapsed())
    }

    /// The model itself; its files, a hundred megabytes, are no longer needed.
    pub fn reader(self) -> Result<Reader> {
        if let Kind::Translator(files) = &self.files {
            let family = files.config.family.name;
            return Err(models::Error::TwoTexts { family }.into());
        }
        let model = Model::read(&self.files, packed, decoders::AsRead::read)?;
        Ok(Reader { model, path: self.files.path().to_path_buf() })
    }
}

/// A model that is ready to read tokens.
pub struct Reader {
    model: Model<Stage<f32>>,
    path: PathBuf,
}

/// The fastest stage.
pub fn packed(parameters: &LayerParameters<f32>) -> Stage<f32> {
    Box::new(PackedStage::new(parameters))
}

impl Reader {
    /// Tokens in all heads.
    pub fn heads(&self, pieces: Pieces) -> Result<TextHeads> {
        let maps = self.model.maps(&pieces.sequence)?;
        ensure!(!maps.is_empty(), "a model without layers has no heads");
        let of = match self.model.kind {
            Kind::Decoder(_) => TextHeads::of_decoder,
            _ => TextHeads::of_encoder,
        };
        Ok(of(pieces.pieces, pieces.is_special, maps))
    }

    /// A sentence in all heads.
    pub fn view(
        &self,
        sentence: &str,
        pieces: Pieces,
        loading: Duration,
    ) -> Result<View> {
        let (start, n_uncut) = (Instant::now(), pieces.n_uncut);
        let text = self.heads(pieces)?;
        let times = [loading, start.elapsed()];
        Ok(View::of_model(&self.path, sentence, n_uncut, text, times))
    }
}

/// All of a text file.
pub fn text_file(path: &Path) -> Result<String> {
    let name = path.display();
    let mut bytes = Vec::new();
    // A pipe may be meant, and may never end.
    let file = fs::File::open(path);
    let read = file.and_then(|file| file.take(MOST_TEXT + 1).read_to_end(&mut bytes));
    read.with_context(|| format!("cannot read {name}"))?;
    ensure!(
        bytes.len() as u64 <= MOST_TEXT,
        "{name} has more than {MOST_TEXT} bytes, and texts have that many at most"
    );
    String::from_utf8(bytes).with_context(|| format!("{name} is not UTF-8"))
}

/// A sentence in all heads of the model in this folder.
pub fn of_sentence(folder: &Path, sentence: &str, long: Long) -> Result<View> {
    ModelSource::of(folder)?.sentence(sentence, long)
}

/// The texts of a file of maps. `tokens` is a text file with a token per line.
pub fn of_file(path: &Path, tokens: Option<&Path>) -> Result<Vec<View>> {
    let start = Instant::now();
    let lines = tokens.map(text_file).transpose()?;
    let texts = file::read(&file::open(path)?, lines.as_deref())?;
    let loading = start.elapsed();
    let view = |MapText { heads, grid, mut notes }: MapText| {
        let n_keys = heads.pieces.len();
        let is_whole = |it: &Grid| n_keys == it.n_before + it.rows * it.cols;
        if grid.is_some_and(|it| !is_whole(&it)) {
            notes.push("the grid is not drawn: some of its tokens were cut".to_owned());
        }
        let grid = grid.filter(is_whole);
        View {
            sentence: heads.shown_pieces().join(" "),
            n_uncut: n_keys,
            model: path.display().to_string(),
            text: heads,
            loading,
            computing: Duration::ZERO,
            beside: BesideMaps { notes, grid, ..BesideMaps::default() },
        }
    };
    Ok(texts.into_iter().map(view).collect())
}

/// The `nth` text of a file of maps, and what is to be said of it, one per line.
pub fn of_text(mut texts: Vec<View>, nth: usize) -> Result<(View, String)> {
    let n_texts = texts.len();
    expect_text(&texts, nth)?;
    let view = texts.swap_remove(nth);
    let notes = notes(&view, nth, n_texts);
    Ok((view, notes))
}

/// Whether there is an `nth` text.
pub fn expect_text(texts: &[View], nth: usize) -> Result<()> {
    let name = texts.first().map_or("", |it| it.model.as_str());
    let last = texts.len().saturating_sub(1);
    ensure!(
        nth < texts.len(),
        "{name}: there is no text {nth}: it has texts 0 to {last}"
    );
    Ok(())
}

/// What is to be said of the `nth` text, one per line.
pub fn notes(view: &View, nth: usize, n_texts: usize) -> String {
    let which = format!("text {nth} of {n_texts}: `--text N` shows another");
    let which = (n_texts > 1).then_some(&which);
    let notes = which.into_iter().chain(&view.beside.notes);
    notes.map(|note| format!("{}: {note}\n", view.model)).collect()
}

/// A picture in an address that holds all of it: PNG or JPEG, by its first bytes.
pub fn picture(path: &Path) -> Result<String> {
    const MOST_BYTES: usize = 4 << 20;
    let bytes = read_text(path)?;
    let kind = match bytes.as_slice() {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => "png",
        [0xff, 0xd8, 0xff, ..] => "jpeg",
        _ => bail!("{}: neither PNG nor JPEG, by its first bytes", path.display()),
    };
    ensure!(
        bytes.len() <= MOST_BYTES,
        "{}: {} bytes, and a page takes pictures of up to {MOST_BYTES}",
        path.display(),
        bytes.len()
    );
    Ok(format!("data:image/{kind};base64,{}", BASE64_STANDARD.encode(bytes)))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_text_without_an_end_is_refused() {
        let refused = text_file(Path::new("/dev/zero")).unwrap_err();
        insta::assert_snapshot!(refused, @"/dev/zero has more than 67108864 bytes, and texts have that many at most");
    }
}

//! What `cargo learn look` takes.

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use maps::habits::Habit;

use crate::rows::Queries;
use crate::take::Taken;
use crate::translate::{self, Kind};
use crate::view::HeadName;
use crate::without;

/// Your own sentence in all heads of a trained model
///
/// The model is all-MiniLM-L6-v2, six layers of twelve heads (83 MB, fetched on your word);
/// with `--model smollm2` SmolLM2-135M, 30 layers of nine heads that read from left to right
/// (93 MB, in the same way); or any other of these families in files of yours, also one that
/// reads a text and writes another, which then shows three kinds of maps. With `--maps`
/// no model is run: the maps are those in FILE, from any framework.
#[derive(Debug, clap::Args)]
#[command(after_long_help = FROM_PYTORCH)]
pub struct Args {
    /// What to read, in quotes
    #[arg(required_unless_present_any = ["download", "maps", "texts", "file"])]
    pub(super) sentence: Option<String>,

    /// What to read, in a text file
    #[arg(long, value_name = "FILE", conflicts_with_all = ["sentence", "maps", "texts"])]
    pub(super) file: Option<PathBuf>,

    /// Some tokens alone ask, of a text of any length: their numbers from 0, ranges, `last`, or
    /// words, as in 12,40-44,last,it
    #[arg(long, value_name = "TOKENS",
        conflicts_with_all = ["texts", "against", "against_model", "about_heads"])]
    pub(super) queries: Option<Queries>,

    /// One head in full: its layer and its number, both from 0, as in 5.7
    #[arg(long, value_name = "L.H")]
    pub(super) head: Option<HeadName>,

    /// One layer, for `--save` and `--queries`
    #[arg(long, value_name = "L", conflicts_with = "head")]
    pub(super) layer: Option<usize>,

    /// Write one page with every head, which needs nothing but itself
    #[arg(long, value_name = "FILE", group = "written")]
    pub(super) html: Option<PathBuf>,

    /// Write the head, the layer, or all heads to take away; the ending says how: .svg or
    /// .png, as a paper prints it; .csv, a line per share with its control; .json; or
    /// .safetensors, all maps as `--maps` reads them. Of `--texts` an atlas of all heads, .svg
    /// or .png, or its numbers, .csv. May be given several times
    #[arg(long, value_name = "OUT", value_parser = Taken::parse, group = "written")]
    pub(super) save: Vec<Taken>,

    /// How wide a picture is, in millimetres
    #[arg(long, default_value_t = 80.0, requires = "save", value_parser = millimetres)]
    pub(super) mm: f64,

    /// Write over what exists
    #[arg(long, requires = "written")]
    pub(super) force: bool,

    /// Fetch the model if it is not there, and do not ask
    #[arg(long)]
    pub(super) download: bool,

    /// Another model: `smollm2`, a folder as `save_pretrained` writes it, with its
    /// tokenizer.json, or a GGUF file
    #[arg(long, value_name = "FOLDER")]
    pub(super) model: Option<PathBuf>,

    /// Cut a text that is longer than the model's positions
    #[arg(long)]
    pub(super) truncate: bool,

    /// Maps that were computed elsewhere, in a safetensors file
    #[arg(long, value_name = "FILE",
        conflicts_with_all = ["sentence", "model", "download", "truncate", "about_heads"])]
    pub(super) maps: Option<PathBuf>,

    /// What the tokens of the maps are: a text file with one per line
    #[arg(long, value_name = "FILE", requires = "maps")]
    pub(super) tokens: Option<PathBuf>,

    /// Which text of a batch of maps, from 0
    #[arg(long, value_name = "N", default_value_t = 0, requires = "maps")]
    pub(super) text: usize,

    /// The picture that a grid of patches lies over, in a page: PNG or JPEG. Of a batch the
    /// picture of its chosen text, or one per text in their order
    #[arg(long, value_name = "FILE", requires_all = ["maps", "html"], conflicts_with = "against")]
    pub(super) image: Vec<PathBuf>,

    /// What every head does over many texts, each number beside its chance level: a text file
    /// with a text per line. Ctrl-C keeps what is done
    #[arg(long, value_name = "FILE",
        conflicts_with_all = ["sentence", "maps", "html", "head", "layer", "about_heads"])]
    pub(super) texts: Option<PathBuf>,

    /// Sort the heads of `--texts` by one of its columns; without, by whichever share is
    /// farthest above chance
    #[arg(long, value_name = "COLUMN", requires = "texts", value_parser = habit)]
    pub(super) sort: Option<Habit>,

    /// Beside the sentence another one, or with `--maps` another file of maps: which heads
    /// differ most
    #[arg(long, value_name = "TEXT", conflicts_with = "texts")]
    pub(super) against: Option<String>,

    /// Beside the model another one, on the same sentence
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["against", "maps", "texts"])]
    pub(super) against_model: Option<PathBuf>,

    /// How many tokens a model that writes from a source may write
    #[arg(long, value_name = "N", default_value_t = translate::MOST)]
    pub(super) write: usize,

    /// Of such a model, which maps `--head`, `--layer` and `--save` mean
    #[arg(long, value_enum, default_value_t = Kind::Cross)]
    pub(super) kind: Kind,

    #[command(flatten)]
    pub(super) without: without::Args,
}

/// Said below `--help`, and run against transformers 5.24 on PyTorch 2.15.
const FROM_PYTORCH: &str = "\
Maps from PyTorch (the model made with attn_implementation=\"eager\"):
  out = model(**inputs, output_attentions=True)
  tokens = tokenizer.convert_ids_to_tokens(inputs[\"input_ids\"][0])
  attn = {f\"attn.{l}\": a.contiguous() for l, a in enumerate(out.attentions)}
  safetensors.torch.save_file(attn, \"maps.safetensors\", {\"tokens\": json.dumps(tokens)})
FILE has attn.0 to attn.L-1, each (heads, n_q, n_kv) or (batch, heads, n_q, n_kv), or one attn,
(layers, heads, n_q, n_kv). Beside them: attention_mask (batch, n_kv), 0 for padding; in the
metadata `tokens`, `queries` where others ask, `special`, and `grid` (14x14) for patches.

Models that write from a source (Marian, BART, mBART, T5), as folders that you download: of
google-t5/t5-small or facebook/bart-base (Apache-2.0 both, by their model cards on Hugging Face)
config.json, model.safetensors, tokenizer.json and generation_config.json. A folder of
Helsinki-NLP/opus-mt-en-de (CC-BY 4.0, by its card) has no tokenizer.json: `cargo learn model` reads its ids.";

fn habit(text: &str) -> Result<Habit> {
    let names = Habit::ALL.map(Habit::name).join(", ");
    let found = Habit::ALL.into_iter().find(|habit| habit.name() == text);
    found.with_context(|| format!("the columns are {names}"))
}

fn millimetres(text: &str) -> Result<f64> {
    let mm: f64 = text.parse()?;
    ensure!((20.0..=1000.0).contains(&mm), "a picture is 20 to 1000 mm wide");
    Ok(mm)
}

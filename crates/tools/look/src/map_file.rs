//! `cargo learn maps`: maps that were computed elsewhere, in every head.

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};

use crate::compare::{self, Draws};
use crate::page::Texts;
use crate::rows::Queries;
use crate::shown::{MapReport, ShowArgs};
use crate::source;
use crate::view::View;

/// Attention maps from a file, of any framework
#[derive(Debug, clap::Args)]
#[command(after_long_help = FROM_PYTORCH)]
pub struct Args {
    /// The maps, in a safetensors file
    file: PathBuf,
    /// What the tokens of the maps are: a text file with one per line
    #[arg(long, value_name = "FILE")]
    tokens: Option<PathBuf>,
    /// Which text of a batch, from 0
    #[arg(long, value_name = "N", default_value_t = 0)]
    text: usize,
    /// The picture that a grid of patches lies over, in a page: PNG or JPEG. Of a batch the
    /// picture of its chosen text, or one per text in their order
    #[arg(long, value_name = "FILE", requires = "html", conflicts_with = "against")]
    image: Vec<PathBuf>,
    /// The rows of some tokens: their numbers from 0, ranges, `last`, or words, as in
    /// 12,40-44,last,it
    #[arg(long, value_name = "TOKENS", conflicts_with = "against")]
    queries: Option<Queries>,
    /// Another file of maps beside it: which heads differ most
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,
    #[command(flatten)]
    show: ShowArgs,
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
metadata `tokens`, `queries` where others ask, `special`, and `grid` (14x14) for patches.";

/// Reads the maps, and prints what every head does. A page has all texts of a file that it
/// can hold.
pub fn run(args: &Args) -> Result<()> {
    if args.queries.is_none() {
        args.show.expect_layer_used()?;
    }
    let other = args.against.as_deref();
    let inputs = [Some(args.file.as_path()), args.tokens.as_deref(), other];
    let inputs =
        inputs.into_iter().flatten().chain(args.image.iter().map(PathBuf::as_path));
    args.show.check(&inputs.map(Path::to_path_buf).collect::<Vec<_>>())?;
    let mut all = source::of_file(&args.file, args.tokens.as_deref())?;
    source::expect_text(&all, args.text)?;
    give_pictures(args, &mut all)?;
    if let Some(queries) = &args.queries {
        let view = &mut all[args.text];
        view.text = view.text.rows(&queries.places(view.text.asking().0)?);
    }
    let mut notes = source::notes(&all[args.text], args.text, all.len());
    let Some(other) = other else {
        let texts = Texts::of_batch(all, args.text, args.show.page.html.is_some());
        notes += &texts.left_out();
        return MapReport { notes, ..MapReport::one(texts) }.show(&args.show);
    };
    let (beside, more) = source::of_text(source::of_file(other, None)?, args.text)?;
    notes += &more;
    let view = all.swap_remove(args.text);
    let compared = compare::report(&view, &beside, &Draws::default())?;
    let texts = Texts::one(view, Some(beside));
    MapReport { notes, compared, ..MapReport::one(texts) }.show(&args.show)
}

/// One picture is of the text that is chosen; several are of all texts, in their order.
fn give_pictures(args: &Args, texts: &mut [View]) -> Result<()> {
    let (n, n_texts) = (args.image.len(), texts.len());
    ensure!(
        n < 2 || n == n_texts,
        "{n} pictures for {n_texts} texts: one of the text that is shown, or one each"
    );
    for (nth, path) in args.image.iter().enumerate() {
        let nth = if n == 1 { args.text } else { nth };
        let view = &mut texts[nth];
        ensure!(
            view.beside.grid.is_some(),
            "{}: text {nth} has no whole grid of patches for the picture {}: `grid` in the \
             metadata says one, as in 14x14",
            view.model,
            path.display()
        );
        view.beside.picture = Some(source::picture(path)?);
    }
    Ok(())
}

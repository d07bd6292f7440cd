//! `cargo learn look`: a reader's own sentence in all heads of a trained model, or maps from
//! a file.

use std::fs;
use std::path::{Path, PathBuf};

use ::texts::Long;
use anyhow::{Context, Result, ensure};
use maps::habits::Habit;
use maps::table::Part;
use model_files::{Existing, check_output};
use workshop::output::print;
use workshop::whole;

use crate::against::{Draws, TwoTexts};
use crate::either::Model;
use crate::page::Texts;
use crate::rows::{self, Queries};
use crate::take::Taken;
use crate::translate::{self, Kind, Translation};
use crate::view::{HeadName, View};
use crate::{against, fetch, many, page, report, source, without};

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
    sentence: Option<String>,

    /// What to read, in a text file
    #[arg(long, value_name = "FILE", conflicts_with_all = ["sentence", "maps", "texts"])]
    file: Option<PathBuf>,

    /// Some tokens alone ask, of a text of any length: their numbers from 0, ranges, `last`, or
    /// words, as in 12,40-44,last,it
    #[arg(long, value_name = "TOKENS",
        conflicts_with_all = ["texts", "against", "against_model", "about_heads"])]
    queries: Option<Queries>,

    /// One head in full: its layer and its number, both from 0, as in 5.7
    #[arg(long, value_name = "L.H")]
    head: Option<HeadName>,

    /// One layer, for `--save` and `--queries`
    #[arg(long, value_name = "L", conflicts_with = "head")]
    layer: Option<usize>,

    /// Write one page with every head, which needs nothing but itself
    #[arg(long, value_name = "FILE", group = "written")]
    html: Option<PathBuf>,

    /// Write the head, the layer, or all heads to take away; the ending says how: .svg or
    /// .png, as a paper prints it; .csv, a line per share with its control; .json; or
    /// .safetensors, all maps as `--maps` reads them. Of `--texts` an atlas of all heads, .svg
    /// or .png, or its numbers, .csv. May be given several times
    #[arg(long, value_name = "OUT", value_parser = Taken::parse, group = "written")]
    save: Vec<Taken>,

    /// How wide a picture is, in millimetres
    #[arg(long, default_value_t = 80.0, requires = "save", value_parser = millimetres)]
    mm: f64,

    /// Write over what exists
    #[arg(long, requires = "written")]
    force: bool,

    /// Fetch the model if it is not there, and do not ask
    #[arg(long)]
    download: bool,

    /// Another model: `smollm2`, a folder as `save_pretrained` writes it, with its
    /// tokenizer.json, or a GGUF file
    #[arg(long, value_name = "FOLDER")]
    model: Option<PathBuf>,

    /// Cut a text that is longer than the model's positions
    #[arg(long)]
    truncate: bool,

    /// Maps that were computed elsewhere, in a safetensors file
    #[arg(long, value_name = "FILE",
        conflicts_with_all = ["sentence", "model", "download", "truncate", "about_heads"])]
    maps: Option<PathBuf>,

    /// What the tokens of the maps are: a text file with one per line
    #[arg(long, value_name = "FILE", requires = "maps")]
    tokens: Option<PathBuf>,

    /// Which text of a batch of maps, from 0
    #[arg(long, value_name = "N", default_value_t = 0, requires = "maps")]
    text: usize,

    /// The picture that a grid of patches lies over, in a page: PNG or JPEG. Of a batch the
    /// picture of its chosen text, or one per text in their order
    #[arg(long, value_name = "FILE", requires_all = ["maps", "html"], conflicts_with = "against")]
    image: Vec<PathBuf>,

    /// What every head does over many texts, each number beside its chance level: a text file
    /// with a text per line. Ctrl-C keeps what is done
    #[arg(long, value_name = "FILE",
        conflicts_with_all = ["sentence", "maps", "html", "head", "layer", "about_heads"])]
    texts: Option<PathBuf>,

    /// Sort the heads of `--texts` by one of its columns; without, by whichever share is
    /// farthest above chance
    #[arg(long, value_name = "COLUMN", requires = "texts", value_parser = habit)]
    sort: Option<Habit>,

    /// Beside the sentence another one, or with `--maps` another file of maps: which heads
    /// differ most
    #[arg(long, value_name = "TEXT", conflicts_with = "texts")]
    against: Option<String>,

    /// Beside the model another one, on the same sentence
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["against", "maps", "texts"])]
    against_model: Option<PathBuf>,

    /// How many tokens a model that writes from a source may write
    #[arg(long, value_name = "N", default_value_t = translate::MOST)]
    write: usize,

    /// Of such a model, which maps `--head`, `--layer` and `--save` mean
    #[arg(long, value_enum, default_value_t = Kind::Cross)]
    kind: Kind,

    #[command(flatten)]
    without: without::Args,
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

/// Reads the maps or computes them, and prints what every head does.
///
/// # Errors
/// A model that is not there, or does not fit; a text that is empty or too long; a file of
/// something else than maps; what cannot be written.
pub fn run(args: &Args) -> Result<()> {
    ensure!(
        args.layer.is_none() || args.queries.is_some() || !args.save.is_empty(),
        "--layer chooses what `--save` writes, or what is computed for `--queries`"
    );
    let Some(Shown { texts, draws, notes }) = asked(args)? else { return Ok(()) };
    let view = texts.chosen();
    let part = part(args, view)?;
    let compared =
        texts.beside.as_ref().map(|beside| against::report(view, beside, &draws));
    let compared = compared.transpose()?;
    if let Some(path) = &args.html {
        let page = page::of(&texts)?;
        whole::write(path, page.as_bytes())
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    for taken in &args.save {
        taken.write(view, part, args.mm)?;
    }
    print(notes)?;
    print(report::of(view, args.head))?;
    print(compared.unwrap_or_default())?;
    let of = if texts.beside.is_some() { ", of the first text" } else { "" };
    print(report::written(args.html.as_deref(), args.save.iter().map(Taken::path), of))?;
    Ok(())
}

/// What is looked at.
struct Shown {
    texts: Texts,
    /// What was drawn beside two texts.
    draws: Draws,
    /// What is to be said of it.
    notes: String,
}

/// What is asked for; `None` where nothing is asked that needs maps.
fn asked(args: &Args) -> Result<Option<Shown>> {
    if let Some(path) = &args.maps {
        return of_files(args, path).map(Some);
    }
    let folder = match &args.model {
        Some(folder) => fetch::named(folder, args.download)?,
        None => fetch::minilm(args.download)?,
    };
    if let Some(files) = translate::files(&folder)? {
        of_both_sides(args, &files)?;
        return Ok(None);
    }
    if let Some(texts) = &args.texts {
        many_texts(args, &folder, texts)?;
        return Ok(None);
    }
    let other = args.against_model.as_ref();
    let other = other.map(|other| fetch::named(other, args.download)).transpose()?;
    let Some(sentence) = text(args)? else { return Ok(None) };
    let sentence = sentence.as_str();
    let mut inputs = Model::files(&folder);
    inputs.extend(args.file.clone());
    inputs.extend(other.iter().flat_map(|other| Model::files(other)));
    check_outputs(args, &inputs)?;
    let long = if args.truncate { Long::Cut } else { Long::Refuse };
    let mut answers = without::Answers::default();
    if args.without.is_asked() {
        let existing = existing(args);
        answers = without::answers(&args.without, &folder, sentence, long, existing)?;
        print(&answers.text)?;
        if args.html.is_none() && args.head.is_none() && args.save.is_empty() {
            return Ok(None);
        }
    }
    if let Some(queries) = &args.queries {
        let layer = args.head.map(|head| head.layer).or(args.layer);
        let view = rows::of_text(&folder, sentence, long, queries, layer)?;
        let texts = Texts::one(view, None);
        return Ok(Some(Shown { texts, draws: Draws::default(), notes: String::new() }));
    }
    let (mut view, beside, draws) = match &args.against {
        Some(text) => {
            let TwoTexts { views: [view, beside], draws } =
                against::two_texts(&folder, [sentence, text], long)?;
            (view, Some(beside), draws)
        }
        None => {
            let view = source::of_sentence(&folder, sentence, long)?;
            let beside = other.map(|other| source::of_sentence(&other, sentence, long));
            (view, beside.transpose()?, Draws::default())
        }
    };
    (view.beside.adds, view.beside.removed) = (answers.adds, answers.removed);
    let texts = Texts::one(view, beside);
    Ok(Some(Shown { texts, draws, notes: String::new() }))
}

/// What is read.
fn text(args: &Args) -> Result<Option<String>> {
    let Some(path) = &args.file else { return Ok(args.sentence.clone()) };
    let name = path.display();
    let text = fs::read(path).with_context(|| format!("cannot read {name}"))?;
    let text = String::from_utf8(text).with_context(|| format!("{name} is not UTF-8"))?;
    Ok(Some(text))
}

/// A model that reads one text and writes another: all three kinds of maps.
fn of_both_sides(args: &Args, files: &translators::Files) -> Result<()> {
    let refused = [
        (args.texts.is_some(), "--texts"),
        (args.queries.is_some(), "--queries"),
        (args.against.is_some(), "--against"),
        (args.against_model.is_some(), "--against-model"),
        (args.without.is_asked(), "--without, --adds and --patch-from"),
    ];
    if let Some((_, option)) = refused.into_iter().find(|(is_asked, _)| *is_asked) {
        anyhow::bail!(
            "{option}: not for {}, which reads one text and writes another: it has three kinds \
             of maps, and one sentence is looked at",
            files.config.family.name
        );
    }
    let Some(sentence) = text(args)? else { return Ok(()) };
    check_outputs(args, &Model::files(&files.path))?;
    let long = if args.truncate { Long::Cut } else { Long::Refuse };
    let Translation { views, notes } =
        translate::of_sentence(files, &sentence, long, args.write)?;
    let kinds = views.map(|view| Texts::one(view, None));
    let chosen = kinds[args.kind as usize].chosen();
    let part = part(args, chosen)?;
    if let Some(path) = &args.html {
        let each = Kind::ALL.into_iter().zip(&kinds);
        let sections =
            each.map(|(kind, texts)| page::Section { title: kind.title(), texts });
        let page = page::of_sections(&sections.collect::<Vec<_>>())?;
        whole::write(path, page.as_bytes())
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    args.save.iter().try_for_each(|taken| taken.write(chosen, part, args.mm))?;
    print(notes)?;
    for (kind, texts) in Kind::ALL.into_iter().zip(&kinds) {
        print(format_args!("\n{}\n\n", kind.title().to_uppercase()))?;
        let head = args.head.filter(|_| kind == args.kind);
        print(report::of(texts.chosen(), head))?;
    }
    print(report::written(args.html.as_deref(), args.save.iter().map(Taken::path), ""))?;
    Ok(())
}

/// Maps of a file, and of the one beside it. A page has all texts of a file that it can hold.
fn of_files(args: &Args, path: &Path) -> Result<Shown> {
    let other = args.against.as_ref().map(Path::new);
    let images = args.image.iter().map(PathBuf::as_path);
    let inputs = [Some(path), args.tokens.as_deref(), other].into_iter().flatten();
    let inputs: Vec<_> = inputs.chain(images).map(Path::to_path_buf).collect();
    check_outputs(args, &inputs)?;
    let mut all = source::of_file(path, args.tokens.as_deref())?;
    source::expect_text(&all, args.text)?;
    give_pictures(args, &mut all)?;
    if let Some(queries) = &args.queries {
        let view = &mut all[args.text];
        view.text = view.text.rows(&queries.places(view.text.asking().0)?);
    }
    let mut notes = source::said(&all[args.text], args.text, all.len());
    let Some(other) = other else {
        let texts = Texts::of_batch(all, args.text, args.html.is_some());
        notes += &texts.left_out();
        return Ok(Shown { texts, draws: Draws::default(), notes });
    };
    let (beside, more) = source::of_text(source::of_file(other, None)?, args.text)?;
    notes += &more;
    let texts = Texts::one(all.swap_remove(args.text), Some(beside));
    Ok(Shown { texts, draws: Draws::default(), notes })
}

/// One picture is of the text that is chosen; several are of all texts, in their order.
fn give_pictures(args: &Args, texts: &mut [View]) -> Result<()> {
    let n_texts = texts.len();
    let of: Vec<usize> = match args.image.len() {
        0 => return Ok(()),
        1 => vec![args.text],
        n => {
            ensure!(
                n == n_texts,
                "{n} pictures for {n_texts} texts: one of the text that is shown, or one each"
            );
            (0..n).collect()
        }
    };
    for (nth, path) in of.into_iter().zip(&args.image) {
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

/// What heads do over the lines of a file.
fn many_texts(args: &Args, folder: &Path, texts: &Path) -> Result<()> {
    let mut inputs = Model::files(folder);
    inputs.push(texts.to_path_buf());
    check_outputs(args, &inputs)?;
    args.save.iter().try_for_each(Taken::check_of_texts)?;
    let long = if args.truncate { Long::Cut } else { Long::Refuse };
    let measured = many::measure(folder, texts, long)?;
    for taken in &args.save {
        taken.write_texts(&measured.texts, args.mm)?;
    }
    print(measured.table(args.sort))?;
    for taken in &args.save {
        print(format_args!("{} is written.\n", taken.path().display()))?;
    }
    Ok(())
}

fn existing(args: &Args) -> Existing {
    if args.force { Existing::Replace } else { Existing::Keep }
}

/// Which heads are taken, if there are such.
fn part(args: &Args, view: &View) -> Result<Part> {
    match (args.head, args.layer) {
        (Some(head), _) => {
            view.check(head)?;
            Ok(Part::Head([head.layer, head.head]))
        }
        (None, Some(layer)) => {
            view.check(HeadName { layer, head: 0 })?;
            Ok(Part::Layer(layer))
        }
        (None, None) => Ok(Part::All),
    }
}

/// Whether all that is to be written has a place, before anything is computed.
fn check_outputs(args: &Args, inputs: &[PathBuf]) -> Result<()> {
    let existing = existing(args);
    let html = args.html.iter().map(|path| (path.as_path(), "--html"));
    let saved = args.save.iter().map(|taken| (taken.path(), "--save"));
    for (path, flag) in html.chain(saved) {
        let outcome = check_output(path, existing, inputs.iter().map(PathBuf::as_path));
        // The flag of this command is another.
        outcome.map_err(|error| {
            anyhow::anyhow!(error.to_string().replace("--output", flag))
        })?;
    }
    Ok(())
}

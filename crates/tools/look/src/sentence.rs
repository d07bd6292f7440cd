//! `cargo learn look`: a reader's own sentence in all heads of a trained model.

use anyhow::{Result, ensure};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use models::{ModelFiles, Part};

use crate::args::{ModelArgs, TextArgs};
use crate::page::{Section, Texts};
use crate::rows::{self, Queries};
use crate::shown::{MapReport, ShowArgs};
use crate::source::{ModelSource, inputs};
use crate::translate::{self, Translation};

/// Your own sentence in all heads of a trained model
///
/// The model is all-MiniLM-L6-v2, six layers of twelve heads (83 MB, fetched if you say so);
/// with `--model smollm2` SmolLM2-135M, 30 layers of nine heads that read from left to right
/// (93 MB, in the same way); or any other of these families in files of yours, also one that
/// reads a text and writes another, which then shows three kinds of maps.
#[derive(Debug, clap::Args)]
#[command(after_long_help = FOLDERS)]
pub struct Args {
    #[command(flatten)]
    text: TextArgs,
    #[command(flatten)]
    model: ModelArgs,
    /// Only some tokens attend, of a text of any length: their numbers from 0, ranges, `last`,
    /// or words, as in 12,40-44,last,it
    #[arg(long, value_name = "TOKENS")]
    queries: Option<Queries>,
    #[command(flatten)]
    show: ShowArgs,
    /// How many tokens a model that writes from a source may write
    #[arg(long, value_name = "N", default_value_t = translate::MOST)]
    write: usize,
    /// Of such a model, which maps `--head` and `--save` mean
    #[arg(long, default_value = "cross", value_parser = part())]
    kind: Part,
}

/// A part by its name, one of three.
fn part() -> impl TypedValueParser<Value = Part> {
    PossibleValuesParser::new(Part::ALL.map(Part::name))
        .map(|name| Part::named(&name).unwrap_or(Part::Cross))
}

const FOLDERS: &str = "\
Models that write from a source (Marian, BART, mBART, T5), as folders that you download: of
google-t5/t5-small or facebook/bart-base (Apache-2.0 both, by their model cards on Hugging Face)
config.json, model.safetensors, tokenizer.json and generation_config.json. A folder of
Helsinki-NLP/opus-mt-en-de (CC-BY 4.0, by its card) has no tokenizer.json: `cargo learn model` reads its ids.";

/// Computes the maps, and prints what every head does.
pub fn run(args: &Args) -> Result<()> {
    if args.queries.is_none() {
        args.show.expect_layer_used()?;
    }
    let folder = args.model.folder()?;
    let Some(sentence) = args.text.read()? else { return Ok(()) };
    args.show.check(&inputs(&[&folder], args.text.file.as_deref()))?;
    let long = args.model.long();
    let opened = ModelSource::of(&folder)?;
    if let ModelFiles::Translator(files) = &opened.files {
        ensure!(
            args.queries.is_none(),
            "--queries: not for {}, which reads one text and writes another: it has three kinds \
             of maps, all of them whole",
            files.config.family.name
        );
        let found =
            translate::of_sentence(&opened, files, (&sentence, long), args.write)?;
        return of_both_sides(found, args.kind).show(&args.show);
    }
    let view = match &args.queries {
        Some(queries) => {
            rows::of_text(opened, (&sentence, long), queries, args.show.layer())?
        }
        None => opened.sentence(&sentence, long)?,
    };
    MapReport::one(Texts::one(view, None)).show(&args.show)
}

/// A model that reads one text and writes another: all three kinds of maps.
fn of_both_sides(Translation { views, notes }: Translation, chosen: Part) -> MapReport {
    let kinds = Part::ALL.into_iter().zip(views);
    let kinds = kinds.map(|(part, view)| Section {
        title: translate::title(part),
        texts: Texts::one(view, None),
    });
    let (kinds, chosen) = (kinds.collect(), chosen as usize);
    MapReport { kinds, chosen, notes, ..MapReport::default() }
}

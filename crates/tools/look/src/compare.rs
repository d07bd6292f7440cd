//! `cargo learn compare`: two texts, or two models, side by side: which heads differ most,
//! each with its control.

use std::path::{Path, PathBuf};

use ::texts::Long;
use anyhow::{Context, Result, ensure};
use maps::compare::{Basis, Difference, differences};

use crate::args::ModelArgs;
use crate::page::Texts;
use crate::prose::Prose;
use crate::shown::{MapReport, ShowArgs};
use crate::source::{self, ModelSource, inputs};
use crate::view::{View, share};
use crate::{fetch, translate};

mod draws;

pub use draws::Draws;

/// Two texts, or two models, side by side: which heads differ most
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What to read, in quotes
    text: String,
    /// What to read beside it, in quotes
    #[arg(required_unless_present = "other_model")]
    other: Option<String>,
    /// Another model on the same text, in place of another text
    #[arg(long, value_name = "FOLDER", conflicts_with = "other")]
    other_model: Option<PathBuf>,
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    show: ShowArgs,
}

/// Reads both, and prints which heads differ most.
pub fn run(args: &Args) -> Result<()> {
    args.show.expect_layer_used()?;
    let folder = args.model.folder()?;
    let other = args.other_model.as_ref();
    let other = other.map(|it| fetch::named(it, args.model.download)).transpose()?;
    let folders: Vec<&Path> =
        [Some(&folder), other.as_ref()].into_iter().flatten().map(|it| &**it).collect();
    folders.iter().try_for_each(|folder| translate::expect_one_text(folder))?;
    args.show.check(&inputs(&folders, None))?;
    let long = args.model.long();
    let (views, draws) = match (&args.other, &other) {
        (Some(text), _) => two_texts(&folder, [&args.text, text], long)?,
        (None, Some(other)) => {
            let of = |folder| source::of_sentence(folder, &args.text, long);
            ([of(&folder)?, of(other)?], Draws::default())
        }
        (None, None) => unreachable!("one of them is required"),
    };
    let [view, beside] = views;
    let compared = report(&view, &beside, &draws)?;
    MapReport { compared, ..MapReport::one(Texts::one(view, Some(beside))) }
        .show(&args.show)
}

/// So many heads are printed.
const MOST: usize = 12;

/// Both texts through the model in this folder, and the texts that are drawn beside them.
fn two_texts(folder: &Path, texts: [&str; 2], long: Long) -> Result<([View; 2], Draws)> {
    let opened = ModelSource::of(folder)?;
    let start = opened.start;
    let pieces = [opened.pieces(texts[0], long)?, opened.pieces(texts[1], long)?];
    let prose = Prose::new(&opened.text)?;
    let reader = opened.reader()?;
    let loading = start.elapsed();
    let view = |nth: usize| reader.view(texts[nth], pieces[nth].clone(), loading);
    let views = [view(0)?, view(1)?];
    let draws = draws::draws(&reader, &prose, [&pieces[0], &pieces[1]])?;
    Ok((views, draws))
}

/// How far heads are from themselves, if the two views can be compared.
fn compared(
    first: &View,
    second: &View,
    draws: &Draws,
) -> Result<(Basis, Vec<Difference>)> {
    let n_heads = |view: &View| view.text.maps.iter().map(Vec::len).collect::<Vec<_>>();
    let found = differences(&first.text, &second.text, &draws.texts);
    let [one, other] = [first, second].map(|view| view.text.shown_pieces().join(" "));
    ensure!(
        found.is_some() || n_heads(first) != n_heads(second),
        "a text of one token, special ones aside, shows nothing to compare: {one} and {other}"
    );
    let [one, other] = [first, second].map(shape);
    found.with_context(|| {
        format!("{one}, and {other}: heads are compared by their layer and number")
    })
}

/// All that is printed of two views; where a model is at hand, beside texts that were drawn.
pub fn report(first: &View, second: &View, draws: &Draws) -> Result<String> {
    let (basis, all) = compared(first, second, draws)?;
    let (kind, mean) = match basis {
        Basis::Rows => ("of its rows", ", on average over the words"),
        Basis::Kinds => (
            "of what it gives each kind of key",
            "; the texts have different numbers of tokens, so rows cannot be compared",
        ),
    };
    let mut text = format!(
        "\nBeside it, {}: {} tokens: {}\n\nHow far each head is from itself there: half the \
         summed differences {kind} (0: the same, 1: no key in common){mean}.\n",
        second.model,
        second.text.pieces.len(),
        second.text.shown_pieces().join(" "),
    );
    let (n_draws, n_heads) = (draws.texts.len(), all.len());
    if n_draws > 0 {
        text += &format!(
            "Drawn is the control: how far it is from itself on {n_draws} texts by chance, {}, \
             on average\nand at most.\n",
            draws.what
        );
    }
    text += "Others: how far the other heads of its layer are from it, on the first text.\n\n";
    text += &table(&all, n_draws > 0);
    if n_draws > 0 {
        let n = all.iter().filter(|it| it.stands_out()).count();
        let by_chance = n_heads as f64 / (n_draws + 1) as f64;
        text += &format!(
            "\n{n} of {n_heads} heads differ by more than on each of the {n_draws} texts that \
             were drawn; by chance {by_chance:.0} would.\n"
        );
    }
    let is_other =
        |it: &&Difference| it.others.is_some_and(|others| it.distance >= others);
    let n = all.iter().filter(is_other).count();
    let heads = format!("{n} of {n_heads} heads");
    Ok(text + &format!("\n{heads} differ by as much as another head of their layer.\n"))
}

fn shape(view: &View) -> String {
    let maps = &view.text.maps;
    let n_heads = maps.iter().map(Vec::len).max().unwrap_or_default();
    format!("{} has {} layers of {n_heads} heads", view.model, maps.len())
}

/// The heads that differ most.
fn table(all: &[Difference], is_drawn: bool) -> String {
    let heading = if is_drawn { "  drawn   most" } else { "" };
    let mut text = format!("head   differs{heading}  others\n");
    for it in all.iter().take(MOST) {
        let [layer, head] = it.head;
        let others = it.others.map_or("–".to_owned(), share);
        let most = it.drawn.iter().copied().fold(0.0, f64::max);
        let mean = it.drawn.iter().sum::<f64>() / it.drawn.len() as f64;
        let drawn = match is_drawn {
            true => format!("  {:>5}  {:>5}", share(mean), share(most)),
            false => String::new(),
        };
        let (name, distance) = (format!("{layer}.{head}"), share(it.distance));
        text += &format!("{name:<6} {distance:>7}{drawn}  {others:>6}\n");
    }
    text
}

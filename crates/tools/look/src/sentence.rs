//! `cargo learn look`: a reader's own sentence in all heads of a trained model, or maps from
//! a file.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf, absolute};

use ::texts::Long;
use anyhow::{Result, ensure};
use maps::table::Part;
use model_files::{Existing, check_output};
use workshop::output::print;

use crate::against::{Draws, TwoTexts};
use crate::either::Model;
use crate::page::{Section, Texts};
use crate::take::{Taken, write_bytes};
use crate::translate::{self, Kind, Translation};
use crate::view::{HeadName, View};
use crate::{against, fetch, many, page, report, rows, source, without};

mod args;

pub use args::Args;

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
    let Some(Shown { kinds, chosen, draws, notes }) = asked(args)? else { return Ok(()) };
    let texts = &kinds[chosen].texts;
    let view = texts.chosen();
    let part = part(args, view)?;
    let compared =
        texts.beside.as_ref().map(|beside| against::report(view, beside, &draws));
    let compared = compared.transpose()?;
    if let Some(path) = &args.html {
        let page = page::of(&kinds)?;
        write_bytes(path, page.as_bytes(), existing(args))?;
    }
    for taken in &args.save {
        taken.write(view, part, args.mm, existing(args))?;
    }
    print(notes)?;
    for (nth, Section { title, texts }) in kinds.iter().enumerate() {
        if kinds.len() > 1 {
            print(format_args!("\n{}\n\n", title.to_uppercase()))?;
        }
        print(report::of(texts.chosen(), args.head.filter(|_| nth == chosen)))?;
    }
    print(compared.unwrap_or_default())?;
    let of = if texts.beside.is_some() { ", of the first text" } else { "" };
    print(report::written(args.html.as_deref(), args.save.iter().map(Taken::path), of))?;
    Ok(())
}

/// What is looked at.
struct Shown {
    /// All maps, or those of each kind that a model has.
    kinds: Vec<Section>,
    /// Which of them `--head`, `--layer` and `--save` mean.
    chosen: usize,
    /// What was drawn beside two texts.
    draws: Draws,
    /// What is to be said of it.
    notes: String,
}

impl Shown {
    fn one(texts: Texts, draws: Draws, notes: String) -> Self {
        Self { kinds: vec![Section::all_heads(texts)], chosen: 0, draws, notes }
    }
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
        return of_both_sides(args, &files);
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
        return Ok(Some(Shown::one(texts, Draws::default(), String::new())));
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
    Ok(Some(Shown::one(texts, draws, String::new())))
}

/// What is read.
fn text(args: &Args) -> Result<Option<String>> {
    let Some(path) = &args.file else { return Ok(args.sentence.clone()) };
    source::text_file(path).map(Some)
}

/// A model that reads one text and writes another: all three kinds of maps.
fn of_both_sides(args: &Args, files: &translators::Files) -> Result<Option<Shown>> {
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
    let Some(sentence) = text(args)? else { return Ok(None) };
    let mut inputs = Model::files(&files.path);
    inputs.extend(args.file.clone());
    check_outputs(args, &inputs)?;
    let long = if args.truncate { Long::Cut } else { Long::Refuse };
    let Translation { views, notes } =
        translate::of_sentence(files, &sentence, long, args.write)?;
    let kinds = Kind::ALL.into_iter().zip(views);
    let kinds = kinds.map(|(kind, view)| Section {
        title: kind.title(),
        texts: Texts::one(view, None),
    });
    let (kinds, chosen) = (kinds.collect(), args.kind as usize);
    Ok(Some(Shown { kinds, chosen, draws: Draws::default(), notes }))
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
        return Ok(Shown::one(texts, Draws::default(), notes));
    };
    let (beside, more) = source::of_text(source::of_file(other, None)?, args.text)?;
    notes += &more;
    let texts = Texts::one(all.swap_remove(args.text), Some(beside));
    Ok(Shown::one(texts, Draws::default(), notes))
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
        taken.write_texts(&measured.texts, args.mm, existing(args))?;
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
    let mut places = BTreeSet::new();
    for (path, flag) in html.chain(saved) {
        ensure!(
            places.insert(absolute(path)?),
            "{}: two files are to be written there",
            path.display()
        );
        let outcome = check_output(path, existing, inputs.iter().map(PathBuf::as_path));
        // The flag of this command is another.
        outcome.map_err(|error| {
            anyhow::anyhow!(error.to_string().replace("--output", flag))
        })?;
    }
    Ok(())
}

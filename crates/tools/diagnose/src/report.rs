//! What the reader is told.

use std::fmt::{self, Write};

use anyhow::Result;
use diagnosis::{Conditional, Diagnosis, Distance, Mistake, Reading, Verdict, separate};
use workshop::chapters;

/// So many names stand in a line of the card.
const MOST_NAMES: usize = 8;

/// What was found.
pub fn diagnosis(reading: &Reading, diagnosis: &Diagnosis) -> Result<String> {
    let mut text = String::from("\n");
    match diagnosis.verdict {
        Verdict::Right => {
            let precision = diagnosis.precision;
            writeln!(
                text,
                "Right: the output is what was meant, computed in {precision}."
            )?;
            right(&mut text, diagnosis)?;
        }
        Verdict::Condition => {
            condition(&mut text, diagnosis)?;
            right(&mut text, diagnosis)?;
        }
        Verdict::Mistake => mistake(&mut text, reading, diagnosis)?,
        Verdict::Unknown => unknown(&mut text, diagnosis)?,
    }
    for remark in &diagnosis.remarks {
        writeln!(text, "\nNote: {remark}")?;
    }
    if diagnosis.tensors.len() > 1 {
        tensors(&mut text, diagnosis)?;
    }
    text.push('\n');
    text += &card(reading, diagnosis);
    Ok(text)
}

/// On what it depends whether it is right.
fn condition(text: &mut String, diagnosis: &Diagnosis) -> fmt::Result {
    let Some(Conditional { tensor, only_if, otherwise }) = &diagnosis.condition else {
        return Ok(());
    };
    writeln!(text, "Right only if {only_if} ({}).", tensor.name())?;
    match otherwise {
        Some(nearest) => writeln!(text, "If not, the nearest is: {nearest}."),
        None => writeln!(text, "If not, nothing that was tried is nearer."),
    }
}

fn right(text: &mut String, diagnosis: &Diagnosis) -> fmt::Result {
    let Some(distance) = distance(diagnosis) else { return Ok(()) };
    let (off, tolerance) = (off(distance), tolerance(distance));
    writeln!(text, "It is {off} away from that; {tolerance}.")
}

/// What the verdict rests on, in three lines: what was given, what was assumed, and which
/// mistakes would not have shown.
fn card(reading: &Reading, diagnosis: &Diagnosis) -> String {
    // A tensor by its name: its shape and how it was read are in `--json`.
    let (tensors, mut given): (Vec<&str>, Vec<&str>) =
        reading.given.iter().map(String::as_str).partition(|line| line.contains(" ("));
    let names = tensors.iter().map(|it| it.split(" (").next().unwrap_or(it)).collect();
    let names = format!("{} tensors: {}", tensors.len(), folded(names));
    given.push(&names);
    let hidden = diagnosis.invisible.iter().map(|it| it.entry().name.as_str()).collect();
    let hidden = match diagnosis.invisible.len() {
        0 => "nothing that is in the bank".to_string(),
        1 => folded(hidden),
        n => format!("{n} mistakes: {}", folded(hidden)),
    };
    format!(
        "Given:          {}.\nAssumed:        {}.\nCould not show: {hidden}.\n",
        given.join("; "),
        reading.assumed.join("; "),
    )
}

/// The first of them, and how many more there are.
fn folded(names: Vec<&str>) -> String {
    let more = names.len().saturating_sub(MOST_NAMES);
    let first = names[..names.len() - more].join(", ");
    match more {
        0 => first,
        _ => format!("{first} and {more} more (--json lists them)"),
    }
}

fn mistake(text: &mut String, reading: &Reading, diagnosis: &Diagnosis) -> Result<()> {
    let sets = &diagnosis.explanations;
    let size = sets.first().map_or(0, Vec::len);
    if let Some(number) = &diagnosis.number_words {
        writeln!(text, "A number is another: {number}.")?;
    }
    if size == 0 {
        return Ok(of_rounding(text, diagnosis, "this number")?);
    }
    let (how_many, with) = match size {
        1 => ("A mistake".to_string(), "this mistake"),
        _ => (format!("{size} mistakes"), "these mistakes"),
    };
    writeln!(text, "{how_many}: {}.", Mistake::names(&sets[0]))?;
    of_rounding(text, diagnosis, with)?;
    if sets.len() > 1 {
        writeln!(text, "\nThese numbers cannot tell it from:")?;
        for set in &sets[1..] {
            writeln!(text, "  {}", Mistake::names(set))?;
        }
        match separate(&reading.record, &reading.intent, sets) {
            Some(it) => writeln!(
                text,
                "What would tell them apart: {}; --write-input FILE writes such an input.",
                it.changes.join(", ")
            )?,
            None => writeln!(
                text,
                "No input would tell all of them apart: some are one computation."
            )?,
        }
    }
    let mut told = Vec::new();
    for mistake in sets.iter().flatten() {
        if !told.contains(&mistake.id) {
            text.push('\n');
            explain(text, mistake)?;
            told.push(mistake.id);
        }
    }
    Ok(())
}

fn of_rounding(text: &mut String, diagnosis: &Diagnosis, with: &str) -> fmt::Result {
    let Some(distance) = distance(diagnosis) else { return Ok(()) };
    writeln!(
        text,
        "The output is {} from what was meant; with {with}, what is left is rounding in {}.",
        off(distance),
        diagnosis.precision
    )
}

fn explain(text: &mut String, mistake: &Mistake) -> Result<()> {
    let entry = mistake.entry();
    writeln!(text, "{} (step: {})", entry.name, mistake.step.name())?;
    writeln!(text, "  What it does        {}", entry.does)?;
    writeln!(text, "  Why it looks right  {}", entry.looks_right)?;
    writeln!(text, "  Look for            {}", entry.pytorch)?;
    for (framework, line) in [("in JAX", &entry.jax), ("in candle", &entry.candle)] {
        if let Some(line) = line {
            writeln!(text, "  {framework:<18}  {line}")?;
        }
    }
    let all = chapters::all()?;
    if let Some(chapter) = all.iter().find(|it| it.topic() == entry.chapter) {
        writeln!(text, "  Read                {chapter}")?;
    }
    if let Some(report) = &entry.report {
        writeln!(text, "  Seen at             {report}")?;
    }
    Ok(())
}

fn unknown(text: &mut String, diagnosis: &Diagnosis) -> Result<()> {
    let sets = &diagnosis.explanations;
    if let Some(number) = &diagnosis.number_words {
        writeln!(text, "A number is another: {number}.\n")?;
    }
    if let Some(set) = sets.first() {
        writeln!(text, "A part is explained: {}.", Mistake::names(set))?;
        for mistake in set {
            explain(text, mistake)?;
        }
        text.push('\n');
    }
    let state = diagnosis.tensors.iter().find(|it| it.verdict == Verdict::Unknown);
    let Some(tensor) = state else { return Ok(()) };
    let name = tensor.tensor.name();
    match tensor.is_zero {
        true => writeln!(text, "Unknown: {name} is zeros alone.")?,
        false => writeln!(
            text,
            "Unknown: no mistake of the bank explains {name}, nor do two of them together."
        )?,
    }
    if let Some(distance) = &tensor.distance {
        let (off, tolerance) = (off(distance), tolerance(distance));
        writeln!(text, "It is {off} from what was meant; {tolerance}.")?;
    }
    match &diagnosis.nearest {
        Some(nearest) if !nearest.mistakes.is_empty() => writeln!(
            text,
            "Nearest is {}, {} away.",
            Mistake::names(&nearest.mistakes),
            off(&nearest.distance)
        )?,
        _ => writeln!(text, "No mistake that was tried is clearly nearer.")?,
    }
    if let Some(places) = &diagnosis.places {
        let words = places.summary.join("; ");
        writeln!(text, "Where it differs from {}: {words}.", places.from)?;
    }
    Ok(())
}

fn tensors(text: &mut String, diagnosis: &Diagnosis) -> fmt::Result {
    writeln!(
        text,
        "\nEach tensor, compared with what your own tensors before it should give:"
    )?;
    for tensor in &diagnosis.tensors {
        let words = match tensor.verdict {
            Verdict::Right => "right",
            Verdict::Condition => "right on a condition",
            Verdict::Mistake => "differs, and is explained",
            Verdict::Unknown => "differs, and is not explained",
        };
        let is_first = diagnosis.first_difference == Some(tensor.tensor);
        let first = if is_first { ": the first that differs" } else { "" };
        writeln!(text, "  {:<16} {words}{first}", tensor.tensor.name())?;
    }
    Ok(())
}

/// Of the output.
fn distance(diagnosis: &Diagnosis) -> Option<&Distance> {
    diagnosis.tensors.last()?.distance.as_ref()
}

fn off(distance: &Distance) -> String {
    let Distance { rms, largest, spread, n_not_finite, .. } = *distance;
    if n_not_finite > 0 {
        let numbers = match n_not_finite {
            1 => "1 number is".to_string(),
            n => format!("{n} numbers are"),
        };
        return format!(
            "infinitely far ({numbers} NaN or infinite in one of the two alone)"
        );
    }
    let share = 100.0 * rms / spread.max(f64::MIN_POSITIVE);
    let [rms, share, largest] = [rms, share, largest].map(rounded);
    format!("{rms} ({share} % of its spread; {largest} at most)")
}

/// Two digits, and a power of ten where there would be many zeros.
fn rounded(x: f64) -> String {
    match x.abs() {
        10.0..1e6 => format!("{x:.0}"),
        1.0..10.0 => format!("{x:.1}"),
        0.1..1.0 => format!("{x:.2}"),
        0.01..0.1 => format!("{x:.3}"),
        1e-3..0.01 => format!("{x:.4}"),
        0.0 => "0".to_string(),
        _ => format!("{x:.1e}"),
    }
}

fn tolerance(distance: &Distance) -> String {
    format!("rounding gives {}, in {}", rounded(distance.tolerance), distance.precision)
}

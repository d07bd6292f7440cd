//! What the reader is told.

use std::fmt::{self, Write};

use anyhow::Result;
use diagnosis::{Conditional, Diagnosis, Distance, Mistake, Reading, Verdict, separate};
use workshop::chapters;

/// So many names stand in a list of what cannot show.
const MOST_NAMES: usize = 12;

/// What was taken for what.
pub fn assumed(file: &str, reading: &Reading) -> String {
    let mut text = format!("{file}\n");
    for line in &reading.assumed {
        text += &format!("  {line}\n");
    }
    text
}

/// What was found.
pub fn diagnosis(reading: &Reading, diagnosis: &Diagnosis) -> Result<String> {
    let mut text = String::from("\n");
    match diagnosis.verdict {
        Verdict::Right => {
            writeln!(
                text,
                "Right: the output is what was meant, computed in {}.",
                diagnosis.precision
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
    if let Some(distance) = distance(diagnosis) {
        writeln!(text, "It is {} away; {}.", off(distance), tolerance(distance))?;
    }
    let names = diagnosis.invisible.iter().map(|it| it.entry().name.as_str());
    let names: Vec<&str> = names.collect();
    if !names.is_empty() {
        let more = names.len().saturating_sub(MOST_NAMES);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let shown = &names[..names.len().min(MOST_NAMES)];
        writeln!(
            text,
            "\nWith this input, these mistakes would give the same numbers: {}{more}.",
            shown.join(", ")
        )?;
    }
    Ok(())
}

fn mistake(text: &mut String, reading: &Reading, diagnosis: &Diagnosis) -> Result<()> {
    let sets = &diagnosis.explanations;
    let size = sets.first().map_or(0, Vec::len);
    if let Some(number) = &diagnosis.number_words {
        writeln!(text, "A number is another: {number}.")?;
    }
    if size == 0 {
        return Ok(of_rounding(text, diagnosis, "number")?);
    }
    let how_many =
        if size == 1 { "A mistake".to_string() } else { format!("{size} mistakes") };
    writeln!(text, "{how_many}: {}.", names(&sets[0]))?;
    of_rounding(text, diagnosis, "mistake")?;
    if sets.len() > 1 {
        writeln!(text, "\nThese numbers cannot tell it from:")?;
        for set in &sets[1..] {
            writeln!(text, "  {}", names(set))?;
        }
        let apart = separate(&reading.record, &reading.intent, sets);
        writeln!(
            text,
            "{}",
            match apart {
                Some(it) => format!(
                    "What would tell them apart: {}; --write-input FILE writes such an input.",
                    it.changes.join(", ")
                ),
                None =>
                    "No input would tell all of them apart: some are one computation."
                        .to_string(),
            }
        )?;
    }
    let mut told = Vec::new();
    for mistake in sets.iter().flatten().filter(|it| {
        let is_new = !told.contains(&it.id);
        told.push(it.id);
        is_new
    }) {
        text.push('\n');
        explain(text, mistake)?;
    }
    Ok(())
}

fn of_rounding(text: &mut String, diagnosis: &Diagnosis, with: &str) -> fmt::Result {
    let Some(distance) = distance(diagnosis) else { return Ok(()) };
    writeln!(
        text,
        "The output is {} from what was meant, and what rounding leaves of it with the {with} \
         is that of {}.",
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
        writeln!(text, "A part is explained: {}.", names(set))?;
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
            "Unknown: no mistake of the bank, and no two of them, explain {name}."
        )?,
    }
    if let Some(distance) = &tensor.distance {
        writeln!(
            text,
            "It is {} from what was meant; {}.",
            off(distance),
            tolerance(distance)
        )?;
    }
    if let Some(nearest) = &diagnosis.nearest {
        let name = match nearest.mistakes[..] {
            [] => "what was meant".to_string(),
            _ => names(&nearest.mistakes),
        };
        writeln!(text, "Nearest is {name}, {} away.", off(&nearest.distance))?;
    }
    if let Some(places) = &diagnosis.places {
        writeln!(text, "Where it differs: {}.", places.summary.join("; "))?;
    }
    Ok(())
}

fn tensors(text: &mut String, diagnosis: &Diagnosis) -> fmt::Result {
    writeln!(text, "\nEach tensor, made from those before it as they are:")?;
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

fn names(set: &[&Mistake]) -> String {
    set.iter().map(|it| it.entry().name.as_str()).collect::<Vec<_>>().join(", and ")
}

/// Of the output.
fn distance(diagnosis: &Diagnosis) -> Option<&Distance> {
    diagnosis.tensors.last()?.distance.as_ref()
}

fn off(distance: &Distance) -> String {
    let Distance { rms, largest, spread, .. } = distance;
    let share = 100.0 * rms / spread.max(f64::MIN_POSITIVE);
    format!("{rms:.1e} ({share:.2} % of its spread; {largest:.1e} at most)")
}

fn tolerance(distance: &Distance) -> String {
    format!("rounding gives {:.1e}, in {}", distance.tolerance, distance.precision)
}

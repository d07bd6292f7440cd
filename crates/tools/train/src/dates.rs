//! Dates: an encoder and a decoder, and where the decoder's heads look in what is read.

use std::fmt::Write;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Result;
use attention::{Matrix, thousands};
use figures::{Heads, head_maps};
use training::dates::{DateArchitecture, DateConverter, DateReport, DateTexts, Dates};
use training::{Schedule, Step, Trainer, Training};
use workshop::progress;

/// Trains, and says what was learned.
pub(super) fn trained(
    n_heads: usize,
    schedule: &Schedule,
    stop: &AtomicBool,
) -> Result<String> {
    let built = DateArchitecture { n_heads, ..DateArchitecture::default() };
    let trained = watched(built, schedule, stop)?;
    let Schedule { n_steps, batch, seed, .. } = *schedule;
    let n_taken = trained.losses.len();
    let stopped = match n_taken < n_steps {
        true => format!(" of {n_steps}, stopped"),
        false => String::new(),
    };
    let parameters = thousands(trained.model.costs()?.parameters);
    let bar = progress::spinner("what it has learned, measured on new dates");
    let report = DateReport::of(&trained, seed)?;
    bar.finish_and_clear();
    Ok(format!(
        "{n_heads} heads, d_model {}, {parameters} parameters; seed {seed}; {n_taken} \
         steps{stopped}, each on {batch} dates\n\n{report}",
        built.d_model,
    ))
}

/// A training behind a progress bar.
fn watched(
    built: DateArchitecture,
    schedule: &Schedule,
    stop: &AtomicBool,
) -> Result<Training<DateConverter>> {
    let begin = |_: &Dates, rng: &mut _| DateConverter::random(built, rng);
    let mut trainer = Trainer::new(Dates::default(), schedule.clone(), begin)?;
    let bar = progress::steps(schedule.n_steps);
    while let Some(Step { step, loss, score }) = trainer.step()? {
        bar.set_position(step as u64 + 1);
        bar.set_message(format!("loss {loss:.3}, {:.1} % whole", 100.0 * score));
        if stop.load(Ordering::Relaxed) {
            break;
        }
    }
    bar.finish_and_clear();
    Ok(trainer.stop()?)
}

/// What the model that comes with the crate writes for a text, and where its heads look.
pub(super) fn written(text: &str) -> Result<String> {
    let texts = DateTexts::of_text(text)?;
    let model = DateConverter::trained()?;
    let (written, maps) = model.write_and_look(&texts)?;
    let (read, written) = (&texts.written[0].text, Dates::letters(&written));
    let mut out = format!(
        "{read} → {written}\n\nWhere each head of the cross-attention looks, letter by letter \
         that is written:\n"
    );
    let letters = |text: &str| text.chars().map(String::from).collect::<Vec<_>>();
    let maps: Vec<Matrix> = maps.iter().map(|map| map.map(f64::from)).collect();
    let heads = Heads::new(&maps, &letters(&written), &letters(read))?;
    let sketch = head_maps("", &heads).to_string();
    writeln!(out, "\n{}", sketch.trim_matches('\n'))?;
    writeln!(
        out,
        "\nEven attention would give {:.3} to each letter.",
        1.0 / read.len() as f64
    )?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_has_all_it_promises() {
        let schedule = Schedule { n_steps: 3, n_test: 16, ..Dates::schedule(0) };
        let report = trained(4, &schedule, &AtomicBool::new(false)).unwrap();
        for part in
            ["89,611 parameters", "3 steps, each on 64", "after    3 steps", "even "]
        {
            assert!(report.contains(part), "{part} is missing from\n{report}");
        }
        assert_eq!(report.matches(" → ").count(), 6, "{report}");
        assert_eq!(report.matches("head 3 ").count(), 2, "{report}");
        assert_eq!(report.matches("random").count(), 3, "{report}");
        let widest = report.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(100), "{report}");
    }

    #[test]
    fn what_was_stopped_is_reported() {
        let schedule = Schedule { n_test: 16, ..Dates::schedule(0) };
        let report = trained(4, &schedule, &AtomicBool::new(true)).unwrap();
        assert!(report.contains("1 steps of 1500, stopped"), "{report}");
    }

    #[test]
    fn a_date_of_your_own_and_where_each_head_looks() {
        insta::assert_snapshot!(written("12 March 2031").unwrap());
    }

    #[test]
    fn a_date_that_cannot_be_read_is_refused_with_its_letter_or_both_lengths() {
        insta::assert_snapshot!(written("12 märz 2031").unwrap_err(), @r#"letter 4 of the text is 'ä', counted from 0, and the model knows only these: " ,-./0123456789abcdefghijlmnoprstuvy""#);
        insta::assert_snapshot!(written("the 12th of march 2031").unwrap_err(), @"the text has 22 letters, and the model reads at most 18");
        insta::assert_snapshot!(written("").unwrap_err(), @"the number of letters is 0, and must be at least 1");
    }
}

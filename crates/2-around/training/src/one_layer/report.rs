//! What was learned, in text.

use std::fmt;

use ablation::Replacement;
use attention::{Matrix, Result, Rng, SeedableRng};

use crate::Training;
use crate::one_layer::{Ablation, Task};

/// A training's scores, what its heads attend to, and what each is needed for; it prints
/// as three tables.
#[derive(Debug, Clone)]
pub struct Report<'a> {
    /// The training.
    pub trained: &'a Training,
    /// The names of its targets.
    pub targets: &'static [&'static str],
    /// What its heads are needed for.
    pub ablation: Ablation,
}

impl<'a> Report<'a> {
    /// Replaces the heads of a training by their means, and random directions drawn with
    /// this seed.
    ///
    /// # Errors
    /// As [`Ablation::of`].
    pub fn of(task: &impl Task, trained: &'a Training, seed: u64) -> Result<Self> {
        let rng = &mut Rng::seed_from_u64(seed);
        let ablation =
            Ablation::of(&trained.model, &trained.test, Replacement::Mean, rng)?;
        Ok(Self { trained, targets: task.targets(), ablation })
    }
}

impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { trained, targets, ablation } = self;
        let (first, last) = (&trained.looks[0], trained.last());
        let n_test = trained.test.tokens.n_sequences();
        let what = trained.test.answers.score_name();
        writeln!(f, "On {n_test} examples that it was not trained on, {what}:")?;
        for (r, target) in targets.iter().enumerate() {
            let (before, after) = (100.0 * first.scores[r], 100.0 * last.scores[r]);
            writeln!(f, "  {target:<12} {before:8.1} % before, {after:6.1} % after")?;
        }

        writeln!(f, "\nMean share of a head's attention on what a target asks for:")?;
        let share = |share: f64| format!("{share:.3}");
        write_table(f, targets, &rows(&last.focus), share)?;

        writeln!(f, "\nPoints that a target loses with a head fixed at its mean:")?;
        let mut lost = rows(&ablation.losses());
        lost.push(("random".to_owned(), ablation.control_medians()));
        let points = |lost: f64| format!("{:.1}", (1000.0 * lost).round() / 10.0 + 0.0);
        write_table(f, targets, &lost, points)?;
        writeln!(
            f,
            "Random is the control: as many directions of the concatenation as a head has, \
             taken\nat random; the median of {} draws.",
            Ablation::N_DRAWS
        )
    }
}

fn rows(of_heads: &Matrix) -> Vec<(String, Vec<f64>)> {
    let row = |i: usize| of_heads.row(i).iter().copied().collect();
    (0..of_heads.nrows()).map(|i| (format!("head {i}"), row(i))).collect()
}

fn write_table(
    f: &mut fmt::Formatter<'_>,
    targets: &[&str],
    rows: &[(String, Vec<f64>)],
    cell: impl Fn(f64) -> String,
) -> fmt::Result {
    let width = |target: &str| target.chars().count().max(6) + 2;
    let heads = targets.iter().map(|target| format!("{target:>w$}", w = width(target)));
    writeln!(f, "  {:11}{}", "", heads.collect::<String>())?;
    for (name, numbers) in rows {
        let cells = targets.iter().zip(numbers);
        let cells =
            cells.map(|(target, &x)| format!("{:>w$}", cell(x), w = width(target)));
        writeln!(f, "  {name:<11}{}", cells.collect::<String>())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Schedule;
    use crate::lookups::Lookups;
    use crate::one_layer::train;
    use crate::tests::ON;

    #[test]
    fn a_report_has_every_target_and_head_and_the_control() {
        let task = Lookups::default();
        let schedule = Schedule { n_steps: 2, n_test: 64, ..Lookups::schedule(0) };
        let trained = train(&task, 2, &schedule, ON).unwrap();
        let report = Report::of(&task, &trained, 0).unwrap().to_string();
        assert!(report.starts_with("On 64 examples"), "{report}");
        for (part, times) in [
            ("agent", 3),
            ("place", 3),
            ("head 1", 2),
            ("\n  random", 1),
            (" % after", 3),
        ] {
            assert_eq!(report.matches(part).count(), times, "{part}:\n{report}");
        }
        assert!(!report.contains("-0.0 "), "{report}");
        assert!(report.lines().all(|line| line.chars().count() <= 90), "{report}");
    }
}

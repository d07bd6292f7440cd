//! All windows of engines that ran until they failed, and what remains behind each.

use std::process::ExitCode;

use super::engines::Input;
pub use super::engines::Window;
use crate::{Case, Exercise, Section};

mod mistakes;

/// What the reader writes: every window, in the order of the file.
pub type Cut = fn(lengths: &[usize], n_steps: usize) -> Vec<Window>;

/// Checks an answer.
pub fn check(answer: Cut) -> ExitCode {
    EXERCISE.check(move |input| answer(&input.lengths, input.n_steps))
}

const WINDOWS: Section =
    Section::new("sensors", "The remaining useful life of an engine");

/// The exercise.
pub static EXERCISE: Exercise<Input, Vec<Window>> = Exercise {
    name: "windows",
    title: "Windows of engines",
    read: WINDOWS,
    begin: "an engine of 5 rows and one of 4, windows of 3: which rows of the file has the \
        first engine's last window, and where does the second engine's first one begin?",
    print: "the windows of each engine: the first row, the last row and what remains",
    passed: "Every window is of one engine, and knows where it stands in the file and how \
        long its engine has left.",
    cases,
    reference: Input::right,
    mistakes: mistakes::ALL,
    place: |_, place| {
        let what = ["its engine", "its first row", "what remains"][place.column];
        format!("window {}, {what}", place.part)
    },
};

fn cases() -> Vec<Case<Input>> {
    let case = |lengths: &[usize], n_steps: usize| Case {
        sizes: format!("engines of {lengths:?} rows, windows of {n_steps}"),
        square: false,
        input: Input { lengths: lengths.to_vec(), n_steps },
    };
    vec![case(&[5, 4], 3), case(&[4, 2, 3, 1, 6], 3), case(&[170, 20, 140], 30)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;

    /// A window for each row of the file that has enough of its engine behind it.
    #[test]
    fn one_pass_over_the_rows_of_the_file_is_right() {
        let by_row = |input: &Input| {
            let numbered = input.lengths.iter().enumerate();
            let left: Vec<(usize, usize)> = numbered
                .flat_map(|(engine, &length)| {
                    (1..=length).rev().map(move |x| (engine, x))
                })
                .collect();
            let rows = left.into_iter().enumerate();
            let window = |(first, (engine, left)): (usize, (usize, usize))| {
                let remaining = left.checked_sub(input.n_steps)?;
                Some(Window { engine, first, remaining: remaining.min(125) })
            };
            rows.filter_map(window).collect()
        };
        assert_eq!(EXERCISE.diagnose(by_row), Verdict::Passed);
    }

    /// `length - n_steps` panics for a short engine, and the other slip is named still.
    #[test]
    fn a_mistake_that_panics_for_short_engines_is_named() {
        let uncapped = |input: &Input| {
            let (mut all, mut before) = (Vec::new(), 0);
            for (engine, &length) in input.lengths.iter().enumerate() {
                assert!(length >= input.n_steps, "attempt to subtract with overflow");
                for start in 0..=length - input.n_steps {
                    let remaining = length - start - 1;
                    all.push(Window { engine, first: before + start, remaining });
                }
                before += length;
            }
            all
        };
        let Verdict::Mistake { mistake, .. } = EXERCISE.diagnose(uncapped) else {
            panic!("no mistake");
        };
        assert_eq!(
            EXERCISE.mistakes[mistake].name,
            "counts what remains from the window's first row"
        );
    }
}

//! A smaller converter of dates, trained while a reader looks on: live.

use std::sync::OnceLock;

use anyhow::Result;
use attention::Rng;
use training::Schedule;
use training::dates::{DateArchitecture, DateConverter, DateLook, Dates};

use super::model::Written;
use crate::live::trained::{self, LiveTraining};
use crate::live::{LiveFigure, LiveView, Question, live};
use crate::numbers::percent;

/// Trains as its reader sets.
pub(crate) const LIVE: LiveFigure<Set, Facts> =
    LiveFigure::new("dates", trained::draw::<SmallConverter>, QUESTIONS)
        .trained(trained::begin::<SmallConverter>);

const QUESTIONS: &[Question<Set, Facts>] = &[
    Question {
        ask: "Train one head (32 wide) to the end. Does it write over half of the dates?",
        is_answered: |_, it| it.is_finished && it.n_heads == 1 && it.whole > 0.5,
        answer: |set| set.heads = 1,
        found: "Yes: the parts come one after the other, and its one map goes from part \
                to part. This task does not need several heads.",
    },
    Question {
        ask: "Train four heads with another seed. Do the same heads look at the same \
              parts?",
        is_answered: |set, it| {
            it.is_finished && it.n_heads == 4 && set.seed != FIRST_SEED
        },
        answer: |set| set.seed = 1,
        found: "No: which head begins with which letter is up to the seed. What all maps \
                have in common is the way from part to part.",
    },
];

const FIRST_SEED: usize = 0;

/// What all looks show.
const READ: &str = "mar. 12 2031";

live! {
    struct Set {
        heads: usize = "Heads", choice([4, 2, 1].map(|n| (n.to_string(), n.to_string(), n)));
        seed: usize = "Seed", count([0, 9999], FIRST_SEED);
        steps: usize = "Steps", count([10, 1500], Dates::small_schedule(0).n_steps);
    }

    struct Facts {
        n_heads: usize, is_finished: bool,
        /// The part of unseen dates that are whole.
        whole: f64,
    }
}

/// The converter, trained.
struct SmallConverter;

impl LiveTraining for SmallConverter {
    type Set = Set;
    type Facts = Facts;
    type Model = DateConverter;
    type Task = Dates;

    fn task() -> Dates {
        Dates::default()
    }

    fn schedule(set: &Set) -> Schedule {
        Schedule { n_steps: set.steps, ..Dates::small_schedule(set.seed as u64) }
    }

    fn begin(set: &Set, _: &Dates, rng: &mut Rng) -> attention::Result<DateConverter> {
        let built = DateArchitecture { n_heads: set.heads, ..DateArchitecture::small() };
        DateConverter::random(built, rng)
    }

    fn kept() -> &'static OnceLock<training::Training<DateConverter>> {
        static FIRST: OnceLock<training::Training<DateConverter>> = OnceLock::new();
        &FIRST
    }

    fn shown(
        _: &Set,
        schedule: &Schedule,
        so_far: &training::Training<DateConverter>,
        now: &DateLook,
    ) -> Result<LiveView<Facts>> {
        let written = Written::by(&so_far.model, READ)?;
        let whole = percent(now.whole);
        let n_heads = so_far.model.n_heads();
        let heads = match n_heads {
            1 => "1 head writes".to_owned(),
            n => format!("{n} heads write"),
        };
        let (seed, step, n_steps) = (schedule.seed, now.step, schedule.n_steps);
        let title =
            format!("Seed {seed}, step {step}: {heads} {whole} of unseen dates whole");
        let words = format!(
            "After {step} of {n_steps} steps {whole} of {} unseen dates are whole; “{READ}” is \
             written as {}.",
            schedule.n_test, written.text,
        );
        let figure = written.figure(title)?;
        let facts = Facts { whole: now.whole, n_heads, is_finished: step == n_steps };
        Ok(LiveView { figure, words, facts })
    }
}

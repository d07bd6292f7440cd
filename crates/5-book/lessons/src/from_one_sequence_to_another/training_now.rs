//! A smaller converter of dates, trained while a reader looks on: live.

use std::sync::OnceLock;

use anyhow::Result;
use attention::Rng;
use training::dates::{DateArchitecture, DateConverter, DateLook, Dates};
use training::{Schedule, Trainer};

use super::model::Written;
use crate::live::{Control, Kind, Live, LiveView, Question, Settings, Training};

/// Trains as its reader sets.
pub const LIVE: Live = Live {
    name: "dates",
    questions: &[
        Question {
            ask: "Train one head (32 wide) to the end. Does it write over half of the dates?",
            is_answered: |_, view| {
                let [whole, n_heads, finished] = view.last()?;
                Ok(finished == 1.0 && n_heads == 1.0 && whole > 0.5)
            },
            answer: &[("heads", "1")],
            found: "Yes: the parts come one after the other, and its one map goes from part \
                    to part. This task does not need several heads.",
        },
        Question {
            ask: "Train four heads with another seed. Do the same heads look at the same \
                  parts?",
            is_answered: |settings, view| {
                let [_, n_heads, finished] = view.last()?;
                let is_other = settings.count("seed")? != FIRST_SEED;
                Ok(finished == 1.0 && n_heads == 4.0 && is_other)
            },
            answer: &[("seed", "1")],
            found: "No: which head begins with which letter is up to the seed. What all \
                    maps have in common is the way from part to part.",
        },
    ],
    weights: None,
    controls,
    draw,
    training: Some(begin),
};

const FIRST_SEED: usize = 0;

/// What all looks show.
const READ: &str = "mar. 12 2031";

fn controls() -> Vec<Control> {
    let heads = [4, 2, 1].map(|n: usize| (n.to_string(), n.to_string()));
    let steps = Kind::Count { range: [10, 1500], first: Plan::first().schedule.n_steps };
    vec![
        Control::new("heads", "Heads", Kind::choice(heads)),
        Control::new("seed", "Seed", Kind::Count { range: [0, 9999], first: FIRST_SEED }),
        Control::new("steps", "Steps", steps),
    ]
}

/// What is trained, and how.
#[derive(Debug, Clone, PartialEq)]
struct Plan {
    built: DateArchitecture,
    schedule: Schedule,
}

impl Plan {
    fn first() -> Self {
        Self {
            built: DateArchitecture::small(),
            schedule: Dates::small_schedule(FIRST_SEED as u64),
        }
    }

    fn of(settings: &Settings) -> Result<Self> {
        let (n_heads, n_steps) = (settings.size("heads")?, settings.count("steps")?);
        let schedule = Dates::small_schedule(settings.count("seed")? as u64);
        Ok(Self {
            built: DateArchitecture { n_heads, ..DateArchitecture::small() },
            schedule: Schedule { n_steps, ..schedule },
        })
    }

    fn begin(self) -> Result<Trainer<DateConverter, Dates>> {
        let Self { built, schedule } = self;
        let begin = |_: &Dates, rng: &mut Rng| DateConverter::random(built, rng);
        Ok(Trainer::new(Dates::default(), schedule, begin)?)
    }
}

/// The training of the first settings. It takes seconds, and several tests look at it.
fn first() -> Result<&'static training::Training<DateConverter>> {
    static FIRST: OnceLock<training::Training<DateConverter>> = OnceLock::new();
    if let Some(trained) = FIRST.get() {
        return Ok(trained);
    }
    let trained = Plan::first().begin()?.finish()?;
    Ok(FIRST.get_or_init(|| trained))
}

fn draw(settings: &Settings) -> Result<LiveView> {
    let plan = Plan::of(settings)?;
    let schedule = plan.schedule.clone();
    if plan == Plan::first() {
        let first = first()?;
        return shown(&schedule, &first.model, first.last());
    }
    let trained = plan.begin()?.finish()?;
    shown(&schedule, &trained.model, trained.last())
}

fn begin(settings: &Settings) -> Result<Box<dyn Training>> {
    Ok(Box::new(Plan::of(settings)?.begin()?))
}

impl Training for Trainer<DateConverter, Dates> {
    fn step(&mut self) -> Result<()> {
        Trainer::step(self)?;
        Ok(())
    }

    fn progress(&self) -> [usize; 2] {
        [self.so_far().losses.len(), self.schedule().n_steps]
    }

    fn shown(&self, _: &Settings) -> Result<LiveView> {
        shown(self.schedule(), &self.so_far().model, &self.look()?)
    }
}

/// A model as it is at a look.
fn shown(schedule: &Schedule, model: &DateConverter, now: &DateLook) -> Result<LiveView> {
    let written = Written::by(model, READ)?;
    let whole = format!("{:.1} %", 100.0 * now.whole);
    let heads = match model.n_heads() {
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
    let numbers = written.maps.iter().flat_map(|map| map.iter().copied());
    let is_finished = f64::from(u8::from(step == n_steps));
    let end = [now.whole, model.n_heads() as f64, is_finished];
    let numbers = numbers.chain(end).collect();
    Ok(LiveView { figure: written.figure(title)?, words, numbers })
}

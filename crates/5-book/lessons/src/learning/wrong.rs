//! The chapter's layer trained with a wrong gradient, beside the right one: live.

use anyhow::Result;
use figures::{LossCurve, loss_curves};
use fused_heads::FusedAttention;
use gradients::{Optimiser, Sgd};

use super::{N_STEPS, RATE, START, Task, fresh_layer};
use crate::live::{Control, Kind, Live, LiveView, Question, Settings, Training};
use crate::numbers::brief;
use crate::the_backward_pass::ways::{Way, back, by_differences, compared};

/// Trains two layers with the same start by gradient descent, one with a wrong gradient.
pub const LIVE: Live = Live {
    name: "wrong-gradient",
    questions: &[
        Question {
            ask: "Find a gradient that is wrong for the layer's own parameters and still \
                  takes the loss below 0.01.",
            is_answered: |_, view| {
                let is_wrong = view.number(PARAMETERS)? > TOLERANCE;
                Ok(is_wrong && has_learned(view)?[1])
            },
            answer: &[("way", "a-not-transposed")],
            found: "A falling loss shows that a step points downhill, not that it is the \
                    gradient.",
        },
        Question {
            ask: "The forgotten 1/√d_k fails from start 3. Find a start from which it \
                  learns the task.",
            is_answered: |settings, view| {
                Ok(settings.choice("way")? == "no-scale" && has_learned(view)?[1])
            },
            answer: &[("seed", "0")],
            found: "One start is one observation: a ranking of gradients needs several.",
        },
        Question {
            ask: "Find a start from which the right gradients fail and wrong ones learn.",
            is_answered: |_, view| {
                let [right, wrong] = has_learned(view)?;
                let is_over = view.number(STEPS)? == N_STEPS as f64;
                let is_wrong = view.number(PARAMETERS)? > TOLERANCE;
                Ok(is_over && is_wrong && !right && wrong)
            },
            answer: &[("seed", "4"), ("way", "wo-not-transposed")],
            found: "The loss at the end cannot tell which gradient was right. The check \
                    can, before the first step.",
        },
    ],
    weights: None,
    controls,
    draw,
    training: Some(begin),
};

/// Where the numbers hold the steps taken, the two losses, and the two mismatches.
const STEPS: usize = 0;
const LOSSES: [usize; 2] = [1, 2];
const PARAMETERS: usize = 3;

/// Below this loss the task is learned, as in the chapter.
const ENOUGH: f64 = 0.01;
/// Right gradients differ less from central differences; wrong ones at least .005.
const TOLERANCE: f64 = 1e-7;

/// What an address calls the wrong ways.
const KEYS: [(&str, Way); 7] = [
    ("no-scale", Way::NoScale),
    ("elementwise", Way::Elementwise),
    ("x-once", Way::XOnce),
    ("bias-mean", Way::BiasMean),
    ("wo-not-transposed", Way::WoNotTransposed),
    ("a-not-transposed", Way::ANotTransposed),
    ("in-place", Way::InPlace),
];

fn controls() -> Vec<Control> {
    let ways = Kind::choice(KEYS.map(|(key, way)| (key, name(way))));
    let start = Kind::Count { range: [0, 99], first: START as usize };
    vec![Control::new("way", "Wrong", ways), Control::new("seed", "Start", start)]
}

/// What “The backward pass” calls it.
fn name(way: Way) -> &'static str {
    let found = Way::ALL.into_iter().find(|(known, _)| *known == way);
    found.map_or("", |(_, name)| name)
}

/// Whether the right gradients have learned the task, and whether the wrong ones have.
fn has_learned(view: &LiveView) -> Result<[bool; 2]> {
    let [right, wrong] = LOSSES.map(|nth| view.number(nth));
    Ok([right? < ENOUGH, wrong? < ENOUGH])
}

fn draw(settings: &Settings) -> Result<LiveView> {
    let mut training = Comparison::new(settings)?;
    while training.n_taken() < N_STEPS {
        Training::step(&mut training)?;
    }
    training.shown(settings)
}

fn begin(settings: &Settings) -> Result<Box<dyn Training>> {
    Ok(Box::new(Comparison::new(settings)?))
}

/// Two layers that had the same start.
struct Comparison {
    task: Task,
    start: u64,
    way: Way,
    mismatch: Mismatch,
    /// The layer with the right gradients, and that with the wrong ones.
    layers: [FusedAttention; 2],
    /// Their losses: before each step, and after the last.
    losses: [Vec<f64>; 2],
}

impl Comparison {
    fn new(settings: &Settings) -> Result<Self> {
        let (key, start) = (settings.choice("way")?, settings.count("seed")? as u64);
        let way = KEYS.into_iter().find(|(known, _)| *known == key);
        let way = way.map_or(Way::Right, |(_, way)| way);
        let (task, layer) = (Task::new(1)?, fresh_layer(start)?);
        let mismatch = Mismatch::new(&layer, &task, way)?;
        let loss = task.loss(&layer)?;
        let losses = [vec![loss], vec![loss]];
        Ok(Self { layers: [layer.clone(), layer], task, start, way, mismatch, losses })
    }

    fn n_taken(&self) -> usize {
        self.losses[0].len() - 1
    }
}

impl Training for Comparison {
    fn step(&mut self) -> Result<()> {
        if self.n_taken() == N_STEPS {
            return Ok(());
        }
        for (nth, way) in [Way::Right, self.way].into_iter().enumerate() {
            let layer = &mut self.layers[nth];
            let gradients = back(layer, &self.task, way)?;
            Sgd { lr: RATE }.step_layer(layer, &gradients)?;
            self.losses[nth].push(self.task.loss(layer)?);
        }
        Ok(())
    }

    fn progress(&self) -> [usize; 2] {
        [self.n_taken(), N_STEPS]
    }

    fn shown(&self, _: &Settings) -> Result<LiveView> {
        let Self { start, way, mismatch, losses, .. } = self;
        let (name, n_taken) = (name(*way), self.n_taken());
        let last = losses.each_ref().map(|losses| losses[n_taken]);
        let curves = [("right gradients", &losses[0]), (name, &losses[1])];
        // Before each step; where none was taken, before the first.
        let curves = curves.map(|(name, losses)| LossCurve {
            name: name.to_owned(),
            losses: losses[..n_taken.max(1)].to_vec(),
        });
        let [right, wrong] = last.map(brief);
        let title = format!(
            "Start {start}, step {n_taken}: a loss of {wrong} with the wrong gradients, \
             of {right} with the right ones"
        );
        let figure = loss_curves(title, &curves)?;
        let words = format!(
            "“{name}” has taken the loss from {} to {wrong} in {n_taken} of {N_STEPS} \
             steps, the right gradients to {right}: {}. At the start, {}.",
            brief(losses[0][0]),
            verdict(last.map(|loss| loss < ENOUGH)),
            mismatch.words(),
        );
        let numbers = [n_taken as f64, last[0], last[1]].into_iter();
        let mismatches = [mismatch.of_parameters(), mismatch.of_x()];
        let numbers = numbers.chain(mismatches).chain(losses.concat());
        Ok(LiveView { figure, words, numbers: numbers.collect() })
    }
}

/// Which of the right and the wrong gradients are below [`ENOUGH`].
fn verdict(has_learned: [bool; 2]) -> String {
    let which = match has_learned {
        [true, true] => "both are",
        [true, false] => "only the right ones are",
        [false, true] => "only the wrong ones are",
        [false, false] => "neither is",
    };
    format!("{which} below {ENOUGH}, where the task is learned")
}

/// How far gradients are from central differences, each as a part of the differences' norm.
struct Mismatch {
    parts: [f64; 6],
}

impl Mismatch {
    /// In the order of [`compared`].
    const NAMES: [&str; 6] = ["W^Q", "W^K", "W^V", "W^O", "the biases", "x"];

    fn new(layer: &FusedAttention, task: &Task, way: Way) -> Result<Self> {
        let computed = compared(&back(layer, task, way)?)?;
        let expected = by_differences(layer, task)?;
        let part =
            |nth: usize| (&computed[nth] - &expected[nth]).norm() / expected[nth].norm();
        Ok(Self { parts: std::array::from_fn(part) })
    }

    /// The largest among the layer's own parameters.
    fn of_parameters(&self) -> f64 {
        self.parts[..5].iter().copied().fold(0.0, f64::max)
    }

    fn of_x(&self) -> f64 {
        self.parts[5]
    }

    fn words(&self) -> String {
        let found = self.parts.iter().zip(Self::NAMES);
        let found = found.filter(|(part, _)| **part > TOLERANCE);
        let found = found.max_by(|(a, _), (b, _)| a.total_cmp(b));
        match found {
            None => "central differences find nothing".to_owned(),
            Some((part, name)) => {
                let of_parameters = match self.of_parameters() > TOLERANCE {
                    true => "",
                    false => "; those of all parameters agree",
                };
                format!(
                    "central differences find the mistake: the gradient of {name} is off by \
                     {:.0} % of its norm{of_parameters}",
                    100.0 * part
                )
            }
        }
    }
}

#[cfg(test)]
mod tests;

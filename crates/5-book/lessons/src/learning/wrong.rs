//! The chapter's layer trained with a wrong gradient, beside the right one: live.

use anyhow::Result;
use figures::{LossCurve, loss_curves};
use fused_heads::FusedAttention;
use gradients::{Optimiser, Sgd};

use super::{N_STEPS, RATE, START, Task, fresh_layer};
use crate::live::{LiveFigure, LiveView, Question, Training, live};
use crate::numbers::{apart, brief};
use crate::the_backward_pass::ways::{Way, back, by_differences, compared};

/// Trains two layers with the same start by gradient descent, one with a wrong gradient.
pub(crate) const LIVE: LiveFigure<Set, Facts> =
    LiveFigure::new("wrong-gradient", draw, QUESTIONS).trained(begin);

const QUESTIONS: &[Question<Set, Facts>] = &[
    Question {
        ask: "Find a gradient that is wrong for the layer's own parameters and still \
              takes the loss below 0.01.",
        is_answered: |_, it| it.of_parameters > TOLERANCE && it.wrong < ENOUGH,
        answer: |set| set.way = Way::ANotTransposed,
        found: "A falling loss shows that a step points downhill, not that it is the \
                gradient.",
    },
    Question {
        ask: "The forgotten 1/√d_k fails from start 3. Find a start from which it learns \
              the task.",
        is_answered: |set, it| set.way == Way::NoScale && it.wrong < ENOUGH,
        answer: |set| set.seed = 0,
        found: "One start is one observation: a ranking of gradients needs several.",
    },
    Question {
        ask: "Find a start from which the right gradients fail and wrong ones learn.",
        is_answered: |_, it| {
            let is_wrong = it.of_parameters > TOLERANCE && it.n_taken == N_STEPS;
            is_wrong && it.right >= ENOUGH && it.wrong < ENOUGH
        },
        answer: |set| (set.seed, set.way) = (4, Way::WoNotTransposed),
        found: "The loss at the end cannot tell which gradient was right. The check can, \
                before the first step.",
    },
];

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

live! {
    struct Set {
        way: Way = "Wrong", choice(KEYS.map(|(key, way)| (key, name(way), way)));
        seed: usize = "Start", count([0, 99], START as usize);
    }

    struct Facts {
        n_taken: usize,
        /// The losses, before the first step and after each.
        losses: [Vec<f64>; 2],
        /// The last of them with the right gradients, and with the wrong ones.
        right: f64, wrong: f64,
        /// How far the gradients of the layer's own parameters are from differences.
        of_parameters: f64,
    }
}

/// What “The backward pass” calls it.
fn name(way: Way) -> &'static str {
    let found = Way::ALL.into_iter().find(|(known, _)| *known == way);
    found.map_or("", |(_, name)| name)
}

fn draw(set: &Set) -> Result<LiveView<Facts>> {
    let mut training = Comparison::new(set)?;
    while training.n_taken() < N_STEPS {
        Training::step(&mut training)?;
    }
    training.shown(set)
}

fn begin(set: &Set) -> Result<Box<dyn Training<Set, Facts>>> {
    Ok(Box::new(Comparison::new(set)?))
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
    fn new(&Set { way, seed }: &Set) -> Result<Self> {
        let start = seed as u64;
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

impl Training<Set, Facts> for Comparison {
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

    fn shown(&self, _: &Set) -> Result<LiveView<Facts>> {
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
        let ([right, wrong], of_parameters) = (last, mismatch.of_parameters());
        let losses = losses.clone();
        let facts = Facts { n_taken, losses, right, wrong, of_parameters };
        Ok(LiveView { figure, words, facts })
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
        let part = |nth: usize| apart(&computed[nth], &expected[nth]);
        Ok(Self { parts: std::array::from_fn(part) })
    }

    /// The largest among the layer's own parameters.
    fn of_parameters(&self) -> f64 {
        self.parts[..5].iter().copied().fold(0.0, f64::max)
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

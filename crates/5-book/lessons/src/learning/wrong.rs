//! The chapter's layer trained with a wrong gradient, beside the right one: live.

use std::sync::OnceLock;

use anyhow::Result;
use attention::Matrix;
use figures::{
    Axis, Chart, DASHES, Figure, LossCurve, Mark, NEUTRAL, Panel, Table, by_cell, ends,
    formula, label_width, legend_room, log_axis, loss_curves, palette, rounded,
    share_map, significant,
};
use fused_heads::FusedAttention;
use gradients::{Optimiser, Sgd};

use super::{N_STEPS, RATE, START, Task, fresh_layer};
use crate::kept::kept;
use crate::live::{LiveFigure, LiveView, Question, Training, live};
use crate::numbers::{apart, brief};
use crate::the_backward_pass::ways::{Way, back, by_differences, compared};

/// Trains layers with the same start by gradient descent: one with the right gradients, and one
/// with each of the wrong ones, of which a reader looks at one.
pub(crate) const LIVE: LiveFigure<Set, Facts> =
    LiveFigure::new("wrong-gradient", draw, QUESTIONS).trained(begin);

const QUESTIONS: &[Question<Set, Facts>] = &[
    Question {
        ask: "Find a gradient that is wrong for the layer's own parameters and still \
              takes the loss below 0.01, the dotted line.",
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
        way: Way = "Wrong", choice(KEYS.map(|(key, way)| (key, name(way), way))).at_any_time();
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
    static FIRST: OnceLock<Comparison> = OnceLock::new();
    let trained = || {
        let mut training = Comparison::new(set)?;
        while training.n_taken() < N_STEPS {
            Training::step(&mut training)?;
        }
        Ok(training)
    };
    match set.seed as u64 == START {
        true => kept(&FIRST, trained)?.shown(set),
        false => trained()?.shown(set),
    }
}

fn begin(set: &Set) -> Result<Box<dyn Training<Set, Facts>>> {
    Ok(Box::new(Comparison::new(set)?))
}

/// Layers that had the same start.
struct Comparison {
    task: Task,
    start: u64,
    /// Of each of [`KEYS`].
    mismatches: Vec<Mismatch>,
    /// Each with what its gradients are, the right ones first, and its losses: before each
    /// step, and after the last.
    runs: Vec<(Way, FusedAttention, Vec<f64>)>,
}

impl Comparison {
    fn new(set: &Set) -> Result<Self> {
        let start = set.seed as u64;
        let (task, layer) = (Task::new(1)?, fresh_layer(start)?);
        let expected = by_differences(&layer, &task)?;
        let mismatch = |(_, way)| Mismatch::new(&layer, &task, (way, &expected));
        let mismatches = KEYS.into_iter().map(mismatch).collect::<Result<_>>()?;
        let loss = task.loss(&layer)?;
        let ways = std::iter::once(Way::Right).chain(KEYS.map(|(_, way)| way));
        let runs = ways.map(|way| (way, layer.clone(), vec![loss])).collect();
        Ok(Self { task, start, mismatches, runs })
    }

    fn n_taken(&self) -> usize {
        self.runs[0].2.len() - 1
    }

    /// Where a way stands among the wrong ones.
    fn place(way: Way) -> usize {
        KEYS.iter().position(|(_, known)| *known == way).unwrap_or(0)
    }

    /// The losses of all, those of the right gradients and of one way above the others, and
    /// what the check finds of each.
    fn figure(&self, title: String, way: Way) -> Result<Figure> {
        let ways = KEYS.map(|(_, way)| name(way).to_owned());
        let place = Self::place(way);
        // Before each step; where none was taken, before the first.
        let losses = |nth: usize| &self.runs[nth].2[..self.n_taken().max(1)];
        let all = (0..self.runs.len()).flat_map(|nth| losses(nth).to_vec());
        let range = ends(all.filter(|loss| *loss >= LEAST));
        let steps = Axis::numbers(N_STEPS as f64).titled("step");
        let decades = Axis::decades(range, log_axis::power_of_ten);
        let left = label_width(&ways, 12);
        let of_losses = Panel::new("loss, on a logarithmic axis", steps, decades, 190.0);
        let highlighted = [(0, "right gradients"), (place + 1, name(way))];
        let others = (1..self.runs.len()).filter(|nth| *nth != place + 1);
        let others = others.map(|nth| {
            let (key, way) = KEYS[nth - 1];
            let line = curve(losses(nth)).line(NEUTRAL, 1.5).opacity(0.55);
            line.in_legend(false).tells(name(way)).picks(format!("way={key}"))
        });
        let others: Vec<Mark> = others.collect();
        let lines = highlighted.iter().enumerate().map(|(hue, (nth, name))| {
            let line = curve(losses(*nth)).called(name).line(palette::head(hue), 3.0);
            line.dashed(DASHES[hue]).tells(*name)
        });
        let enough = Mark::rule([[0.0, ENOUGH], [N_STEPS as f64, ENOUGH]]);
        let columns = Mismatch::NAMES.map(str::to_owned);
        let set = |axis: Axis, names: &[String]| {
            axis.at(0..names.len(), names.iter().map(|name| formula(name)))
        };
        let x = set(Axis::across(&columns, 12).level(), &columns);
        let y = set(Axis::down(&ways, 12), &ways);
        let of_check =
            "how far each gradient is from central differences at first: click a row";
        let of_check = Panel::new(of_check, x, y, 24.0 * ways.len() as f64);
        let shown = highlighted.map(|(nth, name)| LossCurve {
            name: name.to_owned(),
            losses: losses(nth).to_vec(),
        });
        let shown = loss_curves("", &shown)?;
        let told = |i: usize, j: usize| in_percent(self.mismatches[i].parts[j]);
        let check = Table::grid("Off by, of the norm", "", &ways, &columns, told);
        Ok(Chart::new(title)
            .left(left)
            .above(legend_room(highlighted.iter().map(|(_, name)| *name), 14.0))
            .panel(of_losses, others.into_iter().chain(lines).chain([enough]))
            .panel(of_check, self.check(place))
            .says(shown.alternative())
            .tables(shown.tables().iter().cloned().chain([check]))
            .figure()?)
    }

    /// How far the gradients of each way are off, that of one in a frame.
    fn check(&self, place: usize) -> [Mark; 2] {
        let shape = (KEYS.len(), Mismatch::NAMES.len());
        let part = |i: usize, j: usize| self.mismatches[i].parts[j];
        let stops = vec![(0.0, "rgba(118,118,118,0.12)"), (1.0, palette::wrong())];
        let cells = Mark::cells(by_cell(shape, |i, j| rounded(part(i, j).min(1.0))), 1);
        let cells = cells.scaled(stops, [0.0, 1.0]).text_size(12).in_legend(false);
        let cells = cells.lettered(by_cell(shape, |i, j| in_percent(part(i, j))));
        let cells = cells.tells("{row}: the gradient of {column} is off by {text}");
        let cells = cells.sets(by_cell(shape, |i, _| format!("way={}", KEYS[i].0)));
        [cells, share_map::frame([0, shape.1 - 1], [place; 2])]
    }
}

/// Below it a line ends, as in `loss_curves`.
const LEAST: f64 = 1e-9;

fn curve(losses: &[f64]) -> Mark {
    let drawn =
        |loss: f64| (loss.is_finite() && loss >= LEAST).then(|| significant(loss));
    Mark::lines(0..losses.len(), losses.iter().map(|&loss| drawn(loss))).with_gaps()
}

fn in_percent(part: f64) -> String {
    if part > TOLERANCE { format!("{:.0} %", 100.0 * part) } else { "0".to_owned() }
}

impl Training<Set, Facts> for Comparison {
    fn step(&mut self) -> Result<()> {
        if self.n_taken() == N_STEPS {
            return Ok(());
        }
        for (way, layer, losses) in &mut self.runs {
            let gradients = back(layer, &self.task, *way)?;
            Sgd { lr: RATE }.step_layer(layer, &gradients)?;
            losses.push(self.task.loss(layer)?);
        }
        Ok(())
    }

    fn progress(&self) -> [usize; 2] {
        [self.n_taken(), N_STEPS]
    }

    fn shown(&self, &Set { way, .. }: &Set) -> Result<LiveView<Facts>> {
        let (start, n_taken, place) = (self.start, self.n_taken(), Self::place(way));
        let losses = [0, place + 1].map(|nth| self.runs[nth].2.clone());
        let last = losses.each_ref().map(|losses| losses[n_taken]);
        let [right, wrong] = last.map(brief);
        let title = format!(
            "Start {start}, step {n_taken}: a loss of {wrong} with the wrong gradients, \
             of {right} with the right ones"
        );
        let figure = self.figure(title, way)?;
        let words = format!(
            "“{}” has taken the loss from {} to {wrong} in {n_taken} of {N_STEPS} \
             steps, the right gradients to {right}: {}. At the start, {}.",
            name(way),
            brief(losses[0][0]),
            verdict(last.map(|loss| loss < ENOUGH)),
            self.mismatches[place].words(),
        );
        let of_parameters = self.mismatches[place].of_parameters();
        let [right, wrong] = last;
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

    fn new(
        layer: &FusedAttention,
        task: &Task,
        (way, expected): (Way, &[Matrix; 6]),
    ) -> Result<Self> {
        let computed = compared(&back(layer, task, way)?)?;
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

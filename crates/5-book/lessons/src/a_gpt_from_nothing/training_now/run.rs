//! A training that is taken step by step, and looked at now and then.

use std::sync::OnceLock;

use anyhow::Result;
use attention::{Rng, SeedableRng};
use gpt::{Model, Rung, Schedule};
use models::{Choice, Sampling};

use super::word_list::{MOST_LETTERS, WordList};
use super::{N_WRITTEN, Set};
use crate::a_gpt_from_nothing::learned::counted;
use crate::a_gpt_from_nothing::next::{ids, letter};
use crate::kept::kept;
use crate::numbers::mean;

/// Looks in even steps, and before the first of them more, each at half as many steps.
const N_LOOKS: usize = 16;
const N_HALVES: usize = 4;

/// What was found out after some steps.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Look {
    pub(super) step: usize,
    /// The mean loss of the steps since the look before; none before any step.
    pub(super) learned: Option<f64>,
    /// The loss on words that are kept from it.
    pub(super) kept: f64,
    /// A word that it wrote then, at temperature 1.
    pub(super) wrote: String,
}

/// A training, as far as it went.
pub(super) struct Run {
    pub(super) seed: u64,
    pub(super) n_steps: usize,
    pub(super) list: WordList,
    /// What counting comes to on these.
    pub(super) rules: [(&'static str, f64); 3],
    pub(super) training: gpt::Training,
    batches: Rng,
    pub(super) looks: Vec<Look>,
    /// The losses since the last look.
    since: Vec<f64>,
    /// The losses without each head, once they are asked for after the last step.
    without: OnceLock<Vec<([usize; 2], f64)>>,
}

impl Run {
    /// With random parameters, and a first look.
    ///
    /// # Errors
    /// Words that are too few.
    pub(super) fn new(set: &Set) -> Result<Self> {
        let list = WordList::of(&set.words)?;
        let rules = counted(&list.split);
        let (seed, n_steps) = (set.seed as u64, set.steps);
        let mut batches = Rng::seed_from_u64(seed);
        let (sizes, schedule) = (set.size, Schedule { n_steps, ..Schedule::PAGE });
        let training = gpt::Training::new(Rung::BATCH, sizes, schedule, &mut batches)?;
        let mut run = Self {
            seed,
            n_steps,
            list,
            rules,
            training,
            batches,
            looks: Vec::new(),
            since: Vec::new(),
            without: OnceLock::new(),
        };
        run.looks = run.looks()?;
        Ok(run)
    }

    /// Takes a step, if one is left, and looks at what it has come to if a look is due.
    pub(super) fn step(&mut self) -> Result<()> {
        let words = &self.list.split.learned;
        let Some(loss) = self.training.step(words, &mut self.batches)? else {
            return Ok(());
        };
        self.since.push(loss);
        self.without = OnceLock::new();
        if self.is_look_due() {
            self.looks = self.looks()?;
            self.since.clear();
        }
        Ok(())
    }

    /// Takes all steps that are left.
    pub(super) fn finish(mut self) -> Result<Self> {
        while self.training.n_taken() < self.n_steps {
            self.step()?;
        }
        Ok(self)
    }

    fn is_look_due(&self) -> bool {
        let step = self.training.n_taken();
        let every = (self.n_steps / N_LOOKS).max(1);
        let is_half = (1..=N_HALVES).any(|nth| step == every >> nth);
        is_half || step.is_multiple_of(every) || step == self.n_steps
    }

    /// The model as it is now.
    pub(super) fn model(&self) -> Result<Model> {
        Ok(Model::new(self.training.architecture(), self.training.parameters())?)
    }

    /// All looks, and at the end one at what there is to see now.
    pub(super) fn looks(&self) -> Result<Vec<Look>> {
        let (mut looks, step) = (self.looks.clone(), self.training.n_taken());
        if looks.last().is_none_or(|last| last.step < step) {
            let (model, since) = (self.model()?, self.since.iter().copied());
            let learned = (step > 0).then(|| mean(since));
            let wrote = self.write(&model, "", Sampling::default(), 0)?;
            let kept = model.loss(&self.list.split.test)?;
            looks.push(Look { step, learned, kept, wrote });
        }
        Ok(looks)
    }

    /// The `nth` word that a model writes, from its beginning on.
    pub(super) fn write(
        &self,
        model: &Model,
        beginning: &str,
        sampling: Sampling,
        nth: usize,
    ) -> Result<String> {
        let seed = self.seed * N_WRITTEN as u64 + nth as u64;
        let (mut word, mut choice) = (beginning.to_owned(), Choice::by(sampling, seed));
        while word.len() < MOST_LETTERS {
            match choice.of(&model.next(&ids(&word))?) {
                None | Some(0) => break, // the end
                Some(id) => word.push_str(&letter(id)),
            }
        }
        Ok(word)
    }

    /// Each head by its block and its number, and the loss on kept words without it. A slider
    /// that moves asks for them again and again.
    pub(super) fn losses_without(&self) -> Result<&Vec<([usize; 2], f64)>> {
        kept(&self.without, || {
            let (model, sizes) = (self.model()?, self.training.architecture());
            let heads = (0..sizes.n_blocks * sizes.n_heads).map(|nth| {
                let at @ [b, i] = [nth / sizes.n_heads, nth % sizes.n_heads];
                Ok((at, model.without(b, i)?.loss(&self.list.split.test)?))
            });
            heads.collect()
        })
    }
}

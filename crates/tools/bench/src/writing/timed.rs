//! What is timed of a model that writes: a prompt, a token at the beginning of a text, and one
//! behind a long text.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Instant;

use anyhow::{Context, Result};
use models::Choice;
use models::decoders::{FastDecoder, PackedCaches};
use rayon::ThreadPool;
use runs::Pass;

use crate::rounds::Runner;
use crate::side::Side;

/// Tokens of the prompt.
pub const PROMPT: usize = 560;

/// Tokens that are written and timed, behind a few that are read.
pub const WRITTEN: usize = 60;

/// Tokens of a text that is long, behind which as many are written.
pub const LONG: usize = 4096;

/// Tokens of it that are read at once.
const AT_ONCE: usize = 512;

/// What is timed.
#[derive(Debug, Clone, Copy)]
pub enum Part {
    /// The prompt.
    Prompt,
    /// A token at the beginning of a text.
    Token,
    /// A token behind a long text.
    Long,
}

impl Part {
    pub const ALL: [Self; 3] = [Self::Prompt, Self::Token, Self::Long];

    pub fn name(self) -> &'static str {
        match self {
            Self::Prompt => "prompt",
            Self::Token => "token",
            Self::Long => "long",
        }
    }
}

pub enum Who<'a> {
    Ours {
        pool: &'a ThreadPool,
        ours: Rc<RefCell<Ours<'a>>>,
        ids: &'a [usize],
        part: Part,
    },
    Peer(Rc<RefCell<Side>>, Part),
}

impl Runner for Who<'_> {
    fn time(&mut self) -> Result<f64> {
        match self {
            Self::Ours { pool, ours, ids, part } => {
                let (ours, ids) = (&mut *ours.borrow_mut(), *ids);
                pool.install(|| match part {
                    Part::Prompt => ours.prompt(&ids[..PROMPT]),
                    Part::Token => ours.token(ids[0]),
                    Part::Long => ours.long(ids),
                })
            }
            Self::Peer(side, part) => side.borrow_mut().time(part.name(), Pass::Forward),
        }
    }
}

/// A model, and what it keeps of a long text.
pub struct Ours<'a> {
    model: &'a mut FastDecoder,
    long: Option<PackedCaches>,
}

impl<'a> Ours<'a> {
    /// With no text read yet.
    pub fn new(model: &'a mut FastDecoder) -> Self {
        Self { model, long: None }
    }

    /// The milliseconds of a prompt.
    fn prompt(&mut self, ids: &[usize]) -> Result<f64> {
        let mut caches = self.model.caches(ids.len());
        let start = Instant::now();
        self.model.read(ids, &mut caches)?;
        Ok(1e3 * start.elapsed().as_secs_f64())
    }

    /// The milliseconds of a token behind two.
    fn token(&mut self, first: usize) -> Result<f64> {
        let mut caches = self.model.caches(WRITTEN + 2);
        self.write(first, &mut caches)
    }

    /// The milliseconds of a token behind a text, which is read the first time.
    fn long(&mut self, ids: &[usize]) -> Result<f64> {
        let n = LONG - 1;
        let mut caches = match self.long.take() {
            Some(caches) => caches,
            None => {
                let mut caches = self.model.caches(LONG + WRITTEN + 1);
                for part in ids[..n].chunks(AT_ONCE) {
                    self.model.read(part, &mut caches)?;
                }
                caches
            }
        };
        let ms = self.write(ids[n], &mut caches)?;
        caches.truncate(n);
        self.long = Some(caches);
        Ok(ms)
    }

    /// The milliseconds of a token that is written behind this one and the next: the mean.
    fn write(&mut self, first: usize, caches: &mut PackedCaches) -> Result<f64> {
        let mut next = |id| -> Result<usize> {
            let logits = self.model.read(&[id], caches)?;
            let logits: Vec<f64> = logits.into_iter().map(f64::from).collect();
            Choice::greedy().of(&logits).context("a model without tokens")
        };
        let mut id = next(first)?;
        let start = Instant::now();
        for _ in 0..WRITTEN {
            id = next(id)?;
        }
        Ok(1e3 * start.elapsed().as_secs_f64() / WRITTEN as f64)
    }
}

//! Ranks that are threads of one process: for lessons, tests and small machines.

use std::collections::{HashMap, VecDeque};
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

use attention::Real;

use crate::{Error, Group, Result, Tally};

/// One rank of a group of threads. Messages are copied, as they are between machines.
///
/// ```
/// use distributed::{Group, Threads};
///
/// let sums = Threads::run(3, |group| {
///     let mut sum = [group.rank() as f64, 1.0];
///     group.all_reduce(&mut sum)?;
///     Ok(sum)
/// })?;
/// assert_eq!(sums, [[3.0, 3.0]; 3]);
/// # Ok::<(), distributed::Error>(())
/// ```
#[derive(Debug)]
pub struct Threads<T: Real> {
    world: Arc<World<T>>,
    /// The ranks of the world that are in this group.
    members: Vec<usize>,
    /// The number of this rank among them.
    rank: usize,
    /// How this group was split off: for each split its number and the colour.
    name: Vec<usize>,
    n_splits: usize,
}

#[derive(Debug)]
struct World<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

/// A group, the sender in it, and the receiver.
type Way = (Vec<usize>, usize, usize);

#[derive(Debug)]
struct State<T> {
    on_the_way: HashMap<Way, VecDeque<Vec<T>>>,
    /// Why ranks have ended that have.
    gone: Vec<Option<Error>>,
    tallies: Vec<Tally>,
}

impl<T> World<T> {
    /// A rank that panicked held no lock: nothing here does.
    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ends(&self, rank: usize, why: Error) {
        self.state().gone[rank] = Some(why);
        self.changed.notify_all();
    }
}

impl<T: Real> Threads<T> {
    /// Runs `rank` on so many threads, each with its rank of the group, and gives what they
    /// return in order. If one fails, those that wait for it are told and end too.
    ///
    /// # Errors
    /// [`Error::NoRanks`]; the first cause if ranks failed, a panic as [`Error::Gone`].
    pub fn run<R: Send>(
        size: usize,
        rank: impl Fn(&mut Self) -> Result<R> + Sync,
    ) -> Result<Vec<R>> {
        if size == 0 {
            return Err(Error::NoRanks { what: "the number of ranks" });
        }
        let (gone, tallies) = (vec![None; size], vec![Tally::default(); size]);
        let state = Mutex::new(State { on_the_way: HashMap::new(), gone, tallies });
        let world = &Arc::new(World { state, changed: Condvar::new() });
        let one = |number: usize| {
            let (world, members) = (Arc::clone(world), (0..size).collect());
            let mut group =
                Self { world, members, rank: number, name: Vec::new(), n_splits: 0 };
            let outcome = panic::catch_unwind(AssertUnwindSafe(|| rank(&mut group)))
                .unwrap_or_else(|_| {
                    Err(Error::Gone { rank: number, size, why: "it panicked".to_owned() })
                });
            let gone = |why: String| Error::Gone { rank: number, size, why };
            let why = match &outcome {
                Ok(_) => gone("it was done".to_owned()),
                // What it waited for is the reason, and not that it waited.
                Err(error @ Error::Gone { .. }) => error.clone(),
                Err(error) => gone(error.to_string()),
            };
            group.world.ends(number, why);
            outcome
        };
        let outcomes: Vec<Result<R>> = thread::scope(|scope| {
            let one = &one;
            let threads: Vec<_> =
                (0..size).map(|number| scope.spawn(move || one(number))).collect();
            let joined = threads.into_iter().map(|thread| thread.join());
            // Panics were caught: a thread that cannot be joined does not occur.
            joined.flatten().collect()
        });
        first_cause(outcomes)
    }
}

/// All results, or the error of a rank that did not merely wait for another.
fn first_cause<R>(outcomes: Vec<Result<R>>) -> Result<Vec<R>> {
    let (mut done, mut errors) = (Vec::new(), Vec::new());
    for (rank, outcome) in outcomes.into_iter().enumerate() {
        match outcome {
            Ok(result) => done.push(result),
            Err(error) => errors.push((rank, error)),
        }
    }
    let is_own = |(rank, error): &(usize, Error)| match error {
        Error::Gone { rank: gone, .. } => gone == rank,
        _ => true,
    };
    let cause = errors.iter().position(is_own).unwrap_or(0);
    if errors.is_empty() { Ok(done) } else { Err(errors.swap_remove(cause).1) }
}

impl<T: Real> Group<T> for Threads<T> {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.members.len()
    }

    fn exchange_while<R: Send>(
        &mut self,
        to: usize,
        send: &[T],
        from: usize,
        receive: &mut [T],
        meanwhile: impl FnOnce() -> R + Send,
    ) -> Result<R> {
        let (size, rank, me) = (self.size(), self.rank, self.members[self.rank]);
        Error::expect_rank(to, size)?;
        Error::expect_rank(from, size)?;
        {
            let mut state = self.world.state();
            state.tallies[me].sent::<T>(send.len());
            let way = (self.name.clone(), rank, to);
            state.on_the_way.entry(way).or_default().push_back(send.to_vec());
        }
        self.world.changed.notify_all();
        let done = meanwhile();

        let start = Instant::now();
        let way = (self.name.clone(), from, rank);
        let mut state = self.world.state();
        let message = loop {
            if let Some(message) =
                state.on_the_way.get_mut(&way).and_then(VecDeque::pop_front)
            {
                break message;
            }
            if let Some(why) = &state.gone[self.members[from]] {
                return Err(why.clone());
            }
            state =
                self.world.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        };
        state.tallies[me].waited_since(start);
        drop(state);
        if message.len() != receive.len() {
            let (expected, found) = (receive.len(), message.len());
            return Err(Error::Message { from, to: rank, expected, found });
        }
        receive.copy_from_slice(&message);
        Ok(done)
    }

    fn split(&mut self, colour: impl Fn(usize) -> usize) -> Result<Self> {
        let mine = colour(self.rank);
        let ranks = || (0..self.size()).filter(|&rank| colour(rank) == mine);
        let mut name = self.name.clone();
        name.extend([self.n_splits, mine]);
        let group = Self {
            world: Arc::clone(&self.world),
            members: ranks().map(|rank| self.members[rank]).collect(),
            rank: ranks().take_while(|&rank| rank < self.rank).count(),
            name,
            n_splits: 0,
        };
        self.n_splits += 1;
        Ok(group)
    }

    fn tally(&self) -> Tally {
        self.world.state().tallies[self.members[self.rank]]
    }
}

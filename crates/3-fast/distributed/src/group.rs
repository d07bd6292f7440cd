//! A group of ranks, and what they do together.

use std::time::{Duration, Instant};

use attention::Real;

use crate::{Result, share};

/// What a rank has sent so far, and how long it has waited for others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// Messages sent.
    pub messages: u64,
    /// Bytes sent.
    pub bytes: u64,
    /// Time in which this rank waited for others and could compute nothing.
    pub waiting: Duration,
}

impl Tally {
    /// Counts a message of so many entries.
    pub fn sent<T>(&mut self, n_entries: usize) {
        self.messages += 1;
        self.bytes += (n_entries * size_of::<T>()) as u64;
    }

    /// Counts the time since `start` as waiting.
    pub fn waited_since(&mut self, start: Instant) {
        self.waiting += start.elapsed();
    }

    /// What was added since an earlier tally of the same rank.
    pub fn since(self, earlier: Self) -> Self {
        Self {
            messages: self.messages - earlier.messages,
            bytes: self.bytes - earlier.bytes,
            waiting: self.waiting - earlier.waiting,
        }
    }
}

/// Ranks that compute one thing together. Each has a number, and code of its own that calls
/// the same methods in the same order as that of the others.
///
/// One primitive is enough: [`exchange_while`](Self::exchange_while), which sends to one rank,
/// receives from another, and computes meanwhile. The rest is made of it, and an engine that has
/// better ones replaces them.
pub trait Group<T: Real> {
    /// The number of this rank, from 0.
    fn rank(&self) -> usize;

    /// The number of ranks.
    fn size(&self) -> usize;

    /// Sends `send` to rank `to`, receives `receive` from rank `from`, and calls `meanwhile`
    /// while both are on their way.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`](crate::Error::NoSuchRank),
    /// [`Error::Message`](crate::Error::Message), [`Error::Gone`](crate::Error::Gone).
    fn exchange_while<R: Send>(
        &mut self,
        to: usize,
        send: &[T],
        from: usize,
        receive: &mut [T],
        meanwhile: impl FnOnce() -> R + Send,
    ) -> Result<R>;

    /// The same with nothing to compute.
    ///
    /// # Errors
    /// As [`exchange_while`](Self::exchange_while).
    fn exchange(
        &mut self,
        to: usize,
        send: &[T],
        from: usize,
        receive: &mut [T],
    ) -> Result<()> {
        self.exchange_while(to, send, from, receive, || ())
    }

    /// The smaller group of those that have the same colour as this rank, in their order.
    ///
    /// # Errors
    /// What the engine's communication finds.
    fn split(&mut self, colour: impl Fn(usize) -> usize) -> Result<Self>
    where
        Self: Sized;

    /// What this rank has sent and how long it has waited, groups split off included.
    fn tally(&self) -> Tally;

    /// Replaces `sum` by the sum of all ranks' entries, the same on every rank to the last
    /// digit.
    ///
    /// The entries are cut into as many parts as there are ranks. In a first round of the
    /// ring each part gathers its sum, in a second the sums go to all: each rank sends
    /// `2 (p − 1) / p` of its entries, however many ranks there are.
    ///
    /// # Shapes
    /// `sum` has the same length on every rank.
    ///
    /// # Errors
    /// As [`exchange`](Self::exchange).
    ///
    /// # Source
    /// Patarasuk and Yuan 2009, "Bandwidth optimal all-reduce algorithms for clusters of
    /// workstations".
    fn all_reduce(&mut self, sum: &mut [T]) -> Result<()> {
        let (p, r, n) = (self.size(), self.rank(), sum.len());
        let [next, before] = [(r + 1) % p, (r + p - 1) % p];
        let part = |i: usize| share(n, p, i % p);
        let mut arrived = vec![T::zero(); part(0).len()];
        for step in 0..p - 1 {
            let (mine, theirs) = (part(r + p - step), part(r + 2 * p - step - 1));
            let arrived = &mut arrived[..theirs.len()];
            self.exchange(next, &sum[mine], before, arrived)?;
            sum[theirs].iter_mut().zip(arrived).for_each(|(to, from)| *to += *from);
        }
        for step in 0..p - 1 {
            let (mine, theirs) = (part(r + p + 1 - step), part(r + p - step));
            let arrived = &mut arrived[..theirs.len()];
            self.exchange(next, &sum[mine], before, arrived)?;
            sum[theirs].copy_from_slice(arrived);
        }
        Ok(())
    }

    /// Everything that the ranks have, one after the other, on every rank.
    ///
    /// # Shapes
    /// `lengths[r]` is what rank r has; `mine` is this rank's.
    ///
    /// # Errors
    /// As [`exchange`](Self::exchange); a list of other lengths than there are ranks.
    fn all_gather(&mut self, mine: &[T], lengths: &[usize]) -> Result<Vec<T>> {
        let (p, r) = (self.size(), self.rank());
        attention::Error::expect_length("the lengths of all ranks", p, lengths.len())?;
        attention::Error::expect_length("what this rank has", lengths[r], mine.len())?;
        let starts: Vec<usize> = (0..=p).map(|i| lengths[..i].iter().sum()).collect();
        let mut all = vec![T::zero(); starts[p]];
        all[starts[r]..starts[r + 1]].copy_from_slice(mine);
        for step in 0..p - 1 {
            let [mine, theirs] = [(r + p - step) % p, (r + 2 * p - step - 1) % p];
            let mut arrived = vec![T::zero(); lengths[theirs]];
            let send = &all[starts[mine]..starts[mine + 1]];
            self.exchange((r + 1) % p, send, (r + p - 1) % p, &mut arrived)?;
            all[starts[theirs]..starts[theirs + 1]].copy_from_slice(&arrived);
        }
        Ok(all)
    }

    /// Returns when every rank has come here.
    ///
    /// # Errors
    /// As [`exchange`](Self::exchange).
    fn barrier(&mut self) -> Result<()> {
        // A part for every rank: nobody has the sum before all have sent.
        self.all_reduce(&mut vec![T::zero(); self.size()])
    }
}

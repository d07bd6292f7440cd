//! A group of processes, by MPI.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Instant;

use attention::Real;
use mpi::collective::{CommunicatorCollectives, SystemOperation};
use mpi::datatype::Equivalence;
use mpi::point_to_point::{Destination, Source, Status};
use mpi::request::{Request, Scope};
use mpi::topology::{Color, Communicator, SimpleCommunicator};
use spread::{Error, Group, Result, Tally};

/// One rank of a group of processes.
pub struct Processes {
    communicator: SimpleCommunicator,
    /// One for a rank, whatever groups were split off.
    tally: Rc<Cell<Tally>>,
}

impl Processes {
    /// All processes that `mpirun` has started.
    pub fn world(communicator: &impl Communicator) -> Self {
        Self { communicator: communicator.duplicate(), tally: Rc::default() }
    }

    /// Waits for all without using the processor, so that one rank can compute alone.
    pub fn rest(&self) {
        let mut barrier = Some(self.communicator.immediate_barrier());
        while let Some(waiting) = barrier.take() {
            barrier = waiting.test().err();
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
    }

    fn count(&self, change: impl FnOnce(&mut Tally)) {
        let mut tally = self.tally.get();
        change(&mut tally);
        self.tally.set(tally);
    }
}

impl<T: Real + Equivalence> Group<T> for Processes {
    fn rank(&self) -> usize {
        self.communicator.rank() as usize
    }

    fn size(&self) -> usize {
        self.communicator.size() as usize
    }

    fn exchange<R>(
        &mut self,
        to: usize,
        send: &[T],
        from: usize,
        receive: &mut [T],
        meanwhile: impl FnOnce(&mut dyn FnMut()) -> R,
    ) -> Result<R> {
        let (size, rank) = (Group::<T>::size(self), Group::<T>::rank(self));
        Error::expect_rank(to, size)?;
        Error::expect_rank(from, size)?;
        self.count(|tally| tally.sent::<T>(send.len()));
        let expected = receive.len();
        let there = self.communicator.process_at_rank(from as i32);
        let next = self.communicator.process_at_rank(to as i32);
        let (done, status) = mpi::request::scope(|scope| {
            let mut receiving = Moving::new(there.immediate_receive_into(scope, receive));
            let mut sending = Moving::new(next.immediate_send(scope, send));
            // Large messages move only while somebody looks.
            let done = meanwhile(&mut || {
                receiving.look();
                sending.look();
            });
            let start = Instant::now();
            let status = receiving.wait();
            sending.wait();
            self.count(|tally| tally.waited_since(start));
            (done, status)
        });
        let found = status.count(T::equivalent_datatype()) as usize;
        if found != expected {
            return Err(Error::Message { from, to: rank, expected, found });
        }
        Ok(done)
    }

    fn split(&mut self, colour: impl Fn(usize) -> usize) -> Result<Self> {
        let colour = colour(Group::<T>::rank(self));
        // Every rank has a colour, so every rank is in a group.
        let communicator = self
            .communicator
            .split_by_color(Color::with_value(colour as i32))
            .unwrap_or_else(|| self.communicator.duplicate());
        Ok(Self { communicator, tally: Rc::clone(&self.tally) })
    }

    fn tally(&self) -> Tally {
        self.tally.get()
    }

    /// MPI's own, which knows the machine. Counted is what a ring sends; others send more
    /// bytes in fewer messages.
    fn all_reduce(&mut self, sum: &mut [T]) -> Result<()> {
        let p = Group::<T>::size(self);
        if p == 1 {
            return Ok(());
        }
        let entries = sum.to_vec();
        let start = Instant::now();
        self.communicator.all_reduce_into(&entries[..], sum, SystemOperation::sum());
        self.count(|tally| {
            tally.waited_since(start);
            tally.messages += 2 * (p as u64 - 1);
            tally.bytes += (2 * (p - 1) * size_of_val(&entries[..]) / p) as u64;
        });
        Ok(())
    }
}

/// A message on its way, which can be looked at until it is there.
struct Moving<'a, T, S: Scope<'a>> {
    request: Option<Request<'a, [T], S>>,
    status: Option<Status>,
}

impl<'a, T, S: Scope<'a>> Moving<'a, T, S> {
    fn new(request: Request<'a, [T], S>) -> Self {
        Self { request: Some(request), status: None }
    }

    fn look(&mut self) {
        if let Some(request) = self.request.take() {
            match request.test() {
                Ok(status) => self.status = Some(status),
                Err(request) => self.request = Some(request),
            }
        }
    }

    fn wait(mut self) -> Status {
        match (self.request.take(), self.status) {
            (Some(request), _) => request.wait(),
            (None, Some(status)) => status,
            (None, None) => unreachable!("a request is there until it has a status"),
        }
    }
}

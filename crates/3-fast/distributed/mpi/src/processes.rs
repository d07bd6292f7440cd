//! A group of processes, by MPI.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use attention::Real;
use distributed::{Error, Group, Result, Tally};
use mpi::collective::CommunicatorCollectives;
use mpi::datatype::Equivalence;
use mpi::point_to_point::{Destination, Source, Status};
use mpi::request::{Request, Scope};
use mpi::topology::{Color, Communicator, SimpleCommunicator};

/// How long nobody looks at messages while another thread computes.
const PAUSE: Duration = Duration::from_millis(1);

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
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// Sends and receives, and does something before it waits.
    fn moving<T: Real + Equivalence, R>(
        &self,
        to: usize,
        send: &[T],
        from: usize,
        receive: &mut [T],
        first: impl FnOnce(&mut dyn Look) -> R,
    ) -> Result<R> {
        let (size, rank) = (Group::<T>::size(self), Group::<T>::rank(self));
        Error::expect_rank(to, size)?;
        Error::expect_rank(from, size)?;
        self.count(|tally| tally.sent::<T>(send.len()));
        let expected = receive.len();
        let there = self.communicator.process_at_rank(from as i32);
        let next = self.communicator.process_at_rank(to as i32);
        let (done, status) = mpi::request::scope(|scope| {
            let receiving = Moving::new(there.immediate_receive_into(scope, receive));
            let sending = Moving::new(next.immediate_send(scope, send));
            let mut both = (receiving, sending);
            let done = first(&mut both);
            let start = Instant::now();
            let status = both.0.wait();
            both.1.wait();
            self.count(|tally| tally.waited_since(start));
            (done, status)
        });
        let found = status.count(T::equivalent_datatype()) as usize;
        if found != expected {
            return Err(Error::Message { from, to: rank, expected, found });
        }
        Ok(done)
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

    fn exchange_while<R: Send>(
        &mut self,
        to: usize,
        send: &[T],
        from: usize,
        receive: &mut [T],
        meanwhile: impl FnOnce() -> R + Send,
    ) -> Result<R> {
        let done = self.moving(to, send, from, receive, |messages| {
            // A long message moves only while somebody looks, and a rank that computes does not.
            // MPI is spoken to by this thread alone, so the other one computes.
            let (tell, told) = mpsc::channel();
            thread::scope(|scope| {
                // Nobody is told only if the thread that listens has ended.
                let computing = scope.spawn(move || drop(tell.send(meanwhile())));
                loop {
                    messages.look();
                    match told.recv_timeout(PAUSE) {
                        Ok(done) => return Ok(done),
                        Err(RecvTimeoutError::Timeout) => {}
                        Err(RecvTimeoutError::Disconnected) => break,
                    }
                }
                Err(computing.join().expect_err("it told nothing"))
            })
        })?;
        // Not before: a message that is on its way must arrive, whatever happens here.
        done.or_else(|panicked| std::panic::resume_unwind(panicked))
    }

    fn exchange(
        &mut self,
        to: usize,
        send: &[T],
        from: usize,
        receive: &mut [T],
    ) -> Result<()> {
        self.moving(to, send, from, receive, |_| ())
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
}

/// What is on its way, and can be looked at.
trait Look {
    fn look(&mut self);
}

impl<'a, R, S, Q: Scope<'a>> Look for (Moving<'a, R, Q>, Moving<'a, S, Q>) {
    fn look(&mut self) {
        self.0.look();
        self.1.look();
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

//! The same work for many things, several of them at once.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// How many threads this machine runs at once.
pub fn n_processors() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// What `work` gives for each item, in their order. Each of so many threads takes the next
/// item as soon as it is free.
pub fn map<T: Sync, R: Send>(
    items: &[T],
    n_threads: usize,
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let work_on_some = || {
        let mut done = Vec::new();
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(i) else { return done };
            done.push((i, work(item)));
        }
    };
    let mut done: Vec<(usize, R)> = thread::scope(|scope| {
        let threads: Vec<_> =
            (0..n_threads.max(1)).map(|_| scope.spawn(work_on_some)).collect();
        let joined = threads.into_iter().map(|thread| thread.join());
        joined.flat_map(|one| one.unwrap_or_else(|panic| resume_unwind(panic))).collect()
    });
    done.sort_by_key(|(i, _)| *i);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_items() {
        let items: Vec<usize> = (0..50).collect();
        for n_threads in [0, 1, 3, 80] {
            let squares = map(&items, n_threads, |i| i * i);
            assert!(squares.iter().enumerate().all(|(i, square)| *square == i * i));
            assert_eq!(squares.len(), 50);
        }
    }

    /// Each waits for the other: one after the other, this would wait for ever.
    #[test]
    fn two_are_worked_on_at_once() {
        let both = Barrier::new(2);
        map(&[1, 2], 2, |_| both.wait().is_leader());
    }
}

//! What this machine can do, measured: the limits that rungs are compared with.

use std::hint::black_box;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use pulp::{Simd, WithSimd};

use tiles::Instructions;

/// How long one measurement of the peak takes.
const TIME: Duration = Duration::from_millis(20);

/// Sums that wait for nobody but themselves. A processor that starts two products a cycle
/// and has each after four or five keeps ten in flight; more than a dozen do not fit in
/// the 16 registers of AVX2.
const SUMS: usize = 12;

/// What is summed to measure the memory: far more than caches hold.
const BYTES: usize = 512 << 20;

/// How many multiplications and additions this processor does: in GFLOP/s, of f32, by
/// fused multiply-adds that touch no memory, on so many threads at once.
///
/// The answer is of this moment, and takes 20 ms: a machine that others use gives less.
pub fn fma_peak(n_threads: usize, instructions: Instructions) -> f64 {
    at_once(n_threads, |_| {
        let (mut flops, start) = (0, Instant::now());
        while start.elapsed() < TIME {
            flops += instructions.run(Fma { n_steps: 4096 });
        }
        flops as f64 / start.elapsed().as_secs_f64() / 1e9
    })
}

/// The clock of one core in GHz, as it is now: steps that wait for each other, of which it is
/// known how many cycles each takes. `None` where that is not known.
pub fn clock_ghz() -> Option<f64> {
    // A shift and an exclusive or take a cycle each on every x86-64 processor.
    let known = cfg!(all(target_arch = "x86_64", not(miri)));
    known.then(|| {
        let rate = |_| {
            let (mut cycles, start) = (0, Instant::now());
            while start.elapsed() < TIME {
                cycles += black_box(xorshift(black_box(1), 1 << 16)).1;
            }
            cycles as f64 / start.elapsed().as_secs_f64() / 1e9
        };
        (0..5).map(rate).fold(0.0, f64::max)
    })
}

/// Marsaglia's generator, so many steps of it; and the cycles that they take.
fn xorshift(mut x: u64, n_steps: usize) -> (u64, usize) {
    for _ in 0..n_steps {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    (x, 6 * n_steps)
}

/// How fast memory is read, in GB/s (10⁹ bytes), by so many threads at once.
///
/// Takes half a GB of memory and about a tenth of a second: the best of four readings.
pub fn bandwidth(n_threads: usize, instructions: Instructions) -> f64 {
    let n_threads = n_threads.max(1);
    let numbers = vec![1f32; BYTES / size_of::<f32>()];
    let part = numbers.len().div_ceil(n_threads);
    let parts: Vec<&[f32]> = numbers.chunks(part).collect();
    let reading = |_| {
        at_once(parts.len(), |t| {
            let start = Instant::now();
            black_box(instructions.run(Sum { numbers: parts[t] }));
            size_of_val(parts[t]) as f64 / start.elapsed().as_secs_f64() / 1e9
        })
    };
    (0..4).map(reading).fold(0.0, f64::max)
}

/// Runs `rate` on so many threads, all started together, and adds up what they reach.
fn at_once(n_threads: usize, rate: impl Fn(usize) -> f64 + Sync) -> f64 {
    let n_threads = n_threads.max(1);
    let start = Barrier::new(n_threads);
    thread::scope(|scope| {
        let (rate, start) = (&rate, &start);
        let one = |t| {
            scope.spawn(move || {
                start.wait();
                rate(t)
            })
        };
        let threads: Vec<_> = (0..n_threads).map(one).collect();
        let rates = threads.into_iter().map(|thread| thread.join());
        rates.map(|rate| rate.expect("measuring does not panic")).sum()
    })
}

/// `sum = sum · a + b`, again and again; gives the number of operations.
struct Fma {
    n_steps: usize,
}

impl WithSimd for Fma {
    type Output = usize;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> usize {
        // Hidden from the compiler, which would otherwise know the sums.
        let a = simd.splat_f32s(black_box(0.999));
        let b = simd.splat_f32s(black_box(0.001));
        let mut sums = [simd.splat_f32s(0.5); SUMS];
        for _ in 0..self.n_steps {
            for sum in &mut sums {
                *sum = simd.mul_add_e_f32s(*sum, a, b);
            }
        }
        black_box(sums.map(|sum| simd.reduce_sum_f32s(sum)));
        2 * self.n_steps * SUMS * S::F32_LANES
    }
}

struct Sum<'a> {
    numbers: &'a [f32],
}

impl WithSimd for Sum<'_> {
    type Output = f32;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f32 {
        let (vectors, rest) = S::as_simd_f32s(self.numbers);
        let mut sums = [simd.splat_f32s(0.0); SUMS];
        let (groups, last) = vectors.as_chunks::<SUMS>();
        for group in groups {
            for (sum, x) in sums.iter_mut().zip(group) {
                *sum = simd.add_f32s(*sum, *x);
            }
        }
        for (sum, x) in sums.iter_mut().zip(last) {
            *sum = simd.add_f32s(*sum, *x);
        }
        let sums = sums.map(|sum| simd.reduce_sum_f32s(sum));
        sums.iter().chain(rest).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_summed() {
        for instructions in Instructions::available() {
            for len in [0, 1, 15, 16, 191, 192, 193, 1000] {
                let numbers: Vec<f32> = (0..len).map(|i| i as f32).collect();
                let expected = (len * (len.max(1) - 1) / 2) as f32;
                let sum = instructions.run(Sum { numbers: &numbers });
                assert_eq!(sum, expected, "{instructions}, {len} numbers");
            }
        }
    }

    #[test]
    fn a_step_is_two_operations_a_number() {
        let lanes = |name| match name {
            "AVX-512" => 16,
            "AVX2" => 8,
            "NEON" => 4,
            _ => 1,
        };
        for instructions in Instructions::available() {
            let flops = instructions.run(Fma { n_steps: 3 });
            assert_eq!(flops, 2 * 3 * SUMS * lanes(instructions.name()));
        }
    }

    #[test]
    fn rates_of_all_threads_add_up() {
        assert_eq!(at_once(3, |t| (1 + t) as f64), 6.0);
        assert_eq!(at_once(0, |_| 1.0), 1.0);
    }
}

//! Rounds in which everyone runs once, in turn; and which of them count.

use std::thread;
use std::time::Duration;

use attention::median;

/// By how much the peak may drop in a round that counts.
const DROP: f64 = 0.1;

/// What libraries need for their threads to stop waiting for more work, before someone
/// else is measured.
const PAUSE: Duration = Duration::from_millis(20);

/// Someone who is timed; an error takes it out of the rounds.
pub trait Runner {
    /// The milliseconds of one run.
    fn time(&mut self) -> anyhow::Result<f64>;
}

/// Times from rounds that count.
#[derive(Debug, Default)]
pub struct Rounds {
    pub n_kept: usize,
    pub n_thrown_away: usize,
    /// The median of the lower peaks around each round that counts, GFLOP/s.
    pub peak: f64,
    /// The best of all peaks.
    pub best_peak: f64,
    /// The milliseconds of each runner, round by round; or why it dropped out.
    pub ms: Vec<Result<Vec<f64>, String>>,
}

/// Runs rounds until so many count, and at most twice as many.
pub fn run(
    runners: &mut [impl Runner],
    n_rounds: usize,
    mut peak: impl FnMut() -> f64,
    mut progress: impl FnMut(usize),
) -> Rounds {
    let (mut peaks, mut best_peak) = (Vec::new(), 0f64);
    let mut ms: Vec<Result<Vec<f64>, String>> = vec![Ok(Vec::new()); runners.len()];
    let count = |peaks: &[f64]| kept(peaks).iter().filter(|&&kept| kept).count();
    while count(&peaks) < n_rounds && peaks.len() < 2 * n_rounds {
        thread::sleep(PAUSE);
        let before = peak();
        for (runner, ms) in runners.iter_mut().zip(&mut ms) {
            let Ok(so_far) = ms else { continue };
            thread::sleep(PAUSE);
            match runner.time() {
                Ok(time) => so_far.push(time),
                Err(error) => *ms = Err(format!("{error:#}")),
            }
        }
        thread::sleep(PAUSE);
        let after = peak();
        peaks.push(before.min(after));
        best_peak = best_peak.max(before).max(after);
        progress(count(&peaks));
    }
    let kept = kept(&peaks);
    let only_kept = |ms: Vec<f64>| of_kept(&ms, &kept);
    Rounds {
        n_kept: count(&peaks),
        n_thrown_away: peaks.len() - count(&peaks),
        peak: median(of_kept(&peaks, &kept)),
        best_peak,
        ms: ms.into_iter().map(|ms| ms.map(only_kept)).collect(),
    }
}

/// Which rounds count: those in which the peak was near the best of all.
fn kept(peaks: &[f64]) -> Vec<bool> {
    let best = peaks.iter().copied().fold(0.0, f64::max);
    peaks.iter().map(|&peak| peak >= (1.0 - DROP) * best).collect()
}

fn of_kept(numbers: &[f64], kept: &[bool]) -> Vec<f64> {
    numbers.iter().zip(kept).filter(|(_, kept)| **kept).map(|(&x, _)| x).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::{Result, bail};

    /// Gives its numbers in turn, and an error after the last.
    struct FixedTimes(Vec<f64>);

    impl Runner for FixedTimes {
        fn time(&mut self) -> Result<f64> {
            if self.0.is_empty() {
                bail!("no more");
            }
            Ok(self.0.remove(0))
        }
    }

    fn run_with_peaks(peaks: &[f64], n_rounds: usize, runners: &[&[f64]]) -> Rounds {
        let mut runners: Vec<_> =
            runners.iter().map(|ms| FixedTimes(ms.to_vec())).collect();
        // Asked twice a round; the lower one counts.
        let mut peaks = peaks.iter().flat_map(|&peak| [600.0, peak]);
        run(&mut runners, n_rounds, || peaks.next().unwrap(), |_| ())
    }

    #[test]
    fn rounds_with_a_low_peak_are_made_up_for() {
        let peaks = [500.0, 449.0, 450.0, 490.0];
        let rounds = run_with_peaks(&peaks, 3, &[&[1.0, 9.0, 2.0, 4.0]]);
        assert_eq!((rounds.n_kept, rounds.n_thrown_away), (3, 1));
        assert_eq!(rounds.ms[0], Ok(vec![1.0, 2.0, 4.0]));
        assert_eq!((rounds.peak, rounds.best_peak), (490.0, 600.0));
    }

    #[test]
    fn a_better_peak_throws_away_what_came_before() {
        let rounds = run_with_peaks(&[300.0, 500.0, 500.0], 2, &[&[1.0, 2.0, 4.0]]);
        assert_eq!(rounds.ms[0], Ok(vec![2.0, 4.0]));
    }

    #[test]
    fn there_are_at_most_twice_as_many_rounds() {
        let rounds = run_with_peaks(&[500.0, 1.0, 1.0, 1.0], 2, &[&[1.0; 4]]);
        assert_eq!((rounds.n_kept, rounds.n_thrown_away), (1, 3));
    }

    #[test]
    fn who_fails_drops_out_and_the_others_go_on() {
        let rounds = run_with_peaks(&[500.0; 2], 2, &[&[1.0], &[3.0, 5.0]]);
        assert_eq!(rounds.ms, [Err("no more".into()), Ok(vec![3.0, 5.0])]);
    }
}

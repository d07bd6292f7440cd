//! Windows with a transition and a spike in them.

use std::ops::Range;

use attention::{Matrix, Rng, SeedableRng};
use rand::RngExt;
use training::windows::Window;

use crate::{At, Fleet, GROUPS, N_STEPS, Result, Scale, SimulatedEngine, Truth, Windows};

/// A window of an engine, with what was planted in it.
#[derive(Debug, Clone, PartialEq)]
pub struct WindowCase {
    /// On the scale of the training, `[30, n_sensors]`.
    pub readings: Matrix,
    /// How many cycles remain behind it.
    pub remaining: f64,
    /// What the criteria of the book's windows look at: temperature and pressure are the
    /// means of their groups' sensors, vibration is the mean of all others, each with the
    /// sign that wear has in it.
    pub window: Window,
}

/// So many windows, each of another engine, that the criteria can be asked of: the decline
/// begins at one of the readings 5 to 24 (from 0), and there is one spike, elsewhere.
///
/// # Errors
/// As [`Windows::of`].
pub fn asked(
    fleet: &Fleet,
    scale: &Scale,
    n: usize,
    seed: u64,
) -> Result<Vec<WindowCase>> {
    drawn(fleet, scale, n, seed, planted)
}

/// So many windows, each of another engine, behind which so many cycles remain. Nothing is
/// planted in them: `transition` and `spike` are 0 and mean nothing.
///
/// # Errors
/// As [`Windows::of`].
pub fn asked_late(
    fleet: &Fleet,
    scale: &Scale,
    n: usize,
    seed: u64,
    remaining: Range<usize>,
) -> Result<Vec<WindowCase>> {
    let fits = |at: &At| remaining.contains(&(at.remaining as usize));
    drawn(fleet, scale, n, seed, |_, at| fits(at).then_some((0, 0)))
}

/// Of each engine one of the windows that fit, with the readings of its transition and of its
/// spike; engines without any are passed over.
fn drawn(
    fleet: &Fleet,
    scale: &Scale,
    n: usize,
    seed: u64,
    fits: impl Fn(&Truth, &At) -> Option<(usize, usize)>,
) -> Result<Vec<WindowCase>> {
    let rng = &mut Rng::seed_from_u64(seed);
    let mut all = Vec::with_capacity(n);
    while all.len() < n {
        let SimulatedEngine { engine, truth } = fleet.engine(1, rng);
        let windows = Windows::of(&[engine], &[0], scale)?;
        let fitting = windows.at.iter().filter_map(|at| Some((at, fits(&truth, at)?)));
        let fitting: Vec<_> = fitting.collect();
        if fitting.is_empty() {
            continue;
        }
        let (at, (transition, spike)) = fitting[rng.random_range(0..fitting.len())];
        let readings = windows.readings(at)?;
        let window = window(&readings, scale, transition, spike);
        all.push(WindowCase { readings, remaining: at.remaining, window });
    }
    Ok(all)
}

/// The readings of the transition and of the spike, in a window that has both.
fn planted(truth: &Truth, at: &At) -> Option<(usize, usize)> {
    let first = at.end + 1 - N_STEPS; // its cycle
    let transition = truth.transition.checked_sub(first)?;
    let mut spikes =
        truth.spikes.iter().filter(|(cycle, _)| (first..=at.end).contains(cycle));
    let spike = spikes.next()?.0 - first;
    let fits = (5..25).contains(&transition) && spike != transition;
    (fits && spikes.next().is_none()).then_some((transition, spike))
}

fn window(readings: &Matrix, scale: &Scale, transition: usize, spike: usize) -> Window {
    let group = |of: usize, sensor| GROUPS[of].1.contains(&sensor);
    let mean = |is: &dyn Fn(usize) -> bool| -> [f64; N_STEPS] {
        let channel = scale.channel(readings, is);
        std::array::from_fn(|t| channel[t])
    };
    Window {
        temperature: mean(&|sensor| group(0, sensor)),
        pressure: mean(&|sensor| group(1, sensor)),
        vibration: mean(&|sensor| !group(0, sensor) && !group(1, sensor)),
        transition,
        spike,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::remaining;

    #[test]
    fn every_window_has_what_the_criteria_ask_for() {
        let scale = remaining().unwrap().scale;
        // No noise and no hard flights: what is planted is what there is.
        let fleet =
            Fleet { noise: 0.0, drift: 0.0, load: 0.0, offset: 0.0, ..Fleet::default() };
        for asked in asked(&fleet, &scale, 40, 3).unwrap() {
            let Window { temperature, transition, spike, .. } = &asked.window;
            assert!((5..25).contains(transition) && spike != transition);
            assert!((100.0 - 24.0..=220.0).contains(&asked.remaining));
            // A spike moves the sensors of its group as nothing else does, and there is one.
            for t in 1..N_STEPS {
                let step = asked.readings.row(t) - asked.readings.row(t - 1);
                let is_spike = [t, t - 1].contains(spike);
                assert_eq!(step.amax() > 1.0, is_spike, "{t}, {spike}: {step}");
            }
            // Before the decline nothing changes, and from its first reading on all does.
            let read = |t: &usize| *t != *spike;
            let at_first = temperature[usize::from(*spike == 0)];
            for t in (0..N_STEPS).filter(read) {
                let change = temperature[t] - at_first;
                assert_eq!(
                    change > 1e-3,
                    t >= *transition,
                    "{t}, {transition}: {change}"
                );
            }
        }
    }

    #[test]
    fn late_windows_are_as_late_as_they_should_be() {
        let scale = remaining().unwrap().scale;
        for range in [0..20, 60..125] {
            let all =
                asked_late(&Fleet::default(), &scale, 20, 1, range.clone()).unwrap();
            assert!(all.iter().all(|it| range.contains(&(it.remaining as usize))));
        }
    }

    #[test]
    fn a_seed_gives_the_same_windows() {
        let scale = remaining().unwrap().scale;
        let of = |seed| asked(&Fleet::default(), &scale, 3, seed).unwrap();
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
    }
}

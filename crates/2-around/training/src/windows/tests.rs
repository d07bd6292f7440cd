use super::*;
use crate::Schedule;
use crate::one_layer::train;
use crate::tests::ON;

fn windows(n: usize) -> Vec<Window> {
    Windows::windows(n, &mut Rng::seed_from_u64(1))
}

#[test]
fn what_is_planted_is_there() {
    for window in windows(300) {
        let Window { pressure, vibration, transition, spike, .. } = &window;
        assert!((5..25).contains(transition) && transition != spike, "{window:?}");
        assert_eq!(argmax(vibration), *spike);
        let (before, after) = pressure.split_at(*transition);
        assert!(mean(after) - mean(before) > 1.0, "{window:?}");
        for r in 0..TARGETS.len() {
            assert!((window.planted(r).iter().sum::<f64>() - 1.0).abs() < 1e-12);
        }
    }
}

#[test]
fn a_spike_stands_everywhere() {
    let mut counts = [0; N_STEPS];
    windows(3000).iter().for_each(|window| counts[window.spike] += 1);
    assert!(counts.iter().all(|n| (40..180).contains(n)), "{counts:?}");
}

#[test]
fn all_targets_count_alike() {
    let task = Windows::default();
    let examples = task.draw(2000, &mut Rng::seed_from_u64(5)).unwrap();
    let Answers::Numbers(right) = examples.answers else {
        panic!("numbers");
    };
    for target in right.column_iter() {
        assert!(target.mean().abs() < 0.1, "{}", target.mean());
        assert!((target.variance().sqrt() - 1.0).abs() < 0.1, "{}", target.variance());
    }
}

#[test]
fn a_token_is_its_reading_and_its_place_and_the_last_asks() {
    let task = Windows::new(8, 3).unwrap();
    let two = windows(2);
    let examples = task.examples(&two).unwrap();
    assert_eq!((examples.tokens.n_tokens(), examples.names.len()), (N_STEPS, N_STEPS));
    let second = examples.tokens.sequence(1);
    assert_eq!(examples.asking.sequence(1).row(0), second.row(N_STEPS - 1));
    let reading: [f32; 6] = two[1].reading(7).map(|x| x as f32);
    let of_features = Matrix::from_row_slice(1, 6, &reading) * &task.features;
    let expected = of_features + task.places.row(7);
    assert!((second.row(7) - expected).amax() < 1e-5);
    assert_eq!(two[1].reading(0)[3..], [0.0; 3], "nothing comes before the first");
}

/// Heads made by hand, one for each thing, and each criterion finds its own.
#[test]
fn each_criterion_finds_the_head_that_was_made_for_it() {
    let windows = windows(64);
    let one_at = |at: &dyn Fn(&Window) -> usize| {
        let share = |s: usize, t: usize| f64::from(u8::from(at(&windows[s]) == t));
        Matrix::from_fn(windows.len(), N_STEPS, share)
    };
    let following = |channel: &dyn Fn(&Window) -> [f64; N_STEPS]| {
        let scores =
            Matrix::from_fn(windows.len(), N_STEPS, |s, t| channel(&windows[s])[t]);
        attention::softmax_rows(scores)
    };
    let rising = (0..N_STEPS).map(|t| (t + 1) as f64 / 465.0).collect::<Vec<_>>();
    let heads = [
        one_at(&|_| 27),
        one_at(&|window| window.transition),
        following(&|window| window.temperature),
        following(&|window| window.pressure),
        one_at(&|window| window.spike),
        Matrix::from_fn(windows.len(), N_STEPS, |_, t| rising[t]),
        one_at(&|_| 3),
        Matrix::from_element(windows.len(), N_STEPS, 1.0 / N_STEPS as f64),
    ];
    let heads = heads.map(|rows| HeadMeasures::of(&rows, &windows));
    let found = found(&heads);
    for (i, (name, _)) in SPECIALISATIONS.iter().enumerate() {
        assert!(found[i].contains(&i), "{name}: {found:?}");
    }
    assert_eq!(found[..6], [vec![0], vec![1], vec![2], vec![3], vec![4], vec![5]]);
    assert_eq!(found[6], [6, 0], "early, and late");
    assert!(!found[7].contains(&4), "{found:?}");
}

/// Weights of noise, nearly even or sharp, do none of the eight things; those that are nearly
/// even are uniform, and no more.
#[test]
fn no_criterion_takes_noise_for_its_own() {
    let (windows, rng) = (windows(64), &mut Rng::seed_from_u64(2));
    for (spread, is_uniform) in [(0.1, true), (1.0, false), (3.0, false), (10.0, false)] {
        let head = |_| {
            let scores = random_matrix(windows.len(), N_STEPS, spread, rng);
            HeadMeasures::of(&attention::softmax_rows(scores), &windows)
        };
        let heads: Vec<HeadMeasures> = (0..24).map(head).collect();
        let found = found(&heads);
        assert!(found[..7].iter().all(Vec::is_empty), "{spread}: {found:?}");
        assert_eq!(found[7].len(), if is_uniform { 24 } else { 0 }, "{spread}");
    }
}

#[test]
fn eight_heads_learn_the_windows_a_little_in_a_few_steps() {
    let schedule = Schedule { n_steps: 150, n_test: 128, ..Windows::schedule(0) };
    let trained = train(&Windows::default(), 8, &schedule, ON).unwrap();
    let (first, last) = (trained.looks[0].score(), trained.last().score());
    assert!(first < 0.1 && last > 0.5, "R² from {first} to {last}");
}

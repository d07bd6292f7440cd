use super::*;
use crate::gallery::tests::are_finite;
use crate::heads_that_specialise::{lookups, numbers, rows};
use crate::live::Live;

/// Rounding differs between machines, and a training carries it on.
const CLOSE: f64 = 0.02;

/// Short enough to repeat.
const SHORT: [(&str, &str); 3] = [("heads", "2"), ("steps", "100"), ("seed", "7")];

#[test]
fn the_first_settings_and_each_removal_are_as_the_tables_have_them() {
    let kept = &lookups(3).unwrap()[0];
    let whole = numbers(&kept["scores"]).unwrap();
    let lost = rows(&kept["removed"]["mean"]["heads"]).unwrap();
    for (head, lost) in ["0", "1", "2"].into_iter().zip(lost) {
        let shown = LIVE.at([("removed", head)]).unwrap();
        for (r, now) in shown.facts.without.iter().enumerate() {
            let expected = whole[r] - lost[r];
            assert!((now - expected).abs() < CLOSE, "{head}, {r}: {now}, {expected}");
        }
        assert!(shown.words.contains(&format!("With head {head} at its mean: agent ")));
    }
}

#[test]
fn step_by_step_it_comes_to_what_is_drawn() {
    let mut training = LIVE.begin(&SHORT).unwrap();
    training.advance(33).unwrap();
    let early = training.shown(&SHORT).unwrap();
    assert!(early.figure.title().starts_with("Seed 7, step 33: 2 heads name "));
    training.advance(1000).unwrap();
    assert_eq!(training.progress(), [100, 100]);
    let drawn = Live::draw(&LIVE, &SHORT).unwrap();
    assert_eq!(training.shown(&SHORT).unwrap(), drawn);
    // Only what can be changed at any time counts now.
    let without = training.shown(&[("heads", "8"), ("removed", "1")]).unwrap();
    assert_eq!(without.facts["scores"], drawn.facts["scores"]);
    assert_ne!(without.facts["without"], drawn.facts["without"]);
    assert!(without.figure.title().ends_with(" without head 1"));
}

#[test]
fn the_corners_are_drawn() {
    for (heads, seed, rate) in [("1", "0", "0.001"), ("8", "9999", "0.1")] {
        let settings =
            [("heads", heads), ("seed", seed), ("steps", "100"), ("rate", rate)];
        let shown = LIVE.at(settings).unwrap();
        assert!(are_finite(&shown.facts), "{heads}");
    }
}

#[test]
fn what_cannot_be_trained_or_removed_is_refused() {
    let refused = |key, value| {
        LIVE.at(SHORT.into_iter().chain([(key, value)])).unwrap_err().to_string()
    };
    insta::assert_snapshot!(refused("heads", "5"), @"d_model 48 cannot be divided among 5 heads: 48 = 5 × 9 + 3");
    insta::assert_snapshot!(refused("removed", "2"), @"there are 2 heads, 0 to 1: head 2 does not exist");
}

#[test]
fn a_training_that_diverged_says_so_whenever_it_is_looked_at() {
    let settings = [("rate", "1")];
    let mut training = LIVE.begin(&settings).unwrap();
    training.advance(0).unwrap();
    assert!(training.shown(&settings).is_ok());
    let diverged = training.advance(1000).unwrap_err().to_string();
    assert!(diverged.starts_with("training diverged at step "), "{diverged}");
    assert!(diverged.ends_with("; try a rate below 1"), "{diverged}");
    assert_eq!(training.shown(&settings).unwrap_err().to_string(), diverged);
}

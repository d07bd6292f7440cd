use attention::{Rng, SeedableRng};
use rand::RngExt;

use super::*;

fn count(hits: usize, n: usize) -> Count {
    Count::new(hits, n).unwrap()
}

/// R's `fisher.test`, `binom.test` and `prop.test(correct = FALSE)`, and tables by hand.
#[test]
fn published_values() {
    for ((a, b), p) in [
        ((count(3, 4), count(1, 4)), 34.0 / 70.0), // Fisher's lady
        ((count(3, 10), count(0, 10)), 4.0 / 19.0),
        ((count(3, 10), count(7, 10)), 0.178_895),
        ((count(2, 5), count(0, 5)), 4.0 / 9.0),
        ((count(10, 10), count(0, 10)), 2.0 / 184_756.0),
        ((count(8, 10), count(0, 10)), 0.000_714),
        ((count(5, 9), count(0, 0)), 1.0),
    ] {
        for found in [a.fisher(b), b.fisher(a)] {
            assert!((found - p).abs() < 1e-6, "{a} and {b}: {found}, not {p}");
        }
    }
    for ((up, down), p) in [((6, 0), 0.03125), ((2, 0), 0.5), ((8, 2), 0.109_375)] {
        assert!((sign_test(up, down) - p).abs() < 1e-12, "{up} and {down}");
        assert_eq!(sign_test(up, down), sign_test(down, up));
    }
    assert_eq!([sign_test(0, 0), sign_test(4, 4)], [1.0, 1.0]);
    for (count, expected) in [
        (count(3, 10), [0.107_789, 0.603_222]),
        (count(0, 10), [0.0, 0.277_535]),
        (count(10, 10), [0.722_467, 1.0]),
        (count(0, 0), [0.0, 1.0]),
    ] {
        for (found, expected) in count.interval().into_iter().zip(expected) {
            assert!((found - expected).abs() < 1e-5, "{count}: {found}, not {expected}");
        }
    }
    assert_eq!(Count::of([true, false, true]), count(2, 3));
    insta::assert_snapshot!(Count::new(11, 10).unwrap_err(), @"11 of 10 is no count: there are more than all");
}

/// So many of n at a chance.
fn drawn(n: usize, chance: f64, rng: &mut Rng) -> Count {
    Count::of((0..n).map(|_| rng.random::<f64>() < chance))
}

/// Both tests are quiet on noise (at most one false alarm in twenty) and fire on an effect
/// that is planted.
#[test]
fn tests_fire_on_an_effect_and_not_on_noise() {
    let rng = &mut Rng::seed_from_u64(0);
    let n = 4000;
    let mut fires = |chances: [f64; 2]| {
        let [mut fisher, mut sign] = [0, 0];
        for _ in 0..n {
            let [a, b] = chances.map(|chance| drawn(20, chance, rng));
            fisher += usize::from(a.fisher(b) < 0.05);
            let moved = drawn(20, chances[0], rng);
            sign += usize::from(sign_test(moved.hits(), 20 - moved.hits()) < 0.05);
        }
        [fisher, sign].map(|fired| fired as f64 / n as f64)
    };
    assert!(fires([0.5, 0.5]).iter().all(|&share| share < 0.055));
    assert!(fires([0.9, 0.3]).iter().all(|&share| share > 0.95));
}

/// 95 of 100 intervals hold the chance behind the count, within a few.
#[test]
fn an_interval_holds_the_chance_behind_its_count() {
    let rng = &mut Rng::seed_from_u64(1);
    for chance in [0.1, 0.5, 0.8] {
        let holds = Count::of((0..4000).map(|_| {
            let [least, most] = drawn(20, chance, rng).interval();
            (least..=most).contains(&chance)
        }));
        assert!((0.92..0.985).contains(&holds.share()), "{chance}: {holds}");
    }
}

#[test]
fn a_number_stands_somewhere_among_its_draws() {
    let rng = &mut Rng::seed_from_u64(2);
    let mut draws = |n: usize| -> Vec<f64> { (0..n).map(|_| rng.random()).collect() };
    // On noise a p below .05 comes in one of twenty.
    let noise = Count::of((0..4000).map(|_| rank_p(draws(1)[0], &draws(99)) <= 0.05));
    assert!((0.035..0.065).contains(&noise.share()), "{noise}");
    assert_eq!(rank_p(2.0, &draws(99)), 0.01);
    assert_eq!(
        rank_p(1.0, &[1.0, f64::NAN, 0.0]),
        0.75,
        "a tie counts, and no number too"
    );
    assert_eq!(rank_p(1.0, &[]), 1.0);
    assert!((z_score(3.0, &[0.0, 1.0, 2.0]) - 2.0).abs() < 1e-12);
    assert!(z_score(3.0, &[1.0]).is_nan());
}

#[test]
fn odds_can_always_double() {
    assert!((odds_ratio(0.75, 0.6) - 2.0).abs() < 1e-12);
    assert!((odds_ratio(0.2, 0.2) - 1.0).abs() < 1e-12);
    assert!(odds_ratio(1.2, 0.6).is_nan() && odds_ratio(0.5, -0.1).is_nan());
}

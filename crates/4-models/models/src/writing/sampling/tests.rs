//! Chances and draws.

use serde_json::Value;

use super::*;
use crate::Choice;
use crate::tests::vectors;

fn numbers(list: &Value) -> Vec<f64> {
    list.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

/// A setting of `make.py`, where null stands for nothing.
fn sampling(case: &Value) -> Sampling {
    let temperature = case["temperature"].as_f64().unwrap();
    let plain = Sampling::default().temperature(temperature).unwrap();
    let with_k =
        case["top_k"].as_u64().map_or(plain, |k| plain.top_k(k as usize).unwrap());
    case["top_p"].as_f64().map_or(with_k, |p| with_k.top_p(p).unwrap())
}

#[test]
fn chances_are_those_of_transformers() {
    let all = vectors("writing/chances.json");
    let (mut worst, mut n_cut): (f64, _) = (0.0, 0);
    for case in all["cases"].as_array().unwrap() {
        let logits = numbers(&all["logits"][case["logits"].as_u64().unwrap() as usize]);
        let (found, expected) =
            (sampling(case).chances(&logits), numbers(&case["chances"]));
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(&expected) {
            assert_eq!(*found == 0.0, *expected == 0.0, "{case}: {found} {expected}");
            worst = worst.max((found - expected).abs());
        }
        n_cut += usize::from(expected.contains(&0.0));
    }
    println!("{worst:e} in {n_cut} cases that leave something out");
    assert!(worst < 1e-15 && n_cut > 100, "{worst:e} {n_cut}");
}

#[test]
fn of_equal_tokens_the_first_ones_stay_and_no_others_have_a_chance() {
    let plain = Sampling::default();
    let equal = [0.0, f64::NAN, 0.0, f64::NEG_INFINITY, 0.0, 0.0];
    assert_eq!(plain.chances(&equal), [0.25, 0.0, 0.25, 0.0, 0.25, 0.25]);
    assert_eq!(plain.top_k(2).unwrap().chances(&equal), [0.5, 0.0, 0.5, 0.0, 0.0, 0.0]);
    // Two of four are one half, and that is enough.
    assert_eq!(plain.top_p(0.5).unwrap().chances(&equal), [0.5, 0.0, 0.5, 0.0, 0.0, 0.0]);
    // Two of the three that top-k leaves are 2/3, and that is not enough; of four it were 3.
    let both = plain.top_k(3).unwrap().top_p(0.7).unwrap();
    let third = 1.0 / 3.0;
    assert_eq!(both.chances(&equal), [third, 0.0, third, 0.0, third, 0.0]);
    assert_eq!(plain.top_k(9).unwrap().chances(&equal), plain.chances(&equal));
    assert_eq!(plain.chances(&[1.0, f64::INFINITY]), [0.0, 1.0]);
    for none in [&[][..], &[f64::NAN], &[f64::NEG_INFINITY, f64::NAN]] {
        let chances = plain.top_k(1).unwrap().top_p(0.5).unwrap().chances(none);
        assert_eq!(chances, vec![0.0; none.len()]);
    }
}

/// Pearson's χ²: the squared differences from what is expected, in units of what is expected.
fn chi_squared(counts: &[usize], chances: &[f64]) -> f64 {
    let n = counts.iter().sum::<usize>() as f64;
    let both = counts.iter().zip(chances).filter(|(_, chance)| **chance > 0.0);
    both.map(|(&count, chance)| (count as f64 - n * chance).powi(2) / (n * chance)).sum()
}

#[test]
fn draws_have_exactly_these_chances() {
    let none = [f64::NEG_INFINITY, f64::NAN];
    let logits = [0.3, 2.0, -0.5, 1.1, 0.9, none[0], -2.0, 1.4, none[1]];
    let plain = Sampling::default();
    let settings = [
        plain,
        plain.temperature(0.6).unwrap(),
        plain.top_k(4).unwrap(),
        plain.top_p(0.8).unwrap(),
        plain.temperature(1.5).unwrap().top_k(6).unwrap().top_p(0.7).unwrap(),
    ];
    let mut all_chances = Vec::new();
    for sampling in settings {
        let chances = sampling.chances(&logits);
        let draws = || {
            let mut choice = Choice::by(sampling, 1);
            (0..20_000).map(|_| choice.of(&logits).unwrap()).collect::<Vec<_>>()
        };
        let drawn = draws();
        assert_eq!(drawn, draws(), "the seed draws");
        let mut counts = vec![0; logits.len()];
        drawn.into_iter().for_each(|id| counts[id] += 1);
        let none = counts.iter().zip(&chances).filter(|(_, chance)| **chance == 0.0);
        assert!(none.clone().count() > 0 && none.clone().all(|(&count, _)| count == 0));
        let found = chi_squared(&counts, &chances);
        println!("{sampling:?}: χ² {found:.1}");
        // 6 degrees of freedom at most: beyond 22.5 one time in a thousand.
        assert!(found < 22.5, "{sampling:?}: {found}");
        all_chances.push((counts, chances));
    }
    // It could fail: the chances of any other setting are refused by the counts of this one.
    let (counts, _) = &all_chances[0];
    for (_, other) in &all_chances[1..] {
        let n = counts.iter().sum::<usize>() as f64;
        let differ = counts.iter().zip(other);
        let worst = differ.map(|(&count, chance)| (count as f64 / n - chance).abs());
        assert!(worst.fold(0.0, f64::max) > 0.02);
    }
    assert!(chi_squared(counts, &all_chances[1].1) > 1000.0);
}

#[test]
fn the_first_of_the_largest_is_the_most_likely() {
    let mut greedy = Choice::greedy();
    assert_eq!(greedy.of(&[1.0, 3.0, f64::NAN, 3.0]), Some(1));
    assert_eq!((greedy.of(&[f64::NAN]), greedy.of(&[])), (None, None));
}

#[test]
fn settings_that_leave_nothing_are_refused_with_their_numbers() {
    let plain = Sampling::default();
    insta::assert_snapshot!(plain.top_k(0).unwrap_err(), @"top-k is 0, expected at least 1 token");
    for (p, expected) in [(0.0, "0"), (-0.1, "-0.1"), (1.01, "1.01"), (f64::NAN, "NaN")] {
        let expected =
            format!("top-p is {expected}, expected a number above 0 and at most 1");
        assert_eq!(plain.top_p(p).unwrap_err().to_string(), expected);
    }
    for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let expected = format!("the temperature is {wrong}, expected a number above 0");
        assert_eq!(Choice::sampled(wrong, 1).unwrap_err().to_string(), expected);
    }
    assert_eq!(plain.top_p(1.0).unwrap(), plain);
}

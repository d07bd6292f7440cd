//! The zoo under PyTorch, as it is kept, computes what the bank computes.

use std::collections::BTreeMap;
use std::fs;

use attention::Matrix;
use diagnosis::{State, bank, computed, mistake};
use zoo::{
    Case, DRAWN, SOURCE, hash, kept_folder, numbers, outcomes, python, with_block,
};

const RENEW: &str =
    "`cargo learn zoo --keep PYTHON` renews it, with a Python that has PyTorch";
/// So far apart two computations may be.
const CLOSE: f64 = 1e-5;

/// What PyTorch gave, by case and mistake.
fn kept() -> BTreeMap<(String, String), Vec<f64>> {
    let text = fs::read_to_string(kept_folder().join("outputs.txt")).unwrap();
    let mut lines = text.lines();
    let source = lines.next().unwrap().strip_prefix("zoo.py ").unwrap();
    assert_eq!(hash(&[python("zoo.py")]).unwrap(), source, "zoo.py has changed: {RENEW}");
    let entry = |line: &str| {
        let mut words = line.split(' ').map(str::to_owned);
        let key = (words.next().unwrap(), words.next().unwrap());
        (key, words.map(|x| x.parse().unwrap()).collect())
    };
    lines.map(entry).collect()
}

/// The largest difference; that between what is not a number is none.
fn apart(a: &[f64], b: &[f64]) -> f64 {
    let far = |(a, b): (&f64, &f64)| match a == b || a.is_nan() && b.is_nan() {
        true => 0.0,
        false => {
            (a - b).abs().max(if a.is_nan() || b.is_nan() { f64::INFINITY } else { 0.0 })
        }
    };
    if a.len() == b.len() {
        a.iter().zip(b).map(far).fold(0.0, f64::max)
    } else {
        f64::INFINITY
    }
}

#[test]
fn every_switch_computes_what_the_bank_computes() {
    let kept = kept();
    let (cases, outcomes) = outcomes();
    let mut most: BTreeMap<&str, f64> = BTreeMap::new();
    for outcome in &outcomes {
        let id = outcome.mistake.map_or("right", |it| it.id);
        let name = cases[outcome.case].name;
        let of = kept.get(&(name.to_owned(), id.to_owned()));
        let of = of.unwrap_or_else(|| panic!("{name} {id} is not kept: {RENEW}"));
        let most = most.entry(id).or_default();
        *most = most.max(apart(of, &outcome.output));
    }
    let shown = most.insert(DRAWN, drawn(&cases, &kept));
    assert!(shown.is_none(), "its zeros are drawn");
    most.iter().for_each(|(id, far)| println!("{id} {far:.1e}"));
    let wrong: Vec<_> = most.iter().filter(|(_, far)| **far > CLOSE).collect();
    assert!(wrong.is_empty(), "the bank computes something else: {wrong:?}");
    let missing: Vec<_> =
        bank().map(|it| it.id).filter(|id| !most.contains_key(id)).collect();
    assert!(missing.is_empty(), "no case shows {missing:?}");
}

/// Where weights are 0 is drawn, and all else follows: from its own map, the bank computes its
/// output, and it is a map of which dropout took a share.
fn drawn(cases: &[Case], kept: &BTreeMap<(String, String), Vec<f64>>) -> f64 {
    let case = cases[0].clone();
    let of = |name: &str| &kept[&(case.name.to_owned(), format!("{name}{DRAWN}"))];
    let (n_q, n_kv) = case.record.lengths();
    let map = |numbers: &[f64]| Matrix::from_row_slice(n_q, n_kv, numbers);
    let given: Vec<Matrix> = of("weights-of-").chunks(n_q * n_kv).map(map).collect();
    let mut record = case.record;
    record.tensors.insert(State::Attn, given.clone());
    let wrong = [mistake(DRAWN).unwrap()];
    let compute = |state| computed(&record, &case.intent, state, &wrong).unwrap();
    let both = |state, of: &[f64]| {
        let own = compute(state);
        own.iter()
            .zip(of.chunks(of.len() / own.len()))
            .map(|(own, of)| {
                let of = Matrix::from_row_slice(own.nrows(), own.ncols(), of);
                apart(&numbers(own), &numbers(&of))
            })
            .fold(0.0, f64::max)
    };
    both(State::Attn, of("weights-of-")).max(both(State::Output, of("")))
}

#[test]
fn the_table_of_mistakes_is_the_banks() {
    let source = SOURCE.replace("\r\n", "\n");
    assert!(with_block(&source).unwrap() == source, "the table is another: {RENEW}");
}

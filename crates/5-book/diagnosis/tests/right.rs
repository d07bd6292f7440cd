//! A right layer is never accused, whatever its sizes, its kind and its precision; and where
//! its numbers show how it was computed, few are right on a condition only. Of a thousand, one at
//! most may be unknown.
//!
//! Nor is it accused where its numbers were rounded to a few digits before they were pasted: then
//! a mistake is still named, and zeros alone are no evidence of any.

mod common;

use attention::{Matrix, Rng, SeedableRng, random_matrix};
use common::loops::{Machine, PRECISIONS, pass};
use common::{Layer, change_all, ids, random_layer, self_attention, size, summary};
use diagnosis::{
    Diagnosis, EmptyRow, Mistake, Overrides, Precision, Record, State, Verdict, bank,
    diagnose, read,
};
use rand::RngExt;
use rayon::prelude::*;
use tensors::{NewTensor, TensorFile, to_bytes};

/// What a random right layer is called.
struct Called {
    /// In which precision it is kept and computed, where that is one.
    shows: Option<Precision>,
    verdict: Verdict,
    words: String,
}

fn called(seed: u64) -> Called {
    let rng = &mut Rng::seed_from_u64(seed);
    let mut layer = random_layer(rng);
    let mut one_of = |n: usize| rng.random_range(0..n);
    let stored = PRECISIONS[one_of(4)];
    let machine =
        Machine { precision: PRECISIONS[one_of(4)], scales_queries: one_of(2) == 0 };
    layer.intent.empty_row = EmptyRow::ALL[one_of(3)];
    // Mostly a file holds what was computed with; sometimes it was rounded afterwards.
    let is_rounded_before = one_of(5) > 0;
    let file = Machine { precision: stored, ..machine };
    let round = |x: &mut f64| *x = file.kept(*x);
    if is_rounded_before {
        change_all(&mut layer.record, round);
    }
    let mut given = pass(&layer, machine);
    change_all(&mut layer.record, round);
    given.values_mut().flatten().for_each(|m| m.apply(round));
    // In a third of the files, some of the tensors between.
    let has_between = one_of(3) == 0;
    given.retain(|&state, _| state == State::Output || has_between && one_of(2) == 0);
    layer.record.tensors = given;
    layer.record.precision = stored;
    // What a query without a key gets is not said beforehand.
    layer.intent.empty_row = EmptyRow::Zeros;
    let diagnosis = layer.diagnosis();
    let is_one = stored == machine.precision && is_rounded_before;
    let summary = summary(&diagnosis);
    let words =
        format!("seed {seed}: stored {stored:?}, computed in {machine:?}: {summary}");
    Called { shows: is_one.then_some(stored), verdict: diagnosis.verdict, words }
}

fn nobody_of(n: u64) {
    let all: Vec<Called> = (0..n).into_par_iter().map(called).collect();
    let of = |is: &dyn Fn(&Called) -> bool| -> Vec<&str> {
        all.iter().filter(|it| is(it)).map(|it| it.words.as_str()).collect()
    };
    let accused = of(&|it| it.verdict == Verdict::Mistake);
    let unknown = of(&|it| it.verdict == Verdict::Unknown);
    let on_condition = of(&|it| it.verdict == Verdict::Condition);
    println!("{} of {n} on a condition\n{}", on_condition.len(), on_condition.join("\n"));
    assert!(accused.is_empty(), "{} of {n}\n{}", accused.len(), accused.join("\n"));
    println!("{} of {n} unknown\n{}", unknown.len(), unknown.join("\n"));
    assert!(unknown.len() as u64 * 1000 <= n, "{}", unknown.join("\n"));
    assert!(on_condition.len() as u64 * 100 <= n, "{}", on_condition.len());
    for precision in PRECISIONS {
        let shown = of(&|it| it.shows == Some(precision)).len();
        let is_right =
            |it: &Called| it.shows == Some(precision) && it.verdict == Verdict::Right;
        let right = of(&is_right).len();
        println!("{precision:?} shown: {right} of {shown} right");
        assert!(right * 100 >= shown * 95, "{precision:?}: {right} of {shown}");
    }
}

#[test]
fn nobody_of_a_thousand_is_accused() {
    nobody_of(1_000);
}

#[test]
#[ignore = "the whole of it: minutes"]
fn nobody_of_twenty_thousand_is_accused() {
    nobody_of(20_000);
}

#[test]
fn what_was_accused_once_is_not() {
    for seed in [
        // In float16 another key wins a row that is nearly one key's: two mistakes explain the
        // heads, and would change keys and an output that are right.
        2909,
        // Rounding that is the same factor everywhere, by chance, is no other scale: it would
        // have the digits of the one that was meant.
        11_280,
    ] {
        let called = called(seed);
        assert_ne!(called.verdict, Verdict::Mistake, "{}", called.words);
    }
}

/// How a number was printed.
#[derive(Debug, Clone, Copy)]
enum Print {
    /// With so many decimals.
    Decimals(usize),
    /// With so many digits and an exponent, as PyTorch does where numbers differ in size.
    Digits(usize),
}

impl Print {
    /// The number that is read where this one was printed.
    fn read(self, x: f64) -> f64 {
        let printed = match self {
            Self::Decimals(n) => format!("{x:.n$}"),
            Self::Digits(n) => format!("{x:.*e}", n - 1),
        };
        printed.parse().expect("a number")
    }
}

/// Which numbers were printed.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Printed {
    Output,
    All,
}

/// A layer of a random kind, and in most of them one whose output is small.
fn layer(rng: &mut Rng) -> Layer {
    let mut layer = random_layer(rng);
    multiply_output(&mut layer, [1.0, 0.03, 0.003][rng.random_range(0..3)]);
    layer
}

fn multiply_output(layer: &mut Layer, factor: f64) {
    let output = layer.record.weights.output.as_mut().expect("they have one");
    output.weight *= factor;
    output.bias.iter_mut().for_each(|bias| *bias *= factor);
}

fn print(record: &mut Record, print: Print, printed: Printed) {
    let stored = Machine::of(record.precision);
    let read = |x: &mut f64| *x = stored.kept(print.read(*x));
    if printed == Printed::All {
        change_all(record, read);
    }
    for (&state, tensor) in &mut record.tensors {
        if printed == Printed::All || state == State::Output {
            tensor.iter_mut().flatten().for_each(read);
        }
    }
}

const PRINTS: [Print; 5] = [
    Print::Decimals(3),
    Print::Decimals(4),
    Print::Decimals(6),
    Print::Digits(4),
    Print::Digits(5),
];

/// A right layer of a random kind, with its numbers printed; what it is called, if not right.
fn accusation(seed: u64, shown: Print, printed: Printed) -> Option<String> {
    let rng = &mut Rng::seed_from_u64(seed);
    let mut layer = layer(rng);
    let mut one_of = |n: usize| rng.random_range(0..n);
    layer.record.precision = [Precision::F64, Precision::F32][one_of(2)];
    // Mostly in full; sometimes the model was one of halves.
    let precision = PRECISIONS[one_of(4) * one_of(2)];
    let machine = Machine { precision, scales_queries: one_of(2) == 0 };
    layer.intent.empty_row = EmptyRow::ALL[one_of(3)];
    let mut given = pass(&layer, machine);
    let has_between = one_of(3) == 0;
    given.retain(|&state, _| state == State::Output || has_between && one_of(2) == 0);
    layer.record.tensors = given;
    print(&mut layer.record, shown, printed);
    if size(layer.record.output()) == 0.0 {
        return None;
    }
    layer.intent.empty_row = EmptyRow::Zeros;
    let diagnosis = layer.diagnosis();
    // Printed halves may be of a coarser computing: right on that condition.
    if diagnosis.verdict == Verdict::Condition && machine.precision.step() > 1e-4 {
        return None;
    }
    // Few digits are not taken for a coarse computing.
    let is_full = matches!(precision, Precision::F64 | Precision::F32);
    let is_said_full = ["float64", "float32"].contains(&diagnosis.precision);
    let words =
        format!("seed {seed}: {shown:?}, {printed:?}, computed in {precision:?}: ");
    let is_wrong = diagnosis.verdict != Verdict::Right || is_full && !is_said_full;
    is_wrong.then(|| words + &summary(&diagnosis))
}

#[test]
fn a_right_layer_with_few_digits_is_right() {
    let mut accused = Vec::new();
    for shown in PRINTS {
        for printed in [Printed::Output, Printed::All] {
            accused.extend((0..100).filter_map(|seed| accusation(seed, shown, printed)));
        }
    }
    assert!(accused.is_empty(), "{} of 1000\n{}", accused.len(), accused.join("\n"));
}

/// A random layer with a mistake that shows, its numbers printed.
fn with_mistake(mistake: &'static Mistake, seed: u64, printed: Printed) -> Option<Layer> {
    let rng = &mut Rng::seed_from_u64(seed);
    let layer = layer(rng);
    if !layer.possible().contains(&mistake) {
        return None;
    }
    // Where all is printed, what is smaller may be rounding.
    let share = if printed == Printed::All { 0.1 } else { 0.02 };
    let wrong = layer.shown(&[mistake], share).filter(|it| size(it) > 1e-3)?;
    let mut layer = layer.with(wrong);
    print(&mut layer.record, Print::Decimals(4), printed);
    Some(layer)
}

/// Whether it is said that a mistake may hide.
fn is_hedged(diagnosis: &Diagnosis) -> bool {
    diagnosis.remarks.iter().any(|remark| remark.contains("may be within it"))
}

/// How many of these mistakes in three layers each are unknown, or may be within the rounding;
/// all others are named, in a group or alone.
fn unknown(mistake: &'static Mistake, printed: Printed) -> usize {
    let with_mistake = |seed| Some((seed, with_mistake(mistake, seed, printed)?));
    let is_unknown = |(seed, layer): &(u64, Layer)| {
        let diagnosis = layer.diagnosis();
        let is_named = diagnosis.explanations.iter().any(|set| set[..] == [mistake]);
        let is_open = match diagnosis.verdict {
            Verdict::Unknown | Verdict::Condition => true,
            // Right, as far as numbers that are printed so tell.
            Verdict::Right => is_hedged(&diagnosis),
            Verdict::Mistake => false,
        };
        let summary = summary(&diagnosis);
        assert!(
            is_open || is_named,
            "{printed:?}: {}, seed {seed}: {summary}",
            mistake.id
        );
        is_open
    };
    (0..600).filter_map(with_mistake).take(3).filter(is_unknown).count()
}

#[test]
fn a_mistake_with_four_decimals_is_named() {
    // In layers of small numbers, four decimals hide some mistakes.
    for (printed, most_unknown) in [(Printed::Output, 2), (Printed::All, 30)] {
        let unknown: usize = bank().map(|mistake| unknown(mistake, printed)).sum();
        println!("{printed:?}: {unknown} unknown");
        assert!(unknown <= most_unknown, "{printed:?}: {unknown}");
    }
}

#[test]
fn noise_with_few_digits_is_no_mistake() {
    let mut wrong = Vec::new();
    for print in [Print::Decimals(2), Print::Decimals(3), Print::Decimals(4)] {
        for seed in 0..30 {
            let rng = &mut Rng::seed_from_u64(seed);
            let mut layer = layer(rng);
            let mut output = layer.output(&[]).unwrap();
            let size = output.iter().map(|m| m.norm()).sum::<f64>();
            let n = output.iter().map(|m| m.len()).sum::<usize>();
            for m in &mut output {
                let noise: Matrix = random_matrix(m.nrows(), m.ncols(), 1.0, rng);
                *m = noise * (size / (n as f64).sqrt());
            }
            layer = layer.with(output);
            self::print(&mut layer.record, print, Printed::Output);
            let diagnosis = layer.diagnosis();
            if diagnosis.verdict != Verdict::Unknown {
                wrong.push(format!(
                    "{seed} {print:?} {n} numbers: {}",
                    summary(&diagnosis)
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
}

/// A right layer of three heads on one sequence, whose numbers were printed.
fn right(size: f64, shown: Print, printed: Printed) -> Layer {
    let mut layer = self_attention([1, 5, 12, 3], &mut Rng::seed_from_u64(5));
    layer.record.precision = Precision::F64;
    layer.record.inputs.iter_mut().flatten().for_each(|x| *x *= size);
    let output = layer.output(&[]).unwrap();
    layer = layer.with(output);
    print(&mut layer.record, shown, printed);
    layer
}

/// A file of such a layer with four decimals, in floats of 64 bits, as a page makes of what is
/// pasted.
fn pasted() -> Vec<u8> {
    let record = right(1.0, Print::Decimals(4), Printed::All).record;
    let weights = &record.weights;
    let linears = weights.projections.iter().chain(&weights.output);
    let mut tensors = Vec::new();
    for (name, linear) in ["W_q", "W_k", "W_v", "W_o"].into_iter().zip(linears) {
        let (weight, bias) = (linear.weight.transpose(), linear.bias.as_ref().unwrap());
        let bias = Matrix::from_row_slice(1, 12, bias.as_slice());
        let new = |part, shape: &[usize], m| {
            NewTensor::new(format!("{name}.{part}"), shape, [m]).unwrap()
        };
        tensors.extend([new("weight", &[12, 12], &weight), new("bias", &[12], &bias)]);
    }
    for (name, m) in [("query", &record.inputs[0][0]), ("output", &record.output()[0])] {
        tensors.push(NewTensor::new(name, &[1, 5, 12], [m]).unwrap());
    }
    to_bytes(&tensors).unwrap()
}

#[test]
fn what_is_assumed_of_digits_is_said() {
    let file = TensorFile::from_bytes("pasted", pasted()).unwrap();
    let overrides = Overrides { heads: Some(3), ..Overrides::default() };
    let reading = read(&[&file], &overrides).unwrap();
    let diagnosis = diagnose(&reading.record, &reading.intent).unwrap();
    assert_eq!(diagnosis.verdict, Verdict::Right, "{:?}", ids(&diagnosis));
    assert_eq!(diagnosis.precision, "float32");
    let digits = |line: &&String| line.contains("digits");
    let lines: Vec<&str> =
        reading.assumed.iter().filter(digits).map(String::as_str).collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn so_few_digits_that_a_mistake_may_hide_are_said() {
    let of =
        |decimals| right(0.2, Print::Decimals(decimals), Printed::Output).diagnosis();
    let coarse = of(1);
    assert_eq!(coarse.verdict, Verdict::Right, "{:?}", ids(&coarse));
    assert!(is_hedged(&coarse), "{:?}", coarse.remarks);
    assert!(!is_hedged(&of(4)));
}

#[test]
fn zeros_alone_are_no_evidence() {
    let mut wrong = Vec::new();
    for seed in 0..100 {
        let mut layer = random_layer(&mut Rng::seed_from_u64(seed));
        let mut output = layer.output(&[]).unwrap();
        output.iter_mut().for_each(|m| m.fill(0.0));
        let diagnosis = layer.diagnosed(output.clone());
        let is_said = diagnosis.remarks.iter().any(|it| it.contains("zeros alone"));
        if diagnosis.verdict != Verdict::Unknown || !is_said {
            wrong.push(format!("{seed}: {}", summary(&diagnosis)));
        }
        // Where W^O is zeros, as some begin, they are what was meant.
        multiply_output(&mut layer, 0.0);
        let diagnosis = layer.diagnosed(output);
        assert_eq!(diagnosis.verdict, Verdict::Right, "{seed}: {:?}", ids(&diagnosis));
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
}

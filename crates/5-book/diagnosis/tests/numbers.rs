//! Layers made wrong by one unknown number: a scale, a base, a bound. None is called right
//! where the number moves the output by more than its rounding, and most are told the number.

mod common;

use attention::{Dims, LayerParameters, Matrix, Rng, SeedableRng, random_matrix};
use common::ids;
use common::loops::{Machine, output};
use diagnosis::{
    Diagnosis, Intent, Kind, Pairing, Precision, Record, State, Verdict, diagnose,
};

/// One number of a layer, as it should be and as it is.
#[derive(Debug, Clone, Copy)]
enum Wrong {
    /// Scores are divided by the root of this, and not by √8.
    Scale(f64),
    /// The base of rotary positions, and not 10,000.
    Base(f64),
    /// The bound of the scores, and not 5.
    Cap(f64),
}

const WRONG: [Wrong; 5] = [
    Wrong::Scale(9.0),
    Wrong::Scale(13.0),
    Wrong::Scale(7.5),
    Wrong::Base(9_000.0),
    Wrong::Cap(7.0),
];

const PRECISIONS: [Precision; 4] =
    [Precision::F64, Precision::F32, Precision::BF16, Precision::F16];

impl Wrong {
    fn intents(self) -> [Intent; 2] {
        let mut meant = Intent::heads(4);
        match self {
            Self::Scale(_) => (),
            Self::Base(_) => meant.rotary = Some((Pairing::Halves, 10_000.0)),
            Self::Cap(_) => meant.cap = Some(5.0),
        }
        let mut wrong = meant.clone();
        match self {
            Self::Scale(n) => wrong.scale = Some(1.0 / n.sqrt()),
            Self::Base(base) => wrong.rotary = Some((Pairing::Halves, base)),
            Self::Cap(cap) => wrong.cap = Some(cap),
        }
        [meant, wrong]
    }

    fn number(self) -> f64 {
        match self {
            Self::Scale(n) => 1.0 / n.sqrt(),
            Self::Base(number) | Self::Cap(number) => number,
        }
    }
}

fn rms(a: &[Matrix]) -> f64 {
    let n: usize = a.iter().map(|m| m.len()).sum();
    (a.iter().map(|m| m.norm_squared()).sum::<f64>() / n as f64).sqrt()
}

/// The layer, computed and kept in a precision, with what was meant; and by how many
/// roundings of its output the wrong number moves it.
fn layer(wrong: Wrong, precision: Precision, seed: u64) -> (Record, Intent, f64) {
    let rng = &mut Rng::seed_from_u64(seed);
    let machine = Machine { precision, scales_queries: seed.is_multiple_of(2) };
    let layer = LayerParameters::random(Dims::new(32, 4).unwrap(), true, rng).pack();
    let input = |_| random_matrix(10, 32, 1.0, rng).map(|x| machine.kept(x));
    let mut record = Record::of_layer(&layer, (0..2).map(input).collect());
    let weights = &mut record.weights;
    for linear in weights.projections.iter_mut().chain(&mut weights.output) {
        linear.weight.apply(|w| *w = machine.kept(2.0 * *w));
        linear.bias.iter_mut().for_each(|b| b.apply(|b| *b = machine.kept(*b)));
    }
    record.precision = precision;
    let [meant, other] = wrong.intents();
    let exact = Machine { precision: Precision::F64, ..machine };
    let (right, moved) = (output(&record, &meant, exact), output(&record, &other, exact));
    let apart: Vec<Matrix> = right.iter().zip(&moved).map(|(a, b)| a - b).collect();
    let roundings = rms(&apart) / (rms(&right) * precision.step() / 2.0);
    record.tensors.insert(State::Output, output(&record, &other, machine));
    (record, meant, roundings)
}

/// Whether the number that is told is the one that it is, as far as the precision shows it.
fn is_told(wrong: Wrong, precision: Precision, diagnosis: &Diagnosis) -> bool {
    let within = if precision.step() > 1e-4 { 0.05 } else { 1e-4 };
    diagnosis.number.is_some_and(|number| {
        let kind = match wrong {
            Wrong::Scale(_) => Kind::Scale,
            Wrong::Base(_) => Kind::Base,
            Wrong::Cap(_) => Kind::Cap,
        };
        let apart = (number.found / wrong.number() - 1.0).abs();
        number.kind == kind && apart < within && diagnosis.verdict == Verdict::Mistake
    })
}

/// Before bits were looked at, 66 of these 85 were right: "computed in float32 with bfloat16
/// products" explained them.
#[test]
fn one_unknown_number_is_never_called_right() {
    let (mut right, mut counted, mut told) = (Vec::new(), 0, 0);
    for (wrong, precision) in
        WRONG.into_iter().flat_map(|wrong| PRECISIONS.map(|it| (wrong, it)))
    {
        for seed in 0..5 {
            let (record, intent, roundings) = layer(wrong, precision, seed);
            if roundings <= 8.0 {
                continue;
            }
            counted += 1;
            let diagnosis = diagnose(&record, &intent).unwrap();
            assert!(diagnosis.explanations.is_empty(), "{:?}", ids(&diagnosis));
            told += usize::from(is_told(wrong, precision, &diagnosis));
            if diagnosis.verdict == Verdict::Right {
                right.push(format!(
                    "{wrong:?} in {precision:?}, seed {seed}: {roundings:.0} roundings, {}",
                    diagnosis.precision
                ));
            }
        }
    }
    println!("{told} of {counted} told, {} right", right.len());
    assert!(right.is_empty(), "{} of {counted}\n{}", right.len(), right.join("\n"));
    assert!(told * 10 >= counted * 9, "{told} of {counted}");
}

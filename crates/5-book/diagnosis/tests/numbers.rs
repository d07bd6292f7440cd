//! Layers made wrong by one unknown number, by something with a structure that no mistake of
//! the bank has, or by a mistake and a number: none is called right where the output is moved
//! by more than 8 roundings, and most numbers are told.

mod common;

use std::ops::Range;

use attention::{Dims, LayerParameters, Matrix, Rng, SeedableRng, random_matrix};
use common::ids;
use common::loops::{Machine, twisted};
use diagnosis::{
    Corner, Diagnosis, Intent, Kind, Mistake, Pairing, Precision, Record, State, Step,
    Verdict, bank, computed, diagnose,
};
use rand::RngExt;

/// What is wrong, by how much: a power of e, or a share.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Wrong {
    /// The scale, times e to this power.
    Scale(f64),
    /// The scale has the other sign besides.
    Sign(f64),
    /// The base of rotary positions.
    Base(f64),
    /// The bound of the scores.
    Cap(f64),
    /// Scores are bounded by this, and should not be.
    Unmeant(f64),
    /// One head's scale.
    Head(f64),
    /// Blocked keys of a causal mask get such a share of what they would.
    Leak(f64),
    /// The same of the key that is one beyond a window.
    Window(f64),
    /// The bound is put on after a causal mask: blocked scores are −cap.
    CapAfterMask(f64),
}

const NUMBERS: Range<usize> = 0..6;
const STRUCTURES: Range<usize> = 6..9;

const PRECISIONS: [Precision; 4] =
    [Precision::F64, Precision::F32, Precision::BF16, Precision::F16];

/// A query sees so many keys.
const WINDOW: usize = 4;

impl Wrong {
    /// One of a kind, from an amount between 0 and 1.
    fn of(kind: usize, x: f64, rng: &mut Rng) -> Self {
        let power = if rng.random_range(0..2) == 0 { x } else { -x };
        match kind {
            0 => Self::Scale(power),
            1 => Self::Base(3.0 * power),
            2 => Self::Cap(power),
            3 => Self::Unmeant(1.0 / x.max(1e-4).sqrt()),
            4 => Self::Sign(power),
            5 => Self::Head(power),
            6 => Self::Leak(x),
            7 => Self::Window(x),
            _ => Self::CapAfterMask(1.0 - x.ln()),
        }
    }

    /// The layer that was meant, and the one that is computed but for what is twisted.
    fn intents(self, record: &Record) -> [Intent; 2] {
        let mut meant = Intent::heads(4);
        match self {
            Self::Base(_) => meant.rotary = Some((Pairing::Halves, 10_000.0)),
            Self::Cap(_) => meant.cap = Some(5.0),
            Self::CapAfterMask(cap) => {
                (meant.cap, meant.causal) = (Some(cap), Some(Corner::TopLeft));
            }
            Self::Leak(_) => meant.causal = Some(Corner::TopLeft),
            _ => (),
        }
        let mut wrong = meant.clone();
        match self {
            Self::Scale(_) | Self::Sign(_) => wrong.scale = Some(self.number(record)),
            Self::Base(_) => wrong.rotary = Some((Pairing::Halves, self.number(record))),
            Self::Cap(_) | Self::Unmeant(_) => wrong.cap = Some(self.number(record)),
            _ => (),
        }
        [meant, wrong]
    }

    fn twist(self, [_, head, r, c]: [usize; 4], score: f64, masked: f64) -> f64 {
        match self {
            Self::Head(x) if head == 1 => masked * x.exp(),
            Self::Leak(x) if c > r => score + x.ln(),
            Self::Window(x) if c + WINDOW == r => score + x.ln(),
            Self::CapAfterMask(cap) if c > r => -cap,
            _ => masked,
        }
    }

    fn number(self, record: &Record) -> f64 {
        let scale = 2.0 / (record.inputs[0][0].ncols() as f64).sqrt();
        match self {
            Self::Scale(x) | Self::Head(x) => scale * x.exp(),
            Self::Sign(x) => -scale * x.exp(),
            Self::Base(x) => 10_000.0 * x.exp(),
            Self::Cap(x) => 5.0 * x.exp(),
            Self::Unmeant(cap) => cap,
            _ => f64::NAN,
        }
    }

    fn kind(self) -> Option<Kind> {
        Some(match self {
            Self::Scale(_) | Self::Sign(_) | Self::Head(_) => Kind::Scale,
            Self::Base(_) => Kind::Base,
            Self::Cap(_) | Self::Unmeant(_) => Kind::Cap,
            _ => return None,
        })
    }
}

fn rms(a: &[Matrix]) -> f64 {
    let n: usize = a.iter().map(|m| m.len()).sum();
    (a.iter().map(|m| m.norm_squared()).sum::<f64>() / n as f64).sqrt()
}

fn apart(a: &[Matrix], b: &[Matrix]) -> f64 {
    rms(&a.iter().zip(b).map(|(a, b)| a - b).collect::<Vec<_>>())
}

/// A layer, and by how much it is wrong.
struct Layer {
    record: Record,
    meant: Intent,
    wrong: Wrong,
    /// One rounding of its output.
    rounding: f64,
    /// In roundings.
    moved: f64,
    /// What the computing's rounding does to it, in roundings.
    rounded: f64,
}

/// The layer, kept in one precision and computed in another.
fn layer(kind: usize, [kept, computing]: [Precision; 2], seed: u64) -> Layer {
    let rng = &mut Rng::seed_from_u64(seed);
    let coarser = if kept.step() > computing.step() { kept } else { computing };
    // From about one rounding on.
    let least = coarser.step().ln();
    let x = (rng.random_range(least..0.0)).exp();
    let wrong = Wrong::of(kind, x.max(1e-12) * if kind < 6 { 0.7 } else { 1.0 }, rng);
    let d = [16, 32, 48][rng.random_range(0..3)];
    let (n, batch) = (rng.random_range(6..=14), rng.random_range(1..=3));
    let machine =
        Machine { precision: computing, scales_queries: seed.is_multiple_of(2) };
    let file = Machine { precision: kept, ..machine };
    let layer = LayerParameters::random(Dims::new(d, 4).unwrap(), true, rng).pack();
    let mut input = |_| random_matrix(n, d, 1.0, rng).map(|x| file.kept(x));
    let mut record = Record::of_layer(&layer, (0..batch).map(&mut input).collect());
    let gain = rng.random_range(1.0..2.5);
    let weights = &mut record.weights;
    for linear in weights.projections.iter_mut().chain(&mut weights.output) {
        linear.weight.apply(|w| *w = file.kept(gain * *w));
        linear.bias.iter_mut().for_each(|b| b.apply(|b| *b = file.kept(*b)));
    }
    record.precision = kept;
    if let Wrong::Window(_) = wrong {
        let open = |r: usize, c: usize| c <= r && r < c + WINDOW;
        record.masks.pairs = Some(vec![Matrix::from_fn(n, n, open)]);
    }
    let [meant, other] = wrong.intents(&record);
    let exact = Machine { precision: Precision::F64, ..machine };
    let of = |intent: &Intent, machine, wrong: Option<Wrong>| {
        let twist = |at, score, masked| match wrong {
            Some(wrong) => wrong.twist(at, score, masked),
            None => masked,
        };
        twisted(&record, intent, machine, &twist).remove(&State::Output).unwrap()
    };
    let (right, is) = (of(&meant, exact, None), of(&other, exact, Some(wrong)));
    let rounding = rms(&right) * coarser.step() / 2.0;
    let moved = apart(&right, &is) / rounding;
    let mut given = of(&other, machine, Some(wrong));
    given.iter_mut().for_each(|m| m.apply(|x| *x = file.kept(*x)));
    let rounded = apart(&is, &given) / rounding;
    record.tensors.insert(State::Output, given);
    Layer { record, meant, wrong, rounding, moved, rounded }
}

/// Whether what is told gives these numbers: the number that it is, or a mistake of the bank
/// that gives the same as far as they tell.
fn is_told(layer: &Layer, diagnosis: &Diagnosis) -> bool {
    let Layer { record, meant, wrong, .. } = layer;
    let number = wrong.number(record);
    if let Some(it) = diagnosis.number {
        let within = it.uncertainty.max(1e-6) * number.abs();
        let is_of_head = it.head.is_some() == matches!(wrong, Wrong::Head(_));
        let is_same = (it.found - number).abs() < within;
        return Some(it.kind) == wrong.kind() && is_of_head && is_same;
    }
    let Some(set) = diagnosis.explanations.first() else { return false };
    let computed = computed(record, meant, State::Output, set).expect("shapes that fit");
    apart(&computed, record.output()) < 2.0 * layer.rounded.max(0.5) * layer.rounding
}

/// How many layers were looked at, how many told, and those that are called right.
#[derive(Default)]
struct Sweep {
    counted: usize,
    told: usize,
    right: Vec<String>,
}

/// So many layers of each kind, kept in each precision and computed in each.
fn sweep(kinds: Range<usize>, each: u64) -> Sweep {
    let mut sweep = Sweep::default();
    let pairs = PRECISIONS.into_iter().flat_map(|kept| PRECISIONS.map(|it| [kept, it]));
    for (at, (kind, pair)) in
        pairs.flat_map(|pair| kinds.clone().map(move |kind| (kind, pair))).enumerate()
    {
        for seed in 0..each {
            let layer = layer(kind, pair, 10_000 * at as u64 + seed);
            if layer.moved <= 8.0 {
                continue;
            }
            let diagnosis = diagnose(&layer.record, &layer.meant).unwrap();
            let Layer { wrong, moved, rounded, .. } = layer;
            let is_told = is_told(&layer, &diagnosis);
            let words = format!(
                "{wrong:?} kept and computed in {pair:?}, seed {seed}: moved {moved:.0}, \
                 rounded {rounded:.1}: {:?}, {:?} {:?} in {}",
                diagnosis.verdict,
                diagnosis.number_words,
                ids(&diagnosis),
                diagnosis.precision
            );
            // What is within the rounding of the computing, no output shows.
            if wrong.kind().is_some() && moved > 4.0 * rounded {
                sweep.counted += 1;
                sweep.told += usize::from(is_told);
            }
            if diagnosis.verdict == Verdict::Right {
                sweep.right.push(words);
            } else if !is_told {
                println!("{words}");
            }
        }
    }
    let Sweep { counted, told, right } = &sweep;
    println!("{told} of {counted} told, {} right", right.len());
    sweep
}

fn none_is_right(Sweep { counted, told, right }: Sweep) {
    assert!(right.is_empty(), "{}\n{}", right.len(), right.join("\n"));
    assert!(told * 10 >= counted * 9, "{told} of {counted}");
}

#[test]
fn one_unknown_number_is_told_and_never_called_right() {
    none_is_right(sweep(NUMBERS, 1));
}

#[test]
fn a_structure_is_never_rounding() {
    none_is_right(sweep(STRUCTURES, 1));
}

#[test]
#[ignore = "the whole of it: minutes"]
fn none_of_thousands_is_called_right() {
    none_is_right(sweep(NUMBERS.start..STRUCTURES.end, 15));
}

/// A random mistake of the bank in a layer whose number is wrong too: the layer, and the
/// mistake if both show.
fn with_mistake(layer: &mut Layer, rng: &mut Rng) -> Option<&'static Mistake> {
    let Layer { record, meant, wrong, .. } = layer;
    let possible: Vec<_> = bank().filter(|it| it.is_possible(record, meant)).collect();
    let mistake = possible[rng.random_range(0..possible.len())];
    let [_, other] = wrong.intents(record);
    let of = |intent: &Intent, set: &[_]| computed(record, intent, State::Output, set);
    let mut both = of(&other, &[mistake])?;
    let others = [of(&other, &[])?, of(meant, &[mistake])?, of(meant, &[])?];
    // What is smaller in halves may be rounding.
    let share = if record.precision.step() > 1e-4 { 0.1 } else { 0.01 };
    let is_apart = |it: &Vec<Matrix>| {
        it[0].shape() == both[0].shape() && apart(it, &both) > share * rms(&both)
    };
    if mistake.step == Step::Inputs || !others.iter().all(is_apart) {
        return None;
    }
    let kept = Machine { precision: record.precision, scales_queries: false };
    both.iter_mut().for_each(|m| m.apply(|x| *x = kept.kept(*x)));
    record.tensors.insert(State::Output, both);
    Some(mistake)
}

/// Whether what is told gives the same numbers as what it is.
fn is_as_well(Layer { record, meant, .. }: &Layer, diagnosis: &Diagnosis) -> bool {
    let intent = diagnosis.number.map_or_else(|| meant.clone(), |it| it.applied(meant));
    let set = diagnosis.explanations.first().map_or(&[][..], Vec::as_slice);
    let computed = computed(record, &intent, State::Output, set);
    let given = record.output();
    let within = 2.0 * rms(given) * record.precision.step();
    computed.is_some_and(|it| apart(&it, given) < within)
}

#[test]
fn a_mistake_and_a_number_are_told_as_both() {
    let (mut told, mut unknown, mut wrong, mut seed) = (0, 0, Vec::new(), 0);
    while told + unknown + wrong.len() < 40 {
        seed += 1;
        let kept = PRECISIONS[seed as usize / 6 % 4];
        let mut layer = layer(seed as usize % NUMBERS.end, [kept, kept], seed);
        let rng = &mut Rng::seed_from_u64(seed);
        let is_of_head = matches!(layer.wrong, Wrong::Head(_));
        let Some(mistake) = with_mistake(&mut layer, rng).filter(|_| !is_of_head) else {
            continue;
        };
        let diagnosis = diagnose(&layer.record, &layer.meant).unwrap();
        let has_mistake = diagnosis.explanations.iter().any(|set| set[..] == [mistake]);
        let is_both = has_mistake && is_told(&layer, &diagnosis);
        let words = format!(
            "seed {seed}: {:?} and {} in {kept:?}: {:?} {:?}",
            layer.wrong,
            mistake.id,
            diagnosis.number_words,
            ids(&diagnosis)
        );
        match diagnosis.verdict {
            _ if is_both => told += 1,
            // Some two are one number, or two others, as far as the precision tells.
            _ if is_as_well(&layer, &diagnosis) => (),
            Verdict::Unknown | Verdict::Condition => {
                println!("unknown: {words}");
                unknown += 1;
            }
            _ => wrong.push(words),
        }
    }
    println!("{told} told, {unknown} unknown\n{}", wrong.join("\n"));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(told >= 34, "{told} of 40");
}

//! What holds of the dates, the converter and the measurements.

use std::collections::BTreeSet;

use attention::{Matrix, Result, Rng, SeedableRng};
use gradients::Adam;

use super::criteria::ALIGNED_LETTERS;
use super::*;
use crate::one_layer::mean;
use crate::tests::rng;
use crate::{Batches, Learner, Schedule, Trainer, Training};

mod controls;
mod file;
mod joined;
mod measured;

const MARCH: Date = Date { year: 2031, month: 3, day: 12 };

/// Two heads on letters 16 wide.
const TINY: DateArchitecture = DateArchitecture { d_model: 16, n_heads: 2, d_ff: 16 };

/// A training small enough for a test.
fn trained<L: Learner<Examples = DateTexts>>(
    seed: u64,
    begin: impl FnOnce(&Dates, &mut Rng) -> Result<L>,
) -> Training<L> {
    let usual = Dates::schedule(seed);
    let schedule = Schedule { n_steps: 12, batch: 8, n_test: 8, n_looks: 1, ..usual };
    Trainer::new(Dates::of_years(2031..=2031), schedule, begin).unwrap().finish().unwrap()
}

fn few_steps(seed: u64) -> Training<DateConverter> {
    trained(seed, |_, rng| DateConverter::random(TINY, rng))
}

/// W^O of the cross-attention.
fn w_o(model: &DateConverter) -> Matrix<f32> {
    model.cross().parameters().w_o().weight.clone()
}

/// Replaces a part of the model by that of another one.
type Replace<L> = fn(&mut L, L);

/// That a step of one part alone goes downhill, so that each part has its own gradient, with
/// its sign.
fn each_part_learns<L: Learner<Examples = DateTexts>>(
    before: &L,
    parts: &[(&str, Replace<L>)],
) {
    let read = Dates::default().batch(16, &mut rng()).unwrap();
    let step = |model: &mut L| model.descend(&read, &mut Adam::new(1e-3)).unwrap();
    let mut after = before.clone();
    let was = step(&mut after);
    for (name, replace) in parts {
        let mut moved = before.clone();
        replace(&mut moved, after.clone());
        let is = step(&mut moved);
        assert!(is < was - 1e-4, "{name}: {is} after {was}");
    }
}

fn texts() -> DateTexts {
    Dates::default().test(60, &mut rng()).unwrap()
}

/// Maps of one head that give each letter's row to `look`, evenly over the letters of that
/// part; without one, evenly over all.
fn maps(
    texts: &DateTexts,
    look: impl Fn(usize) -> Option<Part>,
) -> Vec<Vec<Matrix<f32>>> {
    let map = |written: &DateText| {
        let mut map = Matrix::zeros(N_TARGET, N_SOURCE);
        for letter in 0..N_TARGET {
            let keys = match look(letter) {
                Some(part) => written.parts[part as usize].clone(),
                None => 0..written.text.len(),
            };
            let share = 1.0 / keys.len() as f32;
            keys.for_each(|key| map[(letter, key)] = share);
        }
        vec![map]
    };
    texts.written.iter().map(map).collect()
}

/// How many letters of planted maps are aligned.
fn aligned(look: impl Fn(usize) -> Option<Part>, truth: &Truth) -> usize {
    let texts = texts();
    let own: Vec<usize> = (0..texts.n_dates()).collect();
    let shares = PartShares::of(&maps(&texts, look), &texts, &own).unwrap();
    shares.aligned(truth)[0]
}

#[test]
fn six_forms_of_a_date_and_where_its_parts_stand() {
    let line = |(form, date): (&Form, Date)| {
        let DateText { text, parts } = form.write(date);
        let [year, month, day] = parts.map(|part| text[part].to_owned());
        format!("{text} | {year} {month} {day}\n")
    };
    let early = Date { year: 1987, month: 9, day: 5 };
    let dates = Form::ALL.iter().flat_map(|form| [(form, MARCH), (form, early)]);
    insta::assert_snapshot!(dates.map(line).collect::<String>(), @r"
    12 march 2031 | 2031 march 12
    5 september 1987 | 1987 september 5
    march 12, 2031 | 2031 march 12
    september 5, 1987 | 1987 september 5
    mar. 12 2031 | 2031 mar 12
    sep. 5 1987 | 1987 sep 5
    12-mar-2031 | 2031 mar 12
    5-sep-1987 | 1987 sep 5
    12/03/2031 | 2031 03 12
    05/09/1987 | 1987 09 05
    2031.03.12 | 2031 03 12
    1987.09.05 | 1987 09 05
    ");
}

/// The parts, read as a person reads them, are the date: for every day of two years in each
/// form.
#[test]
fn what_the_parts_say_is_the_date() {
    for date in [2031, 2032].into_iter().flat_map(Date::of_year) {
        for form in Form::ALL {
            let DateText { text, parts } = form.write(date);
            let [year, month, day] = parts.map(|part| text[part].to_owned());
            let months = "janfebmaraprmayjunjulaugsepoctnovdec";
            let month = match month.parse() {
                Ok(month) => month,
                Err(_) => months.find(&month[..3]).unwrap() / 3 + 1,
            };
            let (year, day) = (year.parse().unwrap(), day.parse().unwrap());
            assert_eq!(Date { year, month, day }, date, "{text}");
        }
    }
}

#[test]
fn no_text_stands_for_two_dates() {
    let mut texts = BTreeSet::new();
    let dates = Dates::of_years(2000..=2012);
    for &date in dates.trained.iter().chain(&dates.unseen) {
        for form in Form::ALL {
            let DateText { text, .. } = form.write(date);
            assert!(text.len() <= N_SOURCE, "{text}");
            assert!(texts.insert(text.clone()), "{text}");
        }
    }
    assert_eq!(texts.len(), 6 * (13 * 365 + 4));
}

#[test]
fn no_letter_is_lost_and_a_text_is_filled_up_at_its_end() {
    let dates = Date::of_year(2031).flat_map(|date| Form::ALL.map(|form| (date, form)));
    let texts = DateTexts::of(dates);
    assert_eq!(texts.source.len(), 365 * 6 * N_SOURCE);
    let fill = Dates::N_READ - 1;
    for (ids, written) in texts.source.chunks(N_SOURCE).zip(&texts.written) {
        let (letters, rest) = ids.split_at(written.text.len());
        assert!(letters.iter().all(|&id| id < fill), "{}", written.text);
        assert!(rest.iter().all(|&id| id == fill), "{}", written.text);
    }
}

#[test]
fn the_decoder_is_given_what_stands_before_each_letter() {
    let texts = DateTexts::of([(MARCH, Form::DayFirst)]);
    assert_eq!(texts.target, [3, 1, 4, 2, 0, 1, 4, 0, 2, 3]); // "2031-03-12", a dash is 0
    assert_eq!(texts.given(), [Dates::START, 3, 1, 4, 2, 0, 1, 4, 0, 2]);
    assert_eq!(texts.whole(&texts.target), 1.0);
    assert_eq!(texts.whole(&texts.given()), 0.0);
}

#[test]
fn a_date_with_one_wrong_letter_is_not_whole() {
    let texts = DateTexts::of([Form::DayFirst, Form::WordDay].map(|form| (MARCH, form)));
    for letter in 0..2 * N_TARGET {
        let mut said = texts.target.clone();
        said[letter] = (said[letter] + 1) % Dates::N_WRITTEN;
        assert_eq!(texts.whole(&said), 0.5, "letter {letter}");
    }
}

/// In a date whose digits all differ, the right part is the one that has the letter.
#[test]
fn the_planted_truth_is_where_the_letters_stand() {
    let date = Date { year: 1987, month: 5, day: 26 };
    let DateText { text, parts } = Form::DayFirst.write(date);
    let Truth(truth) = Truth::planted();
    let iso = date.iso();
    assert_eq!((&*text, &*iso), ("26/05/1987", "1987-05-26"));
    let of = |letter: char| -> Vec<Part> {
        let has = |part: &Part| text[parts[*part as usize].clone()].contains(letter);
        [Part::Year, Part::Month, Part::Day].into_iter().filter(has).collect()
    };
    for (t, letter) in iso.chars().enumerate() {
        let right = match letter {
            '-' => [truth[t - 1].clone(), truth[t + 1].clone()].concat(), // its neighbours
            letter => of(letter),
        };
        assert_eq!(truth[t], right, "letter {t} of {iso}");
    }
}

#[test]
fn no_date_of_the_test_is_among_those_of_the_training() {
    let dates = Dates::default();
    assert_eq!((dates.trained.len(), dates.unseen.len()), (32_873, 3_652));
    let trained: BTreeSet<Date> = dates.trained.iter().copied().collect();
    assert!(dates.unseen.iter().all(|date| !trained.contains(date)));
    let test = Trainer::new(dates.clone(), Dates::schedule(0), |_, rng| {
        DateConverter::random(TINY, rng)
    });
    let test = test.unwrap().so_far().test.clone();
    assert!(test.dates.iter().all(|date| !trained.contains(date)));
    let batch = dates.batch(500, &mut rng()).unwrap();
    assert!(batch.dates.iter().all(|date| trained.contains(date)));
    assert!(Form::ALL.iter().all(|form| batch.forms.contains(form)));
}

#[test]
fn planted_maps_align_and_shuffled_or_even_ones_do_not() {
    let (planted, shuffled) = (Truth::planted(), Truth::shuffled(&mut rng()));
    let right = |letter: usize| planted.0[letter].last().copied();
    assert_eq!(aligned(right, &planted), N_TARGET);
    let earlier = |letter: usize| planted.0[letter].first().copied();
    assert_eq!(aligned(earlier, &planted), N_TARGET);
    assert_eq!(aligned(right, &shuffled), 0);
    assert_eq!(aligned(|_| None, &planted), 0);
    assert_eq!(aligned(|_| Some(Part::Year), &planted), 5); // and the dash behind it
    // One letter may be missed, two not.
    let but = |n: usize| aligned(|l| if l < n { None } else { right(l) }, &planted);
    assert!(but(1) >= ALIGNED_LETTERS && but(2) < ALIGNED_LETTERS);
}

#[test]
fn no_letter_of_a_shuffled_truth_keeps_a_part_of_its_own() {
    let planted = Truth::planted();
    for seed in 0..20 {
        let shuffled = Truth::shuffled(&mut Rng::seed_from_u64(seed));
        for (own, other) in planted.0.iter().zip(&shuffled.0) {
            assert!(other.iter().all(|part| !own.contains(part)), "{shuffled:?}");
        }
    }
}

#[test]
fn queries_of_another_date_do_not_align() {
    let texts = texts();
    let planted = Truth::planted();
    let others = texts.of_another_form();
    assert!((0..texts.n_dates()).all(|s| texts.forms[s] != texts.forms[others[s]]));
    let maps = maps(&texts, |letter| planted.0[letter].last().copied());
    let shares = PartShares::of(&maps, &texts, &others).unwrap();
    assert!(shares.aligned(&planted)[0] < ALIGNED_LETTERS);
}

#[test]
fn the_loss_falls_and_a_seed_gives_the_same_bits() {
    let (a, b) = (few_steps(3), few_steps(3));
    assert_eq!((&a.model, &a.losses, &a.looks), (&b.model, &b.losses, &b.looks));
    assert_ne!(a.losses, few_steps(4).losses);
    let (first, last) = a.losses.split_at(a.losses.len() / 2);
    assert!(mean(last) < 0.9 * mean(first), "{:?}", a.losses);
}

#[test]
fn what_is_written_is_what_the_decoder_finds_likeliest_after_it() {
    let model = few_steps(3).model;
    let mut texts = texts();
    texts.target = model.write(&texts).unwrap();
    let memory = model.memory(&texts).unwrap();
    let pass = model.decode(&texts.given(), &memory, &texts, None).unwrap();
    let logits = model.unembedding.forward(pass.out()).unwrap();
    assert_eq!(crate::repeats::largest(&logits), texts.target);
}

#[test]
fn what_fills_up_is_never_looked_at() {
    let model = few_steps(3).model;
    let mut texts = texts();
    let before = model.write(&texts).unwrap();
    let fill = Dates::N_READ - 1;
    texts.source.iter_mut().filter(|id| **id == fill).for_each(|id| *id = 7);
    assert_eq!(model.write(&texts).unwrap(), before);
}

#[test]
fn a_head_is_ablated_and_the_others_stay() {
    let model = few_steps(3).model;
    assert_eq!(model.ablated(&[]).unwrap(), model);
    let (all, without) = (w_o(&model), w_o(&model.ablated(&[1]).unwrap()));
    assert_eq!(without.rows(0, 8), all.rows(0, 8));
    assert!(without.rows(8, 8).iter().all(|&w| w == 0.0));
    insta::assert_snapshot!(model.ablated(&[2]).unwrap_err(), @"there are 2 heads, 0 to 1: head 2 does not exist");
}

#[test]
fn a_step_of_each_part_alone_lowers_the_loss() {
    each_part_learns(
        &few_steps(3).model,
        &[
            ("source", |model, of| model.source = of.source),
            ("target", |model, of| model.target = of.target),
            ("encoder", |model, of| model.model.encoder = of.model.encoder),
            ("decoder", |model, of| model.model.decoder = of.model.decoder),
            ("unembedding", |model, of| model.unembedding = of.unembedding),
        ],
    );
}

#[test]
fn without_dates_there_is_nothing_to_learn() {
    let none = Dates { trained: Vec::new(), unseen: Vec::new() };
    let refused = none.batch(1, &mut rng()).unwrap_err();
    insta::assert_snapshot!(refused, @"the number of dates to draw from is 0, and must be at least 1");
    let refused = Dates::default().batch(0, &mut rng()).unwrap_err();
    insta::assert_snapshot!(refused, @"the number of dates is 0, and must be at least 1");
}

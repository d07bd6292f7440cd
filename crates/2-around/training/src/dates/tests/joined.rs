//! That the model of both texts joined sees what it may, learns, and is as large as it says.

use super::*;

fn model() -> JoinedConverter {
    trained(3, |_, rng| JoinedConverter::random(TINY, rng)).model
}

const N_TOKENS: usize = N_SOURCE + N_TARGET;

/// Another letter in one place, and which rows of what comes out it changes.
fn changed(model: &JoinedConverter, texts: &DateTexts, place: usize) -> Vec<usize> {
    let given = texts.given();
    let before = model.pass(&given, texts).unwrap().out().clone();
    let (mut texts, mut given) = (texts.clone(), given);
    match place.checked_sub(N_SOURCE) {
        None => texts.source[place] = (texts.source[place] + 1) % Dates::N_READ,
        Some(letter) => given[letter] = (given[letter] + 1) % Dates::N_WRITTEN,
    }
    let after = model.pass(&given, &texts).unwrap().out().clone();
    (0..N_TOKENS).filter(|&row| before.row(row) != after.row(row)).collect()
}

#[test]
fn each_letter_sees_what_is_read_and_what_was_written_before_it() {
    let model = model();
    let texts = DateTexts::of([(MARCH, Form::DayFirst)]); // 10 letters
    let all: Vec<usize> = (0..N_TOKENS).collect();
    for place in 0..N_TOKENS {
        let expected = match place {
            0..10 => all.clone(),
            10..N_SOURCE => vec![place], // what fills up is seen by nobody else
            _ => (place..N_TOKENS).collect(),
        };
        assert_eq!(changed(&model, &texts, place), expected, "place {place}");
    }
}

#[test]
fn what_is_written_is_what_is_likeliest_after_it() {
    let (model, mut texts) = (model(), texts());
    texts.target = model.write(&texts).unwrap();
    let pass = model.pass(&texts.given(), &texts).unwrap();
    let rows = (0..texts.n_dates() * N_TOKENS).filter(|row| row % N_TOKENS >= N_SOURCE);
    let written = pass.out().select_rows(&rows.collect::<Vec<_>>());
    let logits = model.unembedding.forward(&written).unwrap();
    assert_eq!(crate::repeats::largest(&logits), texts.target);
}

#[test]
fn a_step_of_each_part_alone_lowers_the_loss_of_both_joined() {
    each_part_learns(
        &model(),
        &[
            ("embedding", |model, of| model.embedding = of.embedding),
            ("first block", |model, of| {
                model.stack.blocks[0] = of.stack.blocks[0].clone();
            }),
            ("second block", |model, of| {
                model.stack.blocks[1] = of.stack.blocks[1].clone();
            }),
            ("unembedding", |model, of| model.unembedding = of.unembedding),
        ],
    );
}

#[test]
fn both_have_as_many_parameters_as_whole_units_allow() {
    let both_of = |built| DateConverter::random(built, &mut rng()).unwrap();
    for built in [DateArchitecture::default(), TINY] {
        let expected = both_of(built).costs().unwrap().parameters;
        let n_joined = |d_ff| {
            let built = DateArchitecture { d_ff, ..built };
            let joined = JoinedConverter::random(built, &mut rng()).unwrap();
            joined.costs().unwrap().parameters
        };
        let DateArchitecture { d_ff, .. } =
            JoinedConverter::as_large_as(built, &mut rng()).unwrap();
        let unit = n_joined(d_ff + 1) - n_joined(d_ff);
        assert_eq!(unit, 2 * (2 * built.d_model + 1)); // a unit in each of two blocks
        assert!(2 * n_joined(d_ff).abs_diff(expected) <= unit, "{d_ff}");
    }
    insta::assert_debug_snapshot!(both_of(DateArchitecture::default()).costs().unwrap(), @"
    Costs {
        parameters: 89611,
        multiply_adds: 1231232,
    }
    ");
}

/// Even attention over all that a letter may see is what even says, and aligns nowhere; all
/// on the right part aligns everywhere.
#[test]
fn even_is_over_all_that_a_letter_may_see() {
    let (texts, planted) = (texts(), Truth::planted());
    let own: Vec<usize> = (0..texts.n_dates()).collect();
    let even = |written: &DateText| {
        let length = written.text.len();
        vec![Matrix::from_fn(N_TARGET, N_TOKENS, |letter, key| {
            let is_seen = key < length || (N_SOURCE..=N_SOURCE + letter).contains(&key);
            f32::from(u8::from(is_seen)) / (length + letter + 1) as f32
        })]
    };
    let of_joined =
        |maps: &[_]| PartShares::beside(maps, &texts, &own, |letter| letter + 1).unwrap();
    let evenly: Vec<_> = texts.written.iter().map(even).collect();
    let shares = of_joined(&evenly);
    assert!((&shares.of_head[0] - &shares.even).amax() < 1e-6);
    assert_eq!(shares.aligned(&planted), [0]);
    let right = maps(&texts, |letter| planted.0[letter].last().copied());
    let shares = of_joined(&right);
    assert_eq!(shares.aligned(&planted), [N_TARGET]);
}

//! That each control takes what it says, and can fail.

use ::ablation::{Directions, Replacement, Site};
use attention::{Batch, Rng, SeedableRng, max_abs_diff};
use block::StackPass;
use gradients::Entries;

use super::*;
use crate::dates::moved::random_order;

fn orders(n_dates: usize) -> [Vec<usize>; 2] {
    [(0..n_dates * N_TARGET).collect(), random_order(n_dates, &mut rng())]
}

fn apart(a: &Matrix<f32>, b: &Matrix<f32>) -> f64 {
    max_abs_diff(a, b).unwrap()
}

/// What is taken in the weights is what is taken of a concatenation that was kept, and the
/// output misses as much as without a head.
#[test]
fn scaled_directions_take_as_much_as_a_head() {
    let (model, texts) = (few_steps(3).model, texts());
    let concat = model.concat(&texts).unwrap();
    let site: Site<'_> = model.site(&concat);
    assert_eq!(site.replacement, Replacement::Zero);
    let head = |i| &concat * (w_o(&model) - w_o(&model.ablated(&[i]).unwrap()));
    let length = |out: &Matrix<f32>| {
        out.row_iter().map(|row| row.norm()).sum::<f32>() / out.nrows() as f32
    };
    let of_heads = (length(&head(0)) + length(&head(1))) / 2.0;
    let found = DateAblation::of(&model, &texts, &mut rng()).unwrap();
    assert_eq!(found.scales.len(), DateAblation::N_DRAWS);
    // The same draws once more: `of` drew nothing but directions.
    let rng = &mut rng();
    for &scale in &found.scales {
        let directions = Directions::random(site.dims, rng);
        let less = model.directions_ablated(&directions, scale).unwrap();
        let missing = &concat * (w_o(&model) - w_o(&less));
        let taken = site.taken(&directions, rng) * scale as f32 * w_o(&model);
        assert!(apart(&missing, &taken) < 1e-5);
        assert!((length(&missing) / of_heads - 1.0).abs() < 1e-3, "{scale}");
    }
}

#[test]
fn a_head_is_needed_if_it_leaves_less_than_every_draw() {
    let found = DateAblation {
        ablated: vec![0.5, 0.69, 0.7, 0.9],
        alone: vec![0.0; 4],
        all_ablated: 0.0,
        random: vec![0.8, 0.7, 0.95],
        scaled: vec![0.4, 0.6],
        scales: vec![1.0, 1.0],
    };
    assert_eq!(found.needed(&found.random), [0, 1]);
    assert_eq!(found.needed(&found.scaled), [0_usize; 0]);
}

#[test]
fn an_order_keeps_each_letter_with_its_date() {
    let order = random_order(50, &mut rng());
    for (date, rows) in order.chunks(N_TARGET).enumerate() {
        let mut sorted = rows.to_vec();
        sorted.sort_unstable();
        assert!(sorted.iter().copied().eq(date * N_TARGET..(date + 1) * N_TARGET));
    }
    let stay = order.iter().enumerate().filter(|(to, from)| to == *from).count();
    assert!((20..80).contains(&stay), "{stay}"); // 1 letter of 10: 50 expected
    assert_ne!(order[..N_TARGET], random_order(1, &mut Rng::seed_from_u64(2)));
}

/// In the old order it is the decoder, and in another the rows of the attention's output are
/// in that order and nothing else is.
#[test]
fn the_output_moves_and_the_residual_stays() {
    let (model, texts) = (few_steps(3).model, texts());
    let n = texts.n_dates();
    let memory = model.memory(&texts).unwrap();
    let given = texts.given();
    let usual = model.decode(&given, &memory, &texts, None).unwrap();
    let [stays, moves] = orders(n);
    let of = |order| {
        let pass = model.decode(&given, &memory, &texts, Some(order)).unwrap();
        pass.out().clone()
    };
    assert_eq!(&of(&stays), usual.out());

    // By hand, from what the usual pass kept.
    let block = &model.model.decoder.blocks[0];
    let cross = usual.blocks()[0].cross().unwrap();
    let without = {
        let mut alone = model.model.decoder.clone();
        let cross = alone.blocks[0].cross.as_mut().unwrap();
        cross.residual = false;
        assert!(cross.norms.before.is_some() && cross.norms.iter().count() == 1);
        alone.blocks[0].feed_forward = None;
        alone.last_norm = None;
        alone
    };
    let y = Batch::new(n, model.target.forward(&given, N_TARGET).unwrap()).unwrap();
    let from = (&memory, &texts.masks[..]);
    let masks = [attention::Mask::Causal];
    let alone = StackPass::forward_reading(&without, &y, &masks, from).unwrap();
    assert_eq!(alone.out(), &cross.out);
    let usual_own = usual.blocks()[0].own().out.clone();
    let own = block.attention.forward(y.tokens(), |_, _| Ok((usual_own.clone(), ())));
    let mixed = own.unwrap().out + cross.out.select_rows(&moves);
    let around = block.feed_forward.as_ref().unwrap();
    let fed = around.forward(&mixed, |ffn, x| Ok((ffn.forward(x)?, ()))).unwrap();
    let out = model.model.decoder.last_norm.as_ref().unwrap().forward(&fed.out).unwrap();
    assert!(apart(&of(&moves), &out) < 1e-5);
    assert!(apart(&of(&moves), usual.out()) > 1e-2);
}

/// Against central differences along the gradient of each list of entries: the slope is the
/// gradient's length, and less if any part of it were wrong.
#[test]
fn in_another_order_they_are_those_of_the_loss() {
    let model = few_steps(3).model;
    let read = Dates::default().batch(8, &mut rng()).unwrap();
    let [_, order] = orders(8);
    let (_, d) = model.gradients(&read, Some(&order)).unwrap();
    let gradient: Vec<Vec<f32>> = d.entries().into_iter().map(<[f32]>::to_vec).collect();
    let step = 3e-3_f32;
    let loss = |along: &[Vec<f32>], by: f32| {
        let mut model = model.clone();
        for (entries, along) in model.entries_mut().into_iter().zip(along) {
            entries.iter_mut().zip(along).for_each(|(entry, along)| *entry += by * along);
        }
        let (loss, _) = model.gradients(&read, Some(&order)).unwrap();
        f64::from(loss)
    };
    for (i, list) in gradient.iter().enumerate() {
        let length = list.iter().map(|x| x * x).sum::<f32>().sqrt();
        if length < 1e-3 {
            continue; // a bias of keys, whose gradient is 0
        }
        let zeros = |list: &Vec<f32>| vec![0.0; list.len()];
        let mut along: Vec<Vec<f32>> = gradient.iter().map(zeros).collect();
        along[i] = list.iter().map(|x| x / length).collect();
        let slope = (loss(&along, step) - loss(&along, -step)) / f64::from(2.0 * step);
        let expected = f64::from(length);
        let off = (slope - expected).abs();
        assert!(off < 0.03 * expected + 2e-4, "list {i}: {slope}, expected {expected}");
    }
}

#[test]
fn a_moved_training_is_another_one() {
    let moved = trained(3, |_, rng| {
        let converter = DateConverter::random(TINY, rng)?;
        Ok(MovedConverter { converter, rng: Rng::seed_from_u64(3) })
    });
    let usual = few_steps(3);
    assert_eq!(moved.before.converter, usual.before);
    assert_ne!(moved.losses, usual.losses);
    assert!(moved.losses[11] < moved.losses[0], "{:?}", moved.losses);
}

/// Asked by themselves dates give their own shares. A decoder that hears of no letter asks by
/// the place alone, and any date asks the same; one that hears of them does not.
#[test]
fn queries_of_another_date_matter_where_letters_do() {
    let (mut model, texts) = (few_steps(3).model, texts());
    let own: Vec<usize> = (0..texts.n_dates()).collect();
    let others = texts.of_another_form();
    let shares = model.shares(&texts, &own).unwrap();
    assert_eq!(model.shares_asked_by(&texts, &own).unwrap(), shares);
    assert_ne!(model.shares_asked_by(&texts, &others).unwrap(), shares);
    assert_eq!(model.shares_asked_by(&texts, &others).unwrap().even, shares.even);
    model.target.tokens.fill(0.0);
    let shares = model.shares(&texts, &own).unwrap();
    assert_eq!(model.shares_asked_by(&texts, &others).unwrap(), shares);
    assert_ne!(model.shares(&texts, &others).unwrap(), shares); // judged by another
}

#[test]
fn queries_of_no_date_are_refused() {
    let (model, texts) = (few_steps(3).model, DateTexts::of([(MARCH, Form::DayWord)]));
    let refused =
        |asked_by: &[usize]| model.shares_asked_by(&texts, asked_by).unwrap_err();
    insta::assert_snapshot!(refused(&[1]), @"there is one date, number 0: date 1 does not exist");
    insta::assert_snapshot!(refused(&[0, 0]), @"the list of asking dates has 2 entries, expected 1");
}

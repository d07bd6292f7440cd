use attention::{
    Dims, LayerParameters, Matrix, Rng, RowVector, SeedableRng, max_abs_diff,
    random_matrix,
};

use super::*;
use crate::odds::z_score;
use crate::task::named_classes;
use crate::{Answers, Examples, Lookups, Model, Task};

fn fresh(n_examples: usize) -> (Model, Examples) {
    let (task, rng) = (Lookups::default(), &mut Rng::seed_from_u64(4));
    let model = Model::random(&task, 3, rng).unwrap();
    (model, task.draw(n_examples, rng).unwrap())
}

/// The two ways to write the same removal: zero rows of W^O, a zero block of the
/// concatenation.
#[test]
fn zeroing_a_head_is_the_model_without_it() {
    let (model, examples) = fresh(20);
    let concat = model.concat(&examples).unwrap();
    let rng = &mut Rng::seed_from_u64(0);
    for head in 0..3 {
        let directions =
            Directions::of_head(model.layer.parameters().dims(), head).unwrap();
        let taken = directions.taken(&concat, Replacement::Zero, rng);
        let found = model.read(&(&concat - taken)).unwrap();
        let expected = model.without(head).unwrap().say(&examples).unwrap().answers;
        assert!(max_abs_diff(&found, &expected).unwrap() < 1e-5, "head {head}");
    }
}

#[test]
fn one_head_is_removed_as_all_of_them_in_turn() {
    let (model, examples) = fresh(20);
    for how in [Replacement::Zero, Replacement::Mean] {
        let rng = &mut Rng::seed_from_u64(0);
        let ablation = Ablation::of(&model, &examples, how, rng).unwrap();
        for head in 0..3 {
            let scores = model.scores_without(head, &examples, how, rng).unwrap();
            let expected: Vec<f64> = ablation.without.row(head).iter().copied().collect();
            assert_eq!(scores, expected, "head {head}, {how:?}");
        }
    }
    let rng = &mut Rng::seed_from_u64(0);
    let refused = model.scores_without(3, &examples, Replacement::Mean, rng).unwrap_err();
    insta::assert_snapshot!(refused, @"there is no head 3 in a layer of 3: they count from 0");
}

#[test]
fn what_is_taken_lies_in_the_directions_and_nothing_else_is() {
    let (model, examples) = fresh(20);
    let concat = model.concat(&examples).unwrap();
    let rng = &mut Rng::seed_from_u64(0);
    let directions = Directions::random(model.layer.parameters().dims(), rng);
    for how in Replacement::ALL {
        let taken = directions.taken(&concat, how, rng);
        let directions = directions.columns();
        let outside = &taken - &taken * directions * directions.transpose();
        assert!(outside.amax() < 1e-5, "{how:?}: {}", outside.amax());
        let left = (&concat - &taken) * directions; // [20, 16]
        let part = &concat * directions;
        match how {
            Replacement::Zero => assert!(left.amax() < 1e-5),
            Replacement::Mean => {
                for row in left.row_iter() {
                    assert!((row - part.row_mean()).amax() < 1e-5);
                }
            }
            // The same rows, each in another example.
            Replacement::Resample => {
                let near = |s: usize, t: usize| (left.row(s) - part.row(t)).amax() < 1e-5;
                for s in 0..20 {
                    assert!(!near(s, s), "example {s} kept its own");
                    assert_eq!((0..20).filter(|&t| near(s, t)).count(), 1);
                }
            }
        }
    }
}

/// The control takes as much from the layer's output as a head does.
#[test]
fn the_control_takes_as_much_as_a_head() {
    let (model, examples) = fresh(200);
    let concat = model.concat(&examples).unwrap();
    for how in Replacement::ALL {
        let rng = &mut Rng::seed_from_u64(1);
        let found = Ablation::of(&model, &examples, how, rng).unwrap();
        assert_eq!(found.controls.len(), Ablation::N_DRAWS);
        // The same draws again, in the order in which `of` makes them.
        let rng = &mut Rng::seed_from_u64(1);
        let site = model.site(&concat, how);
        let dims = model.layer.parameters().dims();
        let of_heads = Directions::of_heads(dims);
        let of_heads = of_heads.map(|it| site.moved(&it.taken(&concat, how, rng)));
        let mean = of_heads.sum::<f64>() / 3.0;
        for control in &found.controls {
            let taken = Directions::random(dims, rng).taken(&concat, how, rng);
            let matched = site.moved(&(taken * control.scale as f32));
            assert!((matched - mean).abs() < 1e-4 * mean, "{how:?}: {matched} {mean}");
            assert!((0.5..2.0).contains(&control.scale), "{}", control.scale);
        }
    }
}

/// `Concat(z) W^O + b^O`, from what each of three heads says, `[5, 4]`.
fn merged(parameters: &LayerParameters, z: &[Matrix]) -> Matrix {
    let columns: Vec<_> = z.iter().flat_map(Matrix::column_iter).collect();
    parameters.w_o().forward(&Matrix::from_columns(&columns)).unwrap()
}

#[test]
fn in_the_weights_a_head_says_what_replaces_it() {
    let rng = &mut Rng::seed_from_u64(1);
    let dims = Dims::new(12, 3).unwrap();
    let parameters: LayerParameters = LayerParameters::random(dims, true, rng);
    let z = [(); 3].map(|()| random_matrix(5, 4, 1.0, rng));
    for instead in [None, Some(z[1].row_mean())] {
        let less = layer_without(&parameters, &[(1, instead.clone())]).unwrap();
        assert!(less.w_o().weight.rows(4, 4).iter().all(|&x| x == 0.0));
        let instead = instead.unwrap_or_else(|| RowVector::zeros(4));
        let mut replaced = z.clone();
        replaced[1] = Matrix::from_rows(&vec![instead; 5]);
        let (found, expected) = (merged(&less, &z), merged(&parameters, &replaced));
        let difference = max_abs_diff(&found, &expected).unwrap();
        assert!(difference < 1e-12, "{difference:e}");
    }
    insta::assert_snapshot!(layer_without(&parameters, &[(3, None)]).unwrap_err(), @"there is no head 3 in a layer of 3: they count from 0");
    let wide = Some(RowVector::zeros(5));
    insta::assert_snapshot!(layer_without(&parameters, &[(0, wide)]).unwrap_err(), @"what a head is replaced by has shape (1, 5), expected (1, 4)");
}

/// Any directions, and not those of heads alone: a mean that was subtracted from a kept
/// concatenation, and one that stands in the weights.
#[test]
fn a_constant_in_the_weights_is_the_mean_on_the_concatenation() {
    let (model, examples) = fresh(20);
    let concat = model.concat(&examples).unwrap();
    let (dims, w_o) = (model.layer.parameters().dims(), model.layer.parameters().w_o());
    let rng = &mut Rng::seed_from_u64(0);
    for directions in [Directions::random(dims, rng), Directions::all(dims)] {
        let taken = directions.taken(&concat, Replacement::Mean, rng);
        let expected = w_o.forward(&(&concat - taken)).unwrap();
        let mean = (&concat * directions.columns()).row_mean();
        let constant = directions.replaced_in(w_o, Some(&mean)).unwrap();
        let found = constant.forward(&concat).unwrap();
        assert!(max_abs_diff(&found, &expected).unwrap() < 1e-5);
    }
}

#[test]
fn what_replaces_a_part_stands_at_the_same_position() {
    let (model, examples) = fresh(6);
    let concat = model.concat(&examples).unwrap();
    let site = Site { n_positions: 2, ..model.site(&concat, Replacement::Mean) };
    let taken = site.taken(&Directions::all(site.dims), &mut Rng::seed_from_u64(0));
    let left = &concat - taken;
    for row in 0..6 {
        let [a, b, c] = [0, 2, 4].map(|other| concat.row(row % 2 + other));
        let mean = (a + b + c) / 3.0;
        assert!((left.row(row) - mean).amax() < 1e-5, "row {row}");
    }
}

/// "Another word's head costs nothing" can fail: of heads that all do the same, each costs
/// every word the same.
#[test]
fn heads_without_work_of_their_own_cost_every_target_alike() {
    let (mut model, examples) = fresh(200);
    let mut parameters = model.layer.parameters().unpack();
    let first = parameters.heads()[0].clone();
    let w_o = parameters.w_o().clone();
    let rows = w_o.weight.rows(0, 16).into_owned();
    let stacked = Matrix::from_fn(48, 48, |i, j| rows[(i % 16, j)]);
    let w_o = attention::Linear::new(stacked, w_o.bias).unwrap();
    parameters = LayerParameters::new(vec![first; 3], w_o).unwrap();
    model.layer = fused_heads::FusedAttention::new(&parameters);
    let rng = &mut Rng::seed_from_u64(0);
    let concat = model.concat(&examples).unwrap();
    let site = model.site(&concat, Replacement::Mean);
    let [a, b, c] = [0, 1, 2].map(|head| {
        let taken = site.taken(&Directions::of_head(site.dims, head).unwrap(), rng);
        model.read(&(&concat - taken)).unwrap()
    });
    assert!(max_abs_diff(&a, &b).unwrap() < 1e-5 && max_abs_diff(&a, &c).unwrap() < 1e-5);
    let ablation = Ablation::of(&model, &examples, Replacement::Mean, rng).unwrap();
    for target in ablation.losses().column_iter() {
        assert_eq!(target.max(), target.min());
    }
}

/// A model that is never wrong on its examples: what it says is what is asked. Each target
/// reads one head alone, or all directions of the concatenation alike.
fn never_wrong(reads_one_head: bool) -> (Model, Examples) {
    let (mut model, mut examples) = fresh(400);
    let mut parameters = model.layer.parameters().unpack();
    let w_o = attention::Linear::new(Matrix::identity(48, 48), None).unwrap();
    parameters = LayerParameters::new(parameters.heads().to_vec(), w_o).unwrap();
    model.layer = fused_heads::FusedAttention::new(&parameters);
    let n_classes = Lookups::N_IDENTITIES;
    for ((row, column), weight) in (0..3 * n_classes)
        .flat_map(|column| (0..48).map(move |row| (row, column)))
        .zip(model.readout.weight.iter_mut())
    {
        let is_read = !reads_one_head || row / 16 == column / n_classes;
        *weight = if is_read { *weight } else { 0.0 };
    }
    let of_targets = named_classes(&model.say(&examples).unwrap().answers, n_classes);
    examples.answers = Answers::Classes { n_classes, of_targets };
    (model, examples)
}

/// A head that a target reads alone costs it more than random directions, and where a target
/// reads all of the concatenation, a head is a direction like any other.
#[test]
fn a_head_with_a_job_costs_more_than_random_directions_and_any_other_does_not() {
    for reads_one_head in [true, false] {
        let (model, examples) = never_wrong(reads_one_head);
        let rng = &mut Rng::seed_from_u64(2);
        let found = Ablation::of(&model, &examples, Replacement::Mean, rng).unwrap();
        assert_eq!(found.whole, [1.0; 3]);
        let (losses, random) = (found.losses(), found.control_losses());
        for (head, target) in (0..3).flat_map(|i| (0..3).map(move |r| (i, r))) {
            let draws: Vec<f64> = random.column(target).iter().copied().collect();
            let (lost, z) =
                (losses[(head, target)], z_score(losses[(head, target)], &draws));
            let here =
                format!("head {head}, target {target}: {lost}, z {z:.1}, {draws:.2?}");
            match (reads_one_head, head == target) {
                (true, true) => assert!(z > 5.0, "{here}"),
                (true, false) => assert_eq!(lost, 0.0, "{here}"),
                (false, _) => assert!(z.abs() < 4.0, "{here}"),
            }
        }
    }
}

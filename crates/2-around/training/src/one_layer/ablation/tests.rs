use ablation::odds::z_score;
use attention::{
    LayerParameters, Matrix, MultiHeadAttention, Rng, SeedableRng, max_abs_diff,
};
use fused_heads::FusedAttention;

use super::*;
use crate::lookups::Lookups;
use crate::one_layer::{Answers, Examples, Model, Task, named_classes};

fn fresh(n_examples: usize) -> (Model, Examples) {
    let (task, rng) = (Lookups::default(), &mut Rng::seed_from_u64(4));
    let model = Model::random(&task, 3, rng).unwrap();
    (model, task.draw(n_examples, rng).unwrap())
}

#[test]
fn a_head_that_is_zeroed_is_one_that_attends_to_nothing() {
    let (model, examples) = fresh(20);
    let concat = model.concat(&examples).unwrap();
    let whole = model.say(&examples).unwrap();
    let rng = &mut Rng::seed_from_u64(0);
    for (head, directions) in Directions::of_heads(model.layer.dims()).enumerate() {
        let taken = directions.taken(&concat, Replacement::Zero, rng);
        let found = model.read(&(&concat - taken)).unwrap();
        let mut rows = whole.rows.clone();
        rows[head].fill(0.0);
        let expected = model.say_attending(&examples, &rows).unwrap();
        assert!(max_abs_diff(&found, &expected).unwrap() < 1e-5, "head {head}");
        assert!(max_abs_diff(&found, &whole.answers).unwrap() > 1e-2, "head {head}");
    }
}

#[test]
fn one_head_is_ablated_as_all_of_them_in_turn() {
    let (model, examples) = fresh(20);
    for how in [Replacement::Zero, Replacement::Mean] {
        let rng = &mut Rng::seed_from_u64(0);
        let ablation = Ablation::of(&model, &examples, how, rng).unwrap();
        for head in 0..3 {
            let scores = model.scores_ablated(head, &examples, how, rng).unwrap();
            let expected: Vec<f64> = ablation.ablated.row(head).iter().copied().collect();
            assert_eq!(scores, expected, "head {head}, {how:?}");
        }
    }
    let rng = &mut Rng::seed_from_u64(0);
    let refused = model.scores_ablated(3, &examples, Replacement::Mean, rng).unwrap_err();
    insta::assert_snapshot!(refused, @"there are 3 heads, 0 to 2: head 3 does not exist");
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

/// "Another word's head costs nothing" can fail: of heads that all do the same, each costs
/// every word the same.
#[test]
fn heads_without_work_of_their_own_cost_every_target_alike() {
    let (mut model, examples) = fresh(200);
    let parameters = model.layer.parameters().unpack();
    let first = parameters.heads()[0].clone();
    let w_o = parameters.w_o();
    let stacked = Matrix::from_fn(48, 48, |i, j| w_o.weight[(i % 16, j)]);
    let w_o = attention::Linear::new(stacked, w_o.bias.clone()).unwrap();
    let parameters = LayerParameters::new(vec![first; 3], w_o).unwrap();
    model.layer = FusedAttention::new(&parameters);
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
    let heads = model.layer.parameters().unpack().heads().to_vec();
    let w_o = attention::Linear::new(Matrix::identity(48, 48), None).unwrap();
    let parameters = LayerParameters::new(heads, w_o).unwrap();
    model.layer = FusedAttention::new(&parameters);
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

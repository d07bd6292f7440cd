use ablation::odds::z_score;
use ablation::{ablated_layer, orthonormal};
use attention::{Linear, RowVector};

use super::*;
use crate::{Fleet, Prepared, remaining};

fn some_windows() -> (Windows, Vec<At>) {
    let (readings, _) = Fleet::default().readings(0);
    let windows = Prepared::of(&readings, 0).unwrap().test;
    let at = windows.at.iter().step_by(1500).copied().collect();
    (windows, at)
}

/// The error of a model, window by window.
fn error(model: &Remaining<FusedAttention>, windows: &Windows, at: &[At]) -> f64 {
    let says =
        |at: &At| capped(model.pass(&windows.readings(at).unwrap()).unwrap().remaining);
    let targets: Vec<f64> = at.iter().map(At::target).collect();
    rmse(&at.iter().map(says).collect::<Vec<_>>(), &targets)
}

/// A model that is never wrong: what it says is what is asked.
fn right(mut ablation: Ablation) -> Ablation {
    let nothing = Matrix::zeros(ablation.out.nrows(), ablation.out.ncols());
    ablation.targets = ablation.says(&nothing).unwrap();
    ablation
}

#[test]
fn with_all_heads_it_is_the_model() {
    let (windows, at) = some_windows();
    let trained = remaining().unwrap();
    let ablation = Ablation::new(&trained, &windows, &at).unwrap();
    let expected = error(&trained.fused().unwrap(), &windows, &at);
    assert!((ablation.whole().unwrap() - expected).abs() < 1e-4);
    // Random directions are others each time.
    let rng = &mut Rng::seed_from_u64(1);
    let heads = ablation.heads().unwrap();
    let [a, b] = [(); 2].map(|()| ablation.random(&heads, rng).unwrap());
    assert!((a[0] - b[0]).abs() > 1e-6);
}

/// The same ablation in the weights: no rows of W^O for the head, and its mean in b^O.
#[test]
fn without_a_head_it_is_a_model_that_has_only_its_mean() {
    let (windows, at) = some_windows();
    let trained = remaining().unwrap();
    let layer = trained.layer().unwrap();
    let d_v = layer.dims().d_v();
    let ablation = Ablation::new(&trained, &windows, &at).unwrap();
    let mean: RowVector = ablation.concat.map(f64::from).row_mean();
    for heads in [vec![2], vec![5], (0..8).collect::<Vec<_>>()] {
        let its_mean = |&head: &usize| {
            let mean = mean.columns(head * d_v, d_v).into_owned();
            (head, Some(mean))
        };
        let gone: Vec<_> = heads.iter().map(its_mean).collect();
        let changed = ablated_layer(&layer, &gone).unwrap();
        let model = trained.model(|_| FusedAttention::new(&changed)).unwrap();
        let expected = error(&model, &windows, &at);
        let found = match heads[..] {
            [head] => ablation.heads().unwrap()[head].0,
            _ => ablation.all().unwrap(),
        };
        assert!((found - expected).abs() < 1e-4, "{heads:?}: {found}, {expected}");
    }
}

/// Keys of zeros score all readings alike: even weights are theirs, and cost them nothing.
/// In a model that is right because it looks sharply, they cost much.
#[test]
fn even_weights_cost_where_choices_matter_and_nothing_where_there_are_none() {
    let (windows, at) = some_windows();
    let trained = remaining().unwrap();
    let layer = trained.layer().unwrap();
    let with = |change: fn(&mut Linear, &mut Linear)| {
        let mut heads = layer.heads().to_vec();
        heads.iter_mut().for_each(|head| change(&mut head.w_q, &mut head.w_k));
        let changed = LayerParameters::new(heads, layer.w_o().clone()).unwrap();
        Ablation::of(&trained, changed, &windows, &at).unwrap()
    };
    let blind = with(|_, w_k| w_k.weight.fill(0.0));
    let even = Ablation::new(&trained, &windows, &at).unwrap().even().unwrap();
    assert!((even - blind.whole().unwrap()).abs() < 1e-4);
    assert!(right(blind).even().unwrap() < 1e-4);
    let sharp = with(|w_q, _| w_q.weight *= 20.0);
    let cost = right(sharp).even().unwrap();
    assert!(cost > 2.0, "{cost}");
}

/// A head that is made to say much stands far above its control; one that is a random
/// mixture of all heads does not.
#[test]
fn a_head_with_a_job_costs_more_than_random_directions_and_a_mixture_does_not() {
    let (windows, at) = some_windows();
    let trained = remaining().unwrap();
    let z = |ablation: &Ablation| -> Vec<f64> {
        let rng = &mut Rng::seed_from_u64(2);
        let heads = ablation.heads().unwrap();
        let draws: Vec<Vec<f64>> =
            (0..20).map(|_| ablation.random(&heads, rng).unwrap()).collect();
        let of = |(head, (cost, _)): (usize, &(f64, f64))| {
            let draws: Vec<f64> = draws.iter().map(|draw| draw[head]).collect();
            z_score(*cost, &draws)
        };
        heads.iter().enumerate().map(of).collect()
    };
    let layer = trained.layer().unwrap();
    let d_v = layer.dims().d_v();
    // Head 3 alone is read, and loudly: what the others write is at right angles to the last
    // linear map.
    let model = trained.fused::<f64>().unwrap();
    let norm = model.attention.as_ref().unwrap().norms.after.as_ref().unwrap();
    let mut read = model.head.weight.transpose().component_mul(norm.gain()); // [1, 256]
    read.add_scalar_mut(-read.mean());
    let read = &read / read.norm();
    let mut w_o = layer.w_o().clone();
    for i in 0..8 * d_v {
        let row = w_o.weight.row(i).into_owned();
        let times = if i / d_v == 3 { 3.0 } else { -1.0 };
        w_o.weight.row_mut(i).copy_from(&(&row + &read * (times * row.dot(&read))));
    }
    let planted = LayerParameters::new(layer.heads().to_vec(), w_o).unwrap();
    let planted = Ablation::of(&trained, planted, &windows, &at).unwrap();
    let of_planted = z(&right(planted));

    let mut mixed = Ablation::new(&trained, &windows, &at).unwrap();
    let r = orthonormal(8 * d_v, 8 * d_v, &mut Rng::seed_from_u64(3));
    mixed.concat = &mixed.concat * &r;
    let w_o = layer.w_o();
    let back = r.transpose().map(f64::from) * &w_o.weight;
    let w_o = Linear::new(back, w_o.bias.clone()).unwrap();
    mixed.layer = LayerParameters::new(layer.heads().to_vec(), w_o).unwrap();
    let of_mixed = z(&right(mixed));
    println!("{of_planted:.1?}\n{of_mixed:.1?}");
    assert!(of_planted[3] > 5.0, "{of_planted:?}");
    assert!(of_mixed.iter().all(|z| z.abs() < 3.5), "{of_mixed:?}");
}

/// What is as large as a head and points where all heads do is a part of it all.
#[test]
fn all_heads_a_little_smaller_lie_between_the_whole_and_nothing() {
    let (windows, at) = some_windows();
    let ablation = Ablation::new(&remaining().unwrap(), &windows, &at).unwrap();
    let heads = ablation.heads().unwrap();
    let right = right(ablation);
    let (smaller, all) = (right.smaller(&heads).unwrap(), right.all().unwrap());
    assert!(0.0 < smaller && smaller < all, "{smaller}, {all}");
    let still = [(0.0, 0.0); 8];
    assert!(right.smaller(&still).unwrap() < 1e-9);
}

//! What gets no gradient.

use attention::{Linear, Mask, Matrix};
use gradients::{Gradients, LayerPass, Optimiser, Sgd, mean_squared_error};
use lessons::the_backward_pass::Wish;
use lessons::the_backward_pass::ways::{projections, with};

use crate::quote::{assert_quote, bound, short, values};

#[test]
fn what_cannot_learn() {
    let wish = Wish::new().unwrap();
    let layer = wish.layer();
    let d = wish.gradients(&layer).unwrap();
    let of_bias = |d: &Linear| d.bias.as_ref().unwrap().amax();
    let (of_keys, of_queries) = (of_bias(&d.d_w_k), of_bias(&d.d_w_q));
    println!("key bias {of_keys:e}, query bias {of_queries:e}");

    // A head whose rows of W^O are zero.
    let (silent, width) = (6, 32);
    let mut all = projections(&layer);
    all[3].weight.rows_mut(silent * width, width).fill(0.0);
    let mut asleep = with(&layer, all.clone()).unwrap();
    let head = |d: &Gradients| {
        d.per_head(layer.parameters().dims()).unwrap().heads()[silent].clone()
    };
    let size = |d: &Gradients| {
        let head = head(d);
        let weights = [&head.w_q, &head.w_k, &head.w_v].map(|w| w.weight.norm());
        weights.into_iter().fold(0.0, f64::max)
    };
    let rows = |d: &Gradients| d.d_w_o.weight.rows(silent * width, width).norm();
    let before = wish.gradients(&asleep).unwrap();
    assert_eq!(size(&before), 0.0);
    Sgd { lr: 1.0 }.step_layer(&mut asleep, &before).unwrap();
    let after = wish.gradients(&asleep).unwrap();
    assert!(size(&after) > 0.0);

    // And whose values are zero too.
    let first = silent * width;
    all[2].weight.columns_mut(first, width).fill(0.0);
    all[2].bias.as_mut().unwrap().columns_mut(first, width).fill(0.0);
    let dead = wish.gradients(&with(&layer, all).unwrap()).unwrap();
    assert_eq!((size(&dead), rows(&dead)), (0.0, 0.0));

    let said = [
        ("query_bias", short(of_queries)),
        ("key_bias_bound", bound(of_keys, 1e-15)),
        ("silent", silent.to_string()),
        ("silent_w_o", short(rows(&before))),
        ("silent_before", size(&before).to_string()),
    ];
    assert_quote!("the_backward_pass_zero", values(&said));
}

#[test]
fn a_query_that_may_attend_to_nothing_gets_zeros() {
    let wish = Wish::new().unwrap();
    let layer = wish.layer();
    let nobody = Mask::Allowed(Matrix::from_fn(8, 8, |i, _| i != 3));
    let pass = LayerPass::forward(&layer, &wish.x, &wish.x, &wish.x, &nobody).unwrap();
    let d_empty =
        pass.backward(&mean_squared_error(pass.out(), &wish.target).unwrap().gradient);
    let d_empty = d_empty.unwrap();
    assert!(d_empty.d_query_key_value().unwrap()[0].row(3).iter().all(|&d| d == 0.0));
    for linear in d_empty.projections() {
        assert!(linear.weight.iter().all(|d| d.is_finite()));
    }
    assert!(d_empty.d_x().unwrap().iter().all(|d| d.is_finite()));
}

//! The gradients of the trained layer.

use anyhow::Result;
use attention::{Matrix, MultiHeadAttention, MultiplyAdds, SeedableRng, thousands};
use gradients::softmax_rows_backward;
use lessons::Args;
use lessons::gallery::draw;
use lessons::the_backward_pass::Wish;
use lessons::the_backward_pass::drawn::{HeadGradients, SHOWN};
use lessons::the_backward_pass::ways::{projections, slope, with};

use crate::quote::{assert_quote, below, bound, short, values};

#[test]
fn the_steepest_entry_of_w_q() {
    let wish = Wish::new().unwrap();
    let layer = wish.layer();
    let d = wish.gradients(&layer).unwrap();
    let of_w_q = &d.d_w_q.weight;
    let (row, column) = of_w_q.iamax_full();
    let gradient = of_w_q[(row, column)];
    let nudged = |h: f64| {
        let mut all = projections(&layer);
        all[0].weight[(row, column)] += h;
        wish.of(&with(&layer, all)?)
    };
    let off = (slope(nudged).unwrap() / gradient - 1.0).abs();
    below(off, 1e-7);

    let n_parameters = layer.parameter_count().total();
    let cost = MultiplyAdds::count(layer.dims(), wish.x.nrows(), wish.x.nrows());
    let cost = cost.unwrap().total();
    let quoted = [
        ("trained_loss", format!("{:.4}", wish.of(&layer).unwrap())),
        ("parameters", thousands(n_parameters)),
        ("passes", thousands(2 * n_parameters)),
        ("forward_cost", thousands(cost)),
        ("backward_cost", thousands(2 * cost)),
    ];
    assert_quote!("the_backward_pass_trained", values(&quoted));
}

/// What the figure of the row says: the right gradients sum to 0, the diagonal's do not.
#[test]
fn one_row_back_through_the_softmax() {
    let wish = Wish::new().unwrap();
    let HeadGradients { attn, d_attn, d_scores } = HeadGradients::new(&wish).unwrap();
    for row in d_scores.row_iter() {
        bound(row.sum(), 1e-15);
    }
    let diagonal = attn.zip_map(&d_attn, |a, d_a| a * (1.0 - a) * d_a);
    assert!(diagonal.row(SHOWN[1]).sum().abs() > 1e-4);
    let layer = wish.layer();
    blocked_keys_pass_nothing_on(&wish.pass(&layer).unwrap().0.attn()[0], &d_attn);
}

/// Nor does a row with one key: to the last digit.
fn blocked_keys_pass_nothing_on(maps: &[Matrix], d_attn: &Matrix) {
    for attn in maps {
        let d_scores = softmax_rows_backward(attn, d_attn.clone()).unwrap();
        for i in 0..8 {
            let zeros = (0..8).filter(|&j| d_scores[(i, j)] == 0.0).count();
            assert_eq!(zeros, if i == 0 { 8 } else { 7 - i }, "row {i}");
        }
    }
}

#[test]
fn the_figure_of_the_backward_pass_holds_these_gradients() {
    let wish = Wish::new().unwrap();
    let layer = wish.layer();
    let d = wish.gradients(&layer).unwrap();
    let figure = draw("backward-norms", &Args::default()).unwrap();
    let rows = &figure.tables()[0].rows;
    let drawn = |name: &str| {
        let row = rows.iter().find(|row| row[0] == name).unwrap();
        row[3].clone()
    };
    let [d_query, d_key, d_value] = d.d_query_key_value().unwrap();
    let held = [
        ("W^Q", d.d_w_q.weight.norm()),
        ("W^K", d.d_w_k.weight.norm()),
        ("W^V", d.d_w_v.weight.norm()),
        ("W^O", d.d_w_o.weight.norm()),
        ("x", d.d_x().unwrap().norm()),
        ("x, by way of the queries", d_query.norm()),
        ("x, by way of the keys", d_key.norm()),
        ("x, by way of the values", d_value.norm()),
    ];
    for (name, norm) in held {
        assert_eq!(drawn(name), short(norm), "{name}");
    }
    let quoted = [
        ("norm_w_v", drawn("W^V")),
        ("norm_w_q", drawn("W^Q")),
        ("norm_attn", drawn("A")),
        ("norm_scores", drawn("scores")),
        ("by_queries", drawn("x, by way of the queries")),
        ("by_keys", drawn("x, by way of the keys")),
        ("by_values", drawn("x, by way of the values")),
    ];
    assert_quote!("the_backward_pass_norms", values(&quoted));
}

#[test]
fn every_matrix_of_the_trained_pass_by_differences() {
    let wish = Wish::new().unwrap();
    let layer = wish.layer();
    let d = wish.gradients(&layer).unwrap();
    let rng = &mut attention::Rng::seed_from_u64(1);
    let mut check = |name: &str,
                     found: &Matrix,
                     moved: &dyn Fn(&Matrix) -> Result<f64>| {
        let direction = attention::random_matrix(found.nrows(), found.ncols(), 1.0, rng);
        let direction: Matrix = direction.normalize() * found.norm().min(1.0);
        // Half at random and half along the gradient itself: never near to zero.
        let direction: Matrix = direction + found.normalize();
        let (along, measured) =
            (found.dot(&direction), slope(|h| moved(&(&direction * h))).unwrap());
        let off = (along / measured - 1.0).abs();
        println!("{name}: {off:.1e}");
        below(off, 1e-7);
    };
    for (m, name) in ["W^Q", "W^K", "W^V", "W^O"].into_iter().enumerate() {
        let of = d.projections()[m];
        check(name, &of.weight, &|by| {
            let mut all = projections(&layer);
            all[m].weight += by;
            wish.of(&with(&layer, all)?)
        });
        if m == 1 {
            continue; // of the key bias both are zero
        }
        let bias = of.bias.as_ref().unwrap();
        let as_matrix = Matrix::from_row_slice(1, bias.len(), bias.as_slice());
        check(&name.replace('W', "b"), &as_matrix, &|by| {
            let mut all = projections(&layer);
            *all[m].bias.as_mut().unwrap() += by.row(0);
            wish.of(&with(&layer, all)?)
        });
    }
    let [d_query, d_key, d_value] = d.d_query_key_value().unwrap();
    let inputs = [
        ("x as query", d_query, [1.0, 0.0, 0.0]),
        ("x as key", d_key, [0.0, 1.0, 0.0]),
        ("x as value", d_value, [0.0, 0.0, 1.0]),
        ("x, all three together", &d.d_x().unwrap(), [1.0, 1.0, 1.0]),
    ];
    for (name, found, roles) in inputs {
        check(name, found, &|by| {
            let [q, k, v] = roles.map(|role| &wish.x + by * role);
            wish.loss(&layer, [&q, &k, &v])
        });
    }
}

//! What chapter 8 quotes.

use std::fmt::Write;

use attention::{
    LayerParameters, Linear, Mask, Matrix, MultiHeadAttention, MultiplyAdds,
    PackedParameters, SeedableRng, max_abs_diff, softmax_rows, thousands,
};
use fused_heads::{FusedAttention, FusedPass};
use gradients::{
    Gradients, InputGradients, LinearGradients, Optimiser, Pass, Sgd, cross_entropy,
    linear_backward, mean_squared_error, softmax_rows_backward,
};
use lessons::ch08::{
    ADAM_RATE, N_SENTENCES, N_STEPS, RATE, START, Task, fresh_layer, optimisers, train,
    two_lenses,
};
use lessons::{Args, draw};
use pretrained::minilm;

use crate::cases::assert_close;

fn lines(values: &[(&str, String)]) -> String {
    let lines: Vec<String> =
        values.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    lines.join("\n")
}

/// Three digits that count.
fn short(x: f64) -> String {
    let digits = (2 - x.abs().log10().floor() as i32).max(0) as usize;
    format!("{x:.digits$}")
}

/// The trained layer reads a sentence causally and is asked for what it says when it
/// looks both ways.
struct Wish {
    parameters: LayerParameters,
    tokens: Vec<String>,
    x: Matrix,
    target: Matrix,
}

impl Wish {
    fn new() -> Self {
        let trained = minilm().unwrap();
        let sentence = trained.sentence("bank_loan").unwrap().clone();
        Self {
            parameters: trained.parameters.clone(),
            tokens: sentence.tokens,
            x: sentence.input,
            target: sentence.output,
        }
    }

    fn layer(&self) -> FusedAttention {
        FusedAttention::new(&self.parameters)
    }

    fn loss(&self, layer: &FusedAttention, [query, key, value]: [&Matrix; 3]) -> f64 {
        let seen = layer.forward(query, key, value, &Mask::Causal).unwrap();
        mean_squared_error(&seen.out, &self.target).unwrap().value
    }

    fn of(&self, layer: &FusedAttention) -> f64 {
        self.loss(layer, [&self.x; 3])
    }

    fn gradients(&self, layer: &FusedAttention) -> Gradients {
        let x = &self.x;
        let pass = Pass::forward(layer, x, x, x, &Mask::Causal).unwrap();
        let loss = mean_squared_error(pass.out(), &self.target).unwrap();
        pass.backward(&loss.gradient).unwrap()
    }
}

/// The four projections of a layer, to be changed and put together again.
fn projections(layer: &FusedAttention) -> [Linear; 4] {
    layer.parameters().clone().into_projections()
}

/// A layer of other projections of the same sizes.
fn with(layer: &FusedAttention, projections: [Linear; 4]) -> FusedAttention {
    let packed = PackedParameters::new(layer.dims(), projections);
    FusedAttention::from_packed(packed.unwrap())
}

#[test]
fn one_parameter_nudged() {
    let wish = Wish::new();
    let layer = wish.layer();
    let d = wish.gradients(&layer);
    let of_w_q = &d.d_w_q.weight;
    let (row, column) = of_w_q.iamax_full();
    let gradient = of_w_q[(row, column)];
    let nudged = |h: f64| {
        let mut all = projections(&layer);
        all[0].weight[(row, column)] += h;
        wish.of(&with(&layer, all))
    };

    let heading = ["nudge h", "loss at +h", "loss at −h", "difference / 2h", "off by"];
    let mut text = format!(
        "{:>8}  {:>12}  {:>12}  {:>15}  {:>11}\n",
        heading[0], heading[1], heading[2], heading[3], heading[4]
    );
    let quotient = |h: f64| (nudged(h) - nudged(-h)) / (2.0 * h);
    for (h, bound) in [(1.0, None), (0.1, None), (0.01, None), (1e-4, Some(1e-7))] {
        let off = (quotient(h) / gradient - 1.0).abs();
        let told = match bound {
            None => format!("{off:.1e}"),
            Some(bound) => {
                assert!(off < bound, "off by {off:e} at {h}");
                format!("below {bound:.0e}")
            }
        };
        let [up, down] = [nudged(h), nudged(-h)];
        let slope = quotient(h);
        writeln!(text, "{h:>8}  {up:>12.9}  {down:>12.9}  {slope:>15.9}  {told:>11}")
            .unwrap();
    }
    write!(text, "{:>8}  {:>12}  {:>12}  {gradient:>15.9}", "gradient", "", "").unwrap();
    insta::assert_snapshot!("ch08_nudge", text);

    // So small a nudge drowns in the last digits of the loss.
    let tiny = [1e-12, 2e-12, 3e-12, 5e-12, 7e-12];
    let off = tiny.map(|h| (quotient(h) / gradient - 1.0).abs());
    println!("off by {off:?} with nudges of {tiny:?}");
    assert!(off.iter().any(|&off| off > 1e-4), "{off:?}");

    let n_parameters = layer.parameter_count().total();
    let head = column / layer.dims().d_k();
    let cost = MultiplyAdds::count(layer.dims(), wish.x.nrows(), wish.x.nrows())
        .unwrap()
        .total();
    let values = [
        ("loss", format!("{:.4}", wish.of(&layer))),
        ("row", row.to_string()),
        ("column", column.to_string()),
        ("head", head.to_string()),
        ("gradient", short(gradient).replace('-', "−")),
        ("parameters", thousands(n_parameters)),
        ("passes", thousands(2 * n_parameters)),
        ("forward_cost", thousands(cost)),
        ("backward_cost", thousands(2 * cost)),
        ("n_tokens", wish.x.nrows().to_string()),
        ("numbers", thousands(wish.x.len())),
    ];
    insta::assert_snapshot!("ch08_nudge_values", lines(&values));
}

#[test]
fn one_row_back_through_the_softmax() {
    let wish = Wish::new();
    let layer = wish.layer();
    let pass = Pass::self_attend(&layer, &wish.x, &Mask::Causal).unwrap();
    let loss = mean_squared_error(pass.out(), &wish.target).unwrap();
    let w_o = layer.parameters().w_o();
    let d_concat = linear_backward(w_o, pass.concat(), &loss.gradient).unwrap().d_x;
    let v = &pass.fused().v;
    let (head, query, n_keys) = (6, 3, 4); // "approved" and what is before it
    let attn = &pass.attn()[0][head];
    let columns = |m: &Matrix| m.columns(head * 32, 32).into_owned();
    let d_attn = columns(&d_concat) * columns(v).transpose();
    let d_scores = softmax_rows_backward(attn, d_attn.clone()).unwrap();
    let dot = attn.row(query).dot(&d_attn.row(query));

    // A millionth is a good unit for these gradients.
    let heading = ["key", "share a", "d_a", "d_a − dot", "d_s", "a (1 − a) d_a"];
    let mut text = format!(
        "{:<8}  {:>7}  {:>7}  {:>9}  {:>7}  {:>13}\n",
        heading[0], heading[1], heading[2], heading[3], heading[4], heading[5]
    );
    let micro = |x: f64| format!("{:.1}", x * 1e6);
    let mut wrong_sum = 0.0;
    for key in 0..n_keys {
        let (a, d_a) = (attn[(query, key)], d_attn[(query, key)]);
        let wrong = a * (1.0 - a) * d_a;
        wrong_sum += wrong;
        writeln!(
            text,
            "{:<8}  {a:>7.3}  {:>7}  {:>9}  {:>7}  {:>13}",
            wish.tokens[key],
            micro(d_a),
            micro(d_a - dot),
            micro(d_scores[(query, key)]),
            micro(wrong)
        )
        .unwrap();
    }
    let sum = d_scores.row(query).sum();
    assert!(sum.abs() < 1e-15, "{sum:e}");
    let zero = micro(sum).replace('-', "");
    write!(
        text,
        "{:<8}  {:>7.3}  {:>7}  {:>9}  {zero:>7}  {:>13}",
        "sum",
        attn.row(query).sum(),
        "",
        "",
        micro(wrong_sum)
    )
    .unwrap();
    insta::assert_snapshot!("ch08_row", text);

    // What is blocked, and a row with one key, pass nothing on, to the last digit.
    for attn in &pass.attn()[0] {
        let d_scores = softmax_rows_backward(attn, d_attn.clone()).unwrap();
        for i in 0..8 {
            let zeros = (0..8).filter(|&j| d_scores[(i, j)] == 0.0).count();
            assert_eq!(zeros, if i == 0 { 8 } else { 7 - i }, "row {i}");
        }
    }
    let values = [
        ("row_head", head.to_string()),
        ("row_query", wish.tokens[query].clone()),
        ("dot", micro(dot)),
    ];
    insta::assert_snapshot!("ch08_row_values", lines(&values));
}

#[test]
fn the_jacobian_that_is_not_made() {
    let mut text = format!(
        "{:>6}  {:>5}  {:>13}  {:>19}  {:>16}\n",
        "tokens", "heads", "maps together", "Jacobians together", "in f64"
    );
    for (n, h) in [(8, 12), (30, 8), (100, 8), (1000, 8)] {
        let (maps, jacobians): (usize, usize) = (h * n * n, h * n * n * n);
        let bytes = match 8 * jacobians {
            large if large >= 1_000_000_000 => format!("{} GB", large / 1_000_000_000),
            middle if middle >= 1_000_000 => format!("{:.1} MB", middle as f64 / 1e6),
            small => format!("{} kB", small / 1000),
        };
        let [maps, jacobians] = [maps, jacobians].map(thousands);
        writeln!(text, "{n:>6}  {h:>5}  {maps:>13}  {jacobians:>19}  {bytes:>16}")
            .unwrap();
    }
    insta::assert_snapshot!("ch08_jacobian", text.trim_end());
}

#[test]
fn what_cannot_learn() {
    let wish = Wish::new();
    let layer = wish.layer();
    let d = wish.gradients(&layer);
    let of_bias = |d: &Linear| d.bias.as_ref().unwrap().amax();
    let (of_keys, of_queries) = (of_bias(&d.d_w_k), of_bias(&d.d_w_q));
    println!("key bias {of_keys:e}, query bias {of_queries:e}");
    assert!(of_keys < 1e-15, "{of_keys:e}");

    // A layer that begins without a key bias learns the same, step by step.
    let task = Task::new(1).unwrap();
    let run = |key_bias: bool| {
        let mut layer = fresh_layer(START).unwrap();
        if !key_bias {
            let mut all = projections(&layer);
            all[1].bias.as_mut().unwrap().fill(0.0);
            layer = with(&layer, all);
        }
        let start = layer.parameters().w_k().bias.clone().unwrap();
        let mut descent = Sgd { lr: RATE };
        let losses = train(&mut layer, &task, &mut descent).unwrap();
        let moved = (layer.parameters().w_k().bias.as_ref().unwrap() - start).amax();
        (losses, moved)
    };
    let ((with_bias, moved), (without, _)) = (run(true), run(false));
    let apart = with_bias.iter().zip(&without).map(|(a, b)| (a - b).abs());
    let apart = apart.fold(0.0, f64::max);
    println!("with and without a key bias: losses {apart:e} apart; it moved {moved:e}");
    assert_close("losses with and without a key bias", apart, 1e-12);
    assert_close("the key bias before and after training", moved, 1e-12);

    // A head whose rows of W^O are zero.
    let (silent, width) = (6, 32);
    let mut all = projections(&layer);
    all[3].weight.rows_mut(silent * width, width).fill(0.0);
    let mut asleep = with(&layer, all.clone());
    let head = |d: &Gradients| d.per_head(layer.dims()).unwrap().heads()[silent].clone();
    let size = |d: &Gradients| {
        let head = head(d);
        let weights = [&head.w_q, &head.w_k, &head.w_v].map(|w| w.weight.norm());
        weights.into_iter().fold(0.0, f64::max)
    };
    let rows = |d: &Gradients| d.d_w_o.weight.rows(silent * width, width).norm();
    let before = wish.gradients(&asleep);
    assert_eq!(size(&before), 0.0);
    Sgd { lr: 1.0 }.step_layer(&mut asleep, &before).unwrap();
    let after = wish.gradients(&asleep);
    assert!(size(&after) > 0.0);

    // And whose values are zero too.
    let values = silent * width;
    all[2].weight.columns_mut(values, width).fill(0.0);
    all[2].bias.as_mut().unwrap().columns_mut(values, width).fill(0.0);
    let dead = wish.gradients(&with(&layer, all));
    assert_eq!((size(&dead), rows(&dead)), (0.0, 0.0));

    // A query that may attend to nothing.
    let nobody = Mask::Allowed(Matrix::from_fn(8, 8, |i, _| i != 3));
    let x = &wish.x;
    let pass = Pass::forward(&layer, x, x, x, &nobody).unwrap();
    let d_empty =
        pass.backward(&mean_squared_error(pass.out(), &wish.target).unwrap().gradient);
    let d_empty = d_empty.unwrap();
    let [d_query, ..] = d_empty.d_query_key_value().unwrap();
    assert!(d_query.row(3).iter().all(|&d| d == 0.0));
    for linear in d_empty.projections() {
        assert!(linear.weight.iter().all(|d| d.is_finite()));
    }
    assert!(d_empty.d_x().unwrap().iter().all(|d| d.is_finite()));

    let values = [
        ("query_bias", short(of_queries)),
        ("key_bias_bound", "10⁻¹⁵".into()),
        ("losses_bound", "10⁻¹²".into()),
        ("silent", silent.to_string()),
        ("silent_w_o", short(rows(&before))),
        ("silent_before", "0".into()),
        ("silent_after", short(size(&after))),
    ];
    insta::assert_snapshot!("ch08_zero", lines(&values));
}

#[test]
fn the_figure_of_the_backward_pass_holds_these_gradients() {
    let wish = Wish::new();
    let layer = wish.layer();
    let d = wish.gradients(&layer);
    let figure = draw("way-back", &Args::default()).unwrap();
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
    let values = [
        ("norm_w_v", drawn("W^V")),
        ("norm_w_q", drawn("W^Q")),
        ("norm_attn", drawn("A")),
        ("norm_scores", drawn("scores")),
        ("by_queries", drawn("x, by way of the queries")),
        ("by_keys", drawn("x, by way of the keys")),
        ("by_values", drawn("x, by way of the values")),
    ];
    insta::assert_snapshot!("ch08_way_back", lines(&values));
}

/// Central differences of fourth order, of f at 0.
fn slope(f: impl Fn(f64) -> f64) -> f64 {
    let h = 1e-3;
    (8.0 * (f(h) - f(-h)) - (f(2.0 * h) - f(-2.0 * h))) / (12.0 * h)
}

#[test]
fn every_matrix_of_the_trained_pass_by_differences() {
    let wish = Wish::new();
    let layer = wish.layer();
    let d = wish.gradients(&layer);
    let rng = &mut attention::Rng::seed_from_u64(1);
    let mut text = format!("{:<22}  {:<10}  relative error\n", "gradient of", "shape");
    let mut held = |name: &str, found: &Matrix, moved: &dyn Fn(&Matrix) -> f64| {
        let direction = attention::random_matrix(found.nrows(), found.ncols(), 1.0, rng);
        let direction: Matrix = direction.normalize() * found.norm().min(1.0);
        // Half at random and half along the gradient itself: never near to zero.
        let direction: Matrix = direction + found.normalize();
        let (along, measured) =
            (found.dot(&direction), slope(|h| moved(&(&direction * h))));
        let off = (along / measured - 1.0).abs();
        println!("{name}: {off:.1e}");
        assert!(off < 1e-7, "{name}: {off:e}");
        let shape = format!("{:?}", found.shape());
        writeln!(text, "{name:<22}  {shape:<10}  below 1e-7").unwrap();
    };
    for (m, name) in ["W^Q", "W^K", "W^V", "W^O"].into_iter().enumerate() {
        let of = d.projections()[m];
        held(name, &of.weight, &|by| {
            let mut all = projections(&layer);
            all[m].weight += by;
            wish.of(&with(&layer, all))
        });
        if m == 1 {
            continue; // of the key bias both are zero
        }
        let bias = of.bias.as_ref().unwrap();
        let as_matrix = Matrix::from_row_slice(1, bias.len(), bias.as_slice());
        held(&name.replace('W', "b"), &as_matrix, &|by| {
            let mut all = projections(&layer);
            *all[m].bias.as_mut().unwrap() += by.row(0);
            wish.of(&with(&layer, all))
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
        held(name, found, &|by| {
            let [q, k, v] = roles.map(|role| &wish.x + by * role);
            wish.loss(&layer, [&q, &k, &v])
        });
    }
    insta::assert_snapshot!("ch08_check", text.trim_end());
}

#[test]
fn what_was_said_minus_what_is_right() {
    let logits = Matrix::from_row_slice(1, 3, &[2.0, 1.0, -1.0]);
    let right = 1;
    let loss = cross_entropy(&logits, &[right]).unwrap();
    let p = softmax_rows(logits.clone());
    let mut text =
        format!("{:<9}  {:>5}  {:>6}  {:>8}\n", "class", "logit", "p", "gradient");
    for class in 0..3 {
        let name = format!("{class}{}", if class == right { ", right" } else { "" });
        let (logit, p, d) = (logits[class], p[class], loss.gradient[class]);
        writeln!(text, "{name:<9}  {logit:>5.1}  {p:>6.3}  {d:>8.3}").unwrap();
    }
    write!(text, "loss = −ln {:.3} = {:.3}", p[right], loss.value).unwrap();
    insta::assert_snapshot!("ch08_cross_entropy", text);
}

/// What people do on the way back.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Way {
    Right,
    NoScale,
    Elementwise,
    XOnce,
    BiasMean,
    WoNotTurned,
    ANotTurned,
    InPlace,
}

/// The way back of self-attention without a mask, done in one of these ways. It stands
/// beside the crate's and not in it: none of the wrong ones can be had there.
fn back(layer: &FusedAttention, task: &Task, way: Way) -> Gradients {
    let (x, n_sequences) = (task.x.tokens(), task.x.n_sequences());
    let pass =
        Pass::forward_batch(layer, &task.x, &task.x, &task.x, &[Mask::None]).unwrap();
    let loss = mean_squared_error(pass.out(), &task.target).unwrap();
    let (n, p, dims) = (task.x.n_tokens(), layer.parameters(), layer.dims());
    let (d_k, d_v) = (dims.d_k(), dims.d_v());

    let linear = |w: &Linear, x: &Matrix, d_y: &Matrix| {
        let LinearGradients { mut d_linear, d_x } = linear_backward(w, x, d_y).unwrap();
        if way == Way::BiasMean {
            *d_linear.bias.as_mut().unwrap() /= x.nrows() as f64;
        }
        (d_linear, d_x)
    };
    let (d_w_o, mut d_concat) = linear(p.w_o(), pass.concat(), &loss.gradient);
    if way == Way::WoNotTurned {
        d_concat = &loss.gradient * &p.w_o().weight;
    }
    if way == Way::InPlace {
        let moved = &p.w_o().weight - &d_w_o.weight * RATE;
        d_concat = &loss.gradient * moved.transpose();
    }

    let FusedPass { q, k, v, .. } = pass.fused();
    let [mut dq, mut dk, mut dv] = [q, k, v].map(|m| Matrix::zeros(m.nrows(), m.ncols()));
    for s in 0..n_sequences {
        for (i, attn) in pass.attn()[s].iter().enumerate() {
            let of_k = |m: &Matrix| m.view((s * n, i * d_k), (n, d_k)).into_owned();
            let of_v = |m: &Matrix| m.view((s * n, i * d_v), (n, d_v)).into_owned();
            let d_head = of_v(&d_concat);
            let d_attn = &d_head * of_v(v).transpose();
            let turned =
                if way == Way::ANotTurned { attn.clone() } else { attn.transpose() };
            dv.view_mut((s * n, i * d_v), (n, d_v)).copy_from(&(turned * &d_head));
            let d_scores = match way {
                Way::Elementwise => attn.zip_map(&d_attn, |a, d_a| a * (1.0 - a) * d_a),
                _ => softmax_rows_backward(attn, d_attn).unwrap(),
            };
            let scale = if way == Way::NoScale { 1.0 } else { (d_k as f64).sqrt() };
            let d_products = d_scores / scale;
            dq.view_mut((s * n, i * d_k), (n, d_k)).copy_from(&(&d_products * of_k(k)));
            let of_keys = d_products.transpose() * of_k(q);
            dk.view_mut((s * n, i * d_k), (n, d_k)).copy_from(&of_keys);
        }
    }
    let (d_w_q, d_query) = linear(p.w_q(), x, &dq);
    let (d_w_k, mut d_key) = linear(p.w_k(), x, &dk);
    let (d_w_v, mut d_value) = linear(p.w_v(), x, &dv);
    if way == Way::XOnce {
        d_key.fill(0.0);
        d_value.fill(0.0);
    }
    let d_inputs = InputGradients::CrossAttention { d_query, d_key, d_value };
    Gradients { d_w_q, d_w_k, d_w_v, d_w_o, d_inputs }
}

/// Weights of Q, K, V and O, biases of Q, V and O end to end, and x.
fn compared(d: &Gradients) -> [Matrix; 6] {
    let [q, k, v, o] = d.projections().map(|linear| linear.weight.clone());
    let of = |linear: &Linear| linear.bias.as_ref().unwrap().as_slice().to_vec();
    let biases = [of(&d.d_w_q), of(&d.d_w_v), of(&d.d_w_o)].concat();
    [q, k, v, o, Matrix::from_row_slice(1, biases.len(), &biases), d.d_x().unwrap()]
}

/// All of them by central differences, number for number.
fn by_differences(layer: &FusedAttention, task: &Task) -> [Matrix; 6] {
    let of_projection = |m: usize, bias: bool| {
        let all = projections(layer);
        let n = if bias { all[m].d_out() } else { all[m].weight.len() };
        let nudged = |at: usize, h: f64| {
            let mut all = all.clone();
            let linear = &mut all[m];
            match bias {
                true => linear.bias.as_mut().unwrap()[at] += h,
                false => linear.weight[at] += h,
            }
            task.loss(&with(layer, all)).unwrap()
        };
        (0..n).map(|at| slope(|h| nudged(at, h))).collect::<Vec<f64>>()
    };
    let weight = |m| Matrix::from_column_slice(4, 4, &of_projection(m, false));
    let biases = [0, 2, 3].map(|m| of_projection(m, true)).concat();
    let x = task.x.tokens();
    let of_x = (0..x.len()).map(|at| {
        slope(|h| {
            let mut moved = x.clone();
            moved[at] += h;
            let x = attention::Batch::new(task.x.n_sequences(), moved).unwrap();
            let task = Task { x, target: task.target.clone() };
            task.loss(layer).unwrap()
        })
    });
    let of_x = Matrix::from_column_slice(x.nrows(), x.ncols(), &of_x.collect::<Vec<_>>());
    let biases = Matrix::from_row_slice(1, biases.len(), &biases);
    [weight(0), weight(1), weight(2), weight(3), biases, of_x]
}

#[test]
fn each_wrong_way_against_the_check() {
    let (task, start) = (Task::new(1).unwrap(), fresh_layer(START).unwrap());
    let differences = by_differences(&start, &task);
    let ways = [
        (Way::Right, "right"),
        (Way::NoScale, "no 1/√d_k"),
        (Way::Elementwise, "softmax: a (1 − a) d_a"),
        (Way::XOnce, "x by way of the queries alone"),
        (Way::BiasMean, "biases: mean over tokens"),
        (Way::WoNotTurned, "W^O not turned"),
        (Way::ANotTurned, "A not turned"),
        (Way::InPlace, "W^O moved before the rest"),
    ];
    let names = ["W^O", "W^V", "W^Q", "W^K", "biases", "x"];
    let mut text = format!("{:<29}", "");
    for name in names {
        write!(text, "  {name:>6}").unwrap();
    }
    writeln!(text, "  {:>10}", format!("loss, {N_STEPS}")).unwrap();
    let mut losses = Vec::new();
    for (way, name) in ways {
        let d = back(&start, &task, way);
        let [q, k, v, o, biases, x] = compared(&d);
        let [by_q, by_k, by_v, by_o, by_biases, by_x] = differences.each_ref();
        let pairs =
            [(o, by_o), (v, by_v), (q, by_q), (k, by_k), (biases, by_biases), (x, by_x)];
        write!(text, "{name:<29}").unwrap();
        let mut any_wrong = false;
        for (found, expected) in pairs {
            let off = (&found - expected).norm() / expected.norm();
            let told = if off < 1e-7 { "·".to_owned() } else { format!("{off:.2}") };
            any_wrong |= off >= 1e-7;
            let between = (1e-7..=0.005).contains(&off);
            assert!(!between, "{name}: {off:e} is neither");
            write!(text, "  {told:>6}").unwrap();
        }
        assert_eq!(any_wrong, way != Way::Right, "{name}");

        let mut layer = start.clone();
        for _ in 0..N_STEPS {
            let d = back(&layer, &task, way);
            Sgd { lr: RATE }.step_layer(&mut layer, &d).unwrap();
        }
        let loss = task.loss(&layer).unwrap();
        println!("{name}: loss {loss:e}");
        losses.push(format!("{loss:.4}"));
        writeln!(text, "  {loss:>10.4}").unwrap();
    }
    insta::assert_snapshot!("ch08_wrong", text.trim_end());
    let as_good = losses[1..].iter().filter(|loss| **loss == losses[0]).count();
    let values = [
        ("right_loss", losses[0].clone()),
        ("as_good", as_good.to_string()),
        ("n_wrong", (losses.len() - 1).to_string()),
    ];
    insta::assert_snapshot!("ch08_wrong_values", lines(&values));

    // What is called right here is what the crate does.
    let pass =
        Pass::forward_batch(&start, &task.x, &task.x, &task.x, &[Mask::None]).unwrap();
    let loss = mean_squared_error(pass.out(), &task.target).unwrap();
    let crates = compared(&pass.backward(&loss.gradient).unwrap());
    for (a, b) in compared(&back(&start, &task, Way::Right)).iter().zip(&crates) {
        assert_close("right and the crate", max_abs_diff(a, b).unwrap(), 1e-14);
    }
}

#[test]
fn a_tiny_task_learned() {
    let (task, other) = (Task::new(1).unwrap(), Task::new(2).unwrap());
    let figure = draw("loss-curves", &Args::default()).unwrap();
    let lenses = FusedAttention::new(&two_lenses().unwrap());
    let mut values = Vec::new();
    let bounds = [("descent", 1e-3), ("adam", 1e-9)];
    for (nth, (name, mut optimiser)) in optimisers().into_iter().enumerate() {
        let mut layer = fresh_layer(START).unwrap();
        let losses = train(&mut layer, &task, &mut *optimiser).unwrap();
        let drawn = &figure.tables()[0].rows[0][nth + 1];
        assert_eq!(*drawn, format!("{:.4}", losses[0]), "{name}");
        let (last, unseen) = (losses[N_STEPS - 1], other.loss(&layer).unwrap());
        println!("{name}: {last:e}, other sentences {unseen:e}");
        let (short_name, bound) = bounds[nth];
        assert!(last < bound && unseen < bound, "{name}: {last:e}, {unseen:e}");

        // The same answers, from other parameters.
        let (found, set) = (projections(&layer), projections(&lenses));
        let apart = [0, 1, 2, 3].map(|m| (&found[m].weight - &set[m].weight).amax());
        let apart = apart.into_iter().fold(0.0, f64::max);
        let mut push = |what: &str, value: String| {
            values.push((format!("{short_name}_{what}"), value));
        };
        push("first", format!("{:.2}", losses[0]));
        push("100", format!("{:.3}", losses[100]));
        push("bound", format!("{bound:.0e}"));
        push("apart", format!("{apart:.1}"));
    }

    let (n_starts, enough) = (12, 0.01);
    let mut reached = [0; 2];
    let mut neither = 0;
    let mut stuck = Vec::new();
    for seed in 0..n_starts {
        let ends = optimisers().map(|(_, mut optimiser)| {
            let mut layer = fresh_layer(seed).unwrap();
            train(&mut layer, &task, &mut *optimiser).unwrap();
            task.loss(&layer).unwrap()
        });
        println!("start {seed}: {ends:?}");
        for (reached, end) in reached.iter_mut().zip(ends) {
            *reached += usize::from(end < enough);
        }
        stuck.extend(ends.into_iter().filter(|&end| end >= enough));
        neither += usize::from(ends.iter().all(|&end| end >= enough));
    }
    let named = [
        ("steps", N_STEPS.to_string()),
        ("sentences", N_SENTENCES.to_string()),
        ("words", task.x.tokens().nrows().to_string()),
        ("starts", n_starts.to_string()),
        ("enough", enough.to_string()),
        ("descent_reached", reached[0].to_string()),
        ("adam_reached", reached[1].to_string()),
        ("neither", neither.to_string()),
        ("stuck_least", short(stuck.iter().copied().fold(f64::INFINITY, f64::min))),
        ("stuck_most", short(stuck.iter().copied().fold(0.0, f64::max))),
        ("adam_rate", ADAM_RATE.to_string()),
        ("rate", RATE.to_string()),
        (
            "tiny_parameters",
            fresh_layer(0).unwrap().parameter_count().total().to_string(),
        ),
    ];
    let values = values.iter().map(|(name, value)| (name.as_str(), value.clone()));
    let all: Vec<(&str, String)> = values.chain(named).collect();
    insta::assert_snapshot!("ch08_training", lines(&all));
}

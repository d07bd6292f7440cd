//! A layer that forgets the permute: another function, which can be trained as well.

use attention::{
    Attended, Batch, InputGradients, Linear, Mask, Matrix, MultiHeadAttention,
    attend_head, max_abs_diff, median,
};
use fused_heads::FusedAttention;
use gradients::{
    Adam, Gradients, LayerPass, LinearGradients, Optimiser, Sgd, attend_backward,
    linear_backward, mean_squared_error,
};
use lessons::learning::{ADAM_RATE, N_STEPS, Task, fresh_layer};
use lessons::one_matrix_many_heads::{merged_without_transpose, view_without_transpose};
use model_files::minilm;

use crate::quote::{Table, assert_quote, bound, values};

const N_STARTS: u64 = 12;
/// Below this loss a layer has learned its task.
const ENOUGH: f64 = 0.01;

/// Q, K and V of one sequence, cut into heads by `view(h, n, d_k)` alone.
fn cut(layer: &FusedAttention, x: &Matrix) -> [Vec<Matrix>; 3] {
    let (p, h) = (layer.parameters(), layer.dims().n_heads());
    [p.w_q(), p.w_k(), p.w_v()].map(|w| view_without_transpose(&w.forward(x).unwrap(), h))
}

/// The heads of one sequence, merged as they were cut, and their maps.
fn mixed(layer: &FusedAttention, x: &Matrix) -> Attended {
    let [q, k, v] = cut(layer, x);
    let heads = (0..q.len()).map(|i| {
        let [q, k, v] = [&q[i], &k[i], &v[i]].map(|m| m.as_view());
        attend_head(q, k, v, None, &Mask::None).unwrap()
    });
    let (out, attn): (Vec<_>, Vec<_>) = heads.map(|head| (head.out, head.attn)).unzip();
    Attended { out: merged_without_transpose(&out), attn }
}

/// One matrix of what each sequence gives.
fn stacked(x: &Batch, of: impl Fn(usize) -> Matrix) -> Matrix {
    let all: Vec<Matrix> = (0..x.n_sequences()).map(of).collect();
    Batch::stack(&all).unwrap().tokens().clone()
}

fn rows(of: &Matrix, x: &Batch, s: usize) -> Matrix {
    of.rows(s * x.n_tokens(), x.n_tokens()).into_owned()
}

/// The loss of a layer that forgets the permute, and its gradients.
fn pass(layer: &FusedAttention, task: &Task) -> (f64, Gradients) {
    let (x, p, h) = (&task.x, layer.parameters(), layer.dims().n_heads());
    let seen: Vec<Attended> =
        (0..x.n_sequences()).map(|s| mixed(layer, &rows(x.tokens(), x, s))).collect();
    let concat = stacked(x, |s| seen[s].out.clone());
    let out = p.w_o().forward(&concat).unwrap();
    let loss = mean_squared_error(&out, &task.target).unwrap();

    let back = |w: &Linear, x: &Matrix, d_y: &Matrix| linear_backward(w, x, d_y).unwrap();
    let LinearGradients { d_linear: d_w_o, d_x: d_concat } =
        back(p.w_o(), &concat, &loss.gradient);
    let of_heads: Vec<[Matrix; 3]> = (0..x.n_sequences())
        .map(|s| {
            let d_heads = view_without_transpose(&rows(&d_concat, x, s), h);
            let [q, k, v] = cut(layer, &rows(x.tokens(), x, s));
            let d: Vec<[Matrix; 3]> = (0..h)
                .map(|i| {
                    let [q, k, v] = [&q[i], &k[i], &v[i]].map(|m| m.as_view());
                    let d_head = d_heads[i].as_view();
                    attend_backward(q, k, v, &seen[s].attn[i], d_head).unwrap()
                })
                .collect();
            [0, 1, 2].map(|of| {
                let heads: Vec<Matrix> = d.iter().map(|d| d[of].clone()).collect();
                merged_without_transpose(&heads)
            })
        })
        .collect();
    let through = |of: usize, w: &Linear| {
        let LinearGradients { d_linear, d_x } =
            back(w, x.tokens(), &stacked(x, |s| of_heads[s][of].clone()));
        (d_linear, d_x)
    };
    let (d_w_q, d_query) = through(0, p.w_q());
    let (d_w_k, d_key) = through(1, p.w_k());
    let (d_w_v, d_value) = through(2, p.w_v());
    let d_inputs = InputGradients::CrossAttention { d_query, d_key, d_value };
    (loss.value, Gradients { d_w_q, d_w_k, d_w_v, d_w_o, d_inputs })
}

fn right(layer: &FusedAttention, task: &Task) -> (f64, Gradients) {
    let x = &task.x;
    let pass = LayerPass::forward_batch(layer, x, x, x, &[Mask::None]).unwrap();
    let loss = mean_squared_error(pass.out(), &task.target).unwrap();
    let gradients = pass.backward(&loss.gradient).unwrap();
    (loss.value, gradients)
}

type Pass = fn(&FusedAttention, &Task) -> (f64, Gradients);

/// The loss before the training and after it, from each start.
fn trained(pass: Pass, task: &Task) -> Vec<[f64; 2]> {
    let of_start = |seed| {
        let (mut layer, mut adam) = (fresh_layer(seed).unwrap(), Adam::new(ADAM_RATE));
        let first = pass(&layer, task).0;
        for _ in 0..N_STEPS {
            let (_, gradients) = pass(&layer, task);
            adam.step_layer(&mut layer, &gradients).unwrap();
        }
        [first, pass(&layer, task).0]
    };
    (0..N_STARTS).map(of_start).collect()
}

#[test]
fn a_layer_with_mixed_heads_learns_too() {
    let many = Task::new(1).unwrap();
    let one = Task {
        x: Batch::new(1, rows(many.x.tokens(), &many.x, 0)).unwrap(),
        target: rows(&many.target, &many.x, 0),
    };
    let mut table = Table::new(["", "heads split right", "permute forgotten"]);
    let mut quoted = vec![
        ("starts", N_STARTS.to_string()),
        ("steps", N_STEPS.to_string()),
        ("enough", ENOUGH.to_string()),
    ];
    for (name, task) in [("one sentence", &one), ("32 sentences", &many)] {
        let ends = [right as Pass, pass].map(|pass| trained(pass, task));
        println!("{name}: {ends:?}");
        let reached = ends.each_ref().map(|ends| {
            let n = ends.iter().filter(|[_, last]| *last < ENOUGH).count();
            format!("{n} of {N_STARTS}")
        });
        table.row([name, &reached[0], &reached[1]]);
        if task.x.n_sequences() > 1 {
            let middle = |of: usize| median(ends[1].iter().map(|ends| ends[of]));
            assert!(ends[1].iter().all(|[first, last]| last < first), "each loss falls");
            quoted.push(("first", format!("{:.2}", middle(0))));
            quoted.push(("mixed_last", format!("{:.2}", middle(1))));
        }
    }
    assert_quote!("questions_permute_trained", table.text());
    quoted.extend(moved());
    assert_quote!("questions_permute", values(&quoted));
}

/// How far the other outputs move when two tokens of the trained layer change places.
fn moved() -> [(&'static str, String); 2] {
    let trained = minilm().unwrap();
    let layer = FusedAttention::new(&trained.parameters);
    let x = &trained.sentence("pilot").unwrap().input;
    let mut swapped = x.clone();
    swapped.swap_rows(0, 1);
    let rest = |out: Matrix| out.rows(2, x.nrows() - 2).into_owned();
    let apart = |of: &dyn Fn(&Matrix) -> Matrix| {
        max_abs_diff(&rest(of(x)), &rest(of(&swapped))).unwrap()
    };
    let split = apart(&|x| layer.self_attend(x, &Mask::None).unwrap().out);
    let w_o = layer.parameters().w_o();
    let mixed = apart(&|x| w_o.forward(&mixed(&layer, x).out).unwrap());
    [
        ("right_moved", format!("less than {}", bound(split, 1e-12))),
        ("mixed_moved", format!("{mixed:.2}")),
    ]
}

/// Its gradients are those of the function that it computes.
#[test]
fn gradients_of_a_layer_with_mixed_heads() {
    let task = Task::new(1).unwrap();
    let (layer, h) = (fresh_layer(0).unwrap(), 1e-5);
    let (_, d) = pass(&layer, &task);
    let along = |h: f64| {
        let mut layer = layer.clone();
        Sgd { lr: -h }.step_layer(&mut layer, &d).unwrap();
        pass(&layer, &task).0
    };
    let measured = (along(h) - along(-h)) / (2.0 * h);
    let expected: f64 = d
        .projections()
        .iter()
        .map(|linear| {
            linear.weight.norm_squared()
                + linear.bias.as_ref().map_or(0.0, |bias| bias.norm_squared())
        })
        .sum();
    assert!((measured / expected - 1.0).abs() < 1e-6, "{measured} {expected}");
}

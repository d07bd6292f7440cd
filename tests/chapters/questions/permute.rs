//! A layer that forgets the permute: another function, which can be trained as well.

use std::fs;
use std::ops::Range;

use attention::{
    Attended, Batch, Dims, InputGradients, LayerParameters, Linear, Mask, Matrix,
    MultiHeadAttention, Rng, SeedableRng, attend_head, max_abs_diff, median,
    random_matrix,
};
use fused_heads::FusedAttention;
use gradients::{
    Adam, Gradients, LayerPass, LinearGradients, Optimiser, Sgd, attend_backward,
    linear_backward, mean_squared_error,
};
use lessons::learning::{ADAM_RATE, N_STEPS, Task, fresh_layer};
use lessons::one_matrix_many_heads::{merged_without_transpose, view_without_transpose};
use model_files::minilm;
use workshop::paths;

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

/// The check of the page: in which order the tokens are, and whose outputs must stay.
struct Check {
    order: Vec<usize>,
    stay: Range<usize>,
}

impl Check {
    /// The first and the last of so many tokens are exchanged, and those between them stay.
    fn of_ends(n: usize) -> Self {
        Self {
            order: [n - 1].into_iter().chain(1..n - 1).chain([0]).collect(),
            stay: 1..n - 1,
        }
    }

    /// As the page's lines in PyTorch have it, for so many heads.
    fn of_page(h: usize) -> Self {
        const LINES: &str = "\
moved = f(x[:, [-1, *range(1, h + 1), 0]]) - f(x)   # x: [batch, h + 2, d_model]
assert moved[:, 1:-1].abs().max() < 1e-5
";
        let page = paths::workspace().join("chapters/questions/permute-forgotten.md");
        assert!(fs::read_to_string(page).unwrap().contains(LINES), "{LINES}");
        Self::of_ends(h + 2)
    }

    /// How far the outputs move that must stay.
    fn moved(&self, x: &Matrix, of: impl Fn(&Matrix) -> Matrix) -> f64 {
        let x = x.rows(0, self.order.len()).into_owned();
        let reordered =
            Matrix::from_fn(x.nrows(), x.ncols(), |i, j| x[(self.order[i], j)]);
        let stay = |out: Matrix| out.rows(self.stay.start, self.stay.len()).into_owned();
        max_abs_diff(&stay(of(&x)), &stay(of(&reordered))).unwrap()
    }

    /// The same of a layer with its heads split right, and of one that forgets the permute.
    fn of_both(&self, layer: &FusedAttention, x: &Matrix) -> [f64; 2] {
        let w_o = layer.parameters().w_o();
        [
            self.moved(x, |x| layer.self_attend(x, &Mask::None).unwrap().out),
            self.moved(x, |x| w_o.forward(&mixed(layer, x).out).unwrap()),
        ]
    }
}

/// How far the outputs of the trained layer move that are between the ends of five tokens.
fn moved() -> [(&'static str, String); 2] {
    let trained = minilm().unwrap();
    let layer = FusedAttention::new(&trained.parameters);
    let x = &trained.sentence("pilot").unwrap().input;
    let [split, mixed] = Check::of_ends(5).of_both(&layer, x);
    [
        ("right_moved", format!("less than {}", bound(split, 1e-12))),
        ("mixed_moved", format!("{mixed:.2}")),
    ]
}

/// With any number of heads, the page's lines find the forgotten permute and let a right
/// layer pass. Five tokens find nothing if 5 divides the number of heads, each of which then
/// has pieces of one token. An even number of heads cuts four tokens after the second: to
/// exchange the first two then moves neither of the others, and finds nothing.
#[test]
fn the_lines_of_the_page_find_the_forgotten_permute() {
    const D_MODEL: usize = 240;
    let five = Check::of_ends(5);
    let four = Check { order: vec![1, 0, 2, 3], stay: 2..4 };
    for h in [2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 40] {
        let check = Check::of_page(h);
        let rng = &mut Rng::seed_from_u64(h as u64);
        let dims = Dims::new(D_MODEL, h).unwrap();
        let layer = FusedAttention::new(&LayerParameters::random(dims, true, rng));
        let n = check.order.len().max(five.order.len());
        let x: Matrix = random_matrix(n, D_MODEL, 1.0, rng);
        let [right, wrong] = check.of_both(&layer, &x);
        println!("{h} heads: {right:e} and {wrong:.3}");
        assert!(right < 1e-12, "{h} heads, split right: {right}");
        assert!(wrong > 0.05, "{h} heads, permute forgotten: {wrong}");
        let [_, unseen] = five.of_both(&layer, &x);
        assert_eq!(unseen == 0.0, h % 5 == 0, "{h} heads, five tokens: {unseen}");
        let [_, unseen] = four.of_both(&layer, &x);
        assert_eq!(unseen == 0.0, h % 2 == 0, "{h} heads, four tokens: {unseen}");
    }
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

//! The layer of two lenses in loops, per head and fused, step by step: live.

use anyhow::Result;
use attention::{
    Dims, Mask, Matrix, MultiHeadAttention, MultiplyAdds, max_abs_diff, thousands,
};
use figures::{Stage, StageGrid, StageOrder, stages};
use fused_heads::FusedAttention;
use per_head::{NaiveAttention, PerHeadAttention};

use super::{
    layer_with_split, meant, merged_without_transpose, standing, view_without_transpose,
};
use crate::a_lens_per_head::two_lenses;
use crate::live::{LiveFigure, LiveView, Question, live};
use crate::numbers::brief;
use crate::one_head::{WORDS, words};

/// Draws the three stages side by side.
pub(crate) const LIVE: LiveFigure<Set, Facts> =
    LiveFigure::new("three-stages", draw, QUESTIONS).still(|set| set.step = LAST);

const QUESTIONS: &[Question<Set, Facts>] = &[
    Question {
        ask: "Play it to the end. Which of the three takes the fewest multiply-adds?",
        is_answered: |set, _| set.step == LAST,
        answer: |set| set.step = LAST,
        found: "None: all make the same products of numbers, in another order.",
    },
    Question {
        ask: "Make an output wrong while every shape stays right, and play it to the end.",
        is_answered: |set, it| set.step == LAST && it.delta[2] > 1e-9,
        answer: |set| (set.step, set.forget) = (LAST, true),
        found: "Tokens and heads have changed places, and no shape says so: only a \
                comparison of numbers does.",
    },
];

/// The entries of Q: a step computes one, and after them those of the output.
const Q: usize = 12;
const LAST: usize = 2 * Q;

live! {
    struct Set {
        step: usize = "Step", slider([0, LAST], 1, 0).played();
        forget: bool = "Forget the transpose", switch(false);
    }

    struct Facts {
        /// How far each output is from that of the loops, at most.
        delta: [f64; 3],
        multiply_adds: [u64; 3],
        parameters: [usize; 3],
        /// How many entries of Q stand in another head, or in another token's row.
        n_strayed: usize,
    }
}

fn draw(set: &Set) -> Result<LiveView<Facts>> {
    let (x, parameters) = (words(), two_lenses()?);
    let all: [Box<dyn MultiHeadAttention>; 3] = [
        Box::new(NaiveAttention::new(parameters.clone())),
        Box::new(PerHeadAttention::new(parameters.clone())),
        Box::new(FusedAttention::new(&parameters)),
    ];
    let packed = parameters.pack();
    let out = |nth: usize| match (nth, set.forget) {
        (2, true) => {
            let (split, merge) = (view_without_transpose, merged_without_transpose);
            layer_with_split(&packed, &x, split, merge)
        }
        _ => Ok(all[nth].self_attend(&x, &Mask::None)?.out),
    };
    let outs = [out(0)?, out(1)?, out(2)?];
    let mut delta = [0.0; 3];
    for (delta, out) in delta.iter_mut().zip(&outs) {
        *delta = max_abs_diff(&outs[0], out)?;
    }
    let q = packed.w_q().forward(&x)?;
    let strayed = if set.forget { strayed(&q, packed.dims()) } else { vec![false; Q] };
    let facts = Facts {
        delta,
        multiply_adds: multiply_adds(packed.dims(), x.nrows())?,
        parameters: all.each_ref().map(|stage| stage.parameter_count().total()),
        n_strayed: strayed.iter().filter(|it| **it).count(),
    };
    let drawn = [0, 1, 2].map(|nth| {
        let strayed = if nth == 2 { strayed.clone() } else { vec![false; Q] };
        let wrong = [strayed, differs(&outs[nth], &outs[0])];
        stage(nth, [&q, &outs[nth]], wrong, &facts, set)
    });
    let title = match set.forget {
        false => "One layer in three stages: the same numbers, in another order",
        true => "Without the transpose every shape is right, and the output is wrong",
    };
    let figure = stages(title, &WORDS, &drawn, set.step)?;
    Ok(LiveView { figure, words: step_words(set, &facts), facts })
}

/// Which entries of Q a view without the transpose puts into another head or row.
fn strayed(q: &Matrix, dims: Dims) -> Vec<bool> {
    let addresses = super::addresses(q.nrows(), dims.d_model());
    let places = standing(&view_without_transpose(&addresses, dims.n_heads()));
    places.into_iter().enumerate().map(|(at, place)| place != meant(at, dims)).collect()
}

fn differs(a: &Matrix, b: &Matrix) -> Vec<bool> {
    let apart = (a - b).transpose(); // row by row
    apart.iter().map(|it| it.abs() > 1e-9).collect()
}

fn stage(
    nth: usize,
    [q, out]: [&Matrix; 2],
    wrong: [Vec<bool>; 2],
    facts: &Facts,
    set: &Set,
) -> Stage {
    let (name, at_once, [order, order_of_out]) = ORDERS[nth];
    let [wrong_q, wrong_out] = wrong;
    let mark = if out.shape() == words().shape() { "✓" } else { "✗" };
    let all = facts.multiply_adds[nth];
    let so_far = done(set.step, all, q.ncols());
    let delta = if set.step < LAST { "–".to_owned() } else { brief(facts.delta[nth]) };
    let facts = [
        ["multiply-adds".to_owned(), thousands(so_far)],
        ["parameters".to_owned(), thousands(facts.parameters[nth] as u64)],
        ["shape".to_owned(), format!("{:?} {mark}", out.shape())],
        ["max |Δ|".to_owned(), delta],
    ];
    let grid = |name, entries: &Matrix, order, is_wrong, d_k| {
        let entries = entries.clone();
        StageGrid { name, entries, order, is_wrong, d_k }
    };
    let grids = [
        grid("Q, all heads", q, (order, 0), wrong_q, Some(q.ncols() / 2)),
        grid("output", out, (order_of_out, Q), wrong_out, None),
    ];
    let button = match set.forget {
        false => ["forget=on", "forget the transpose"],
        true => ["forget=off", "transpose again"],
    };
    Stage {
        name,
        at_once,
        grids,
        facts: facts.to_vec(),
        done: so_far as f64 / all as f64,
        button: (nth == 2).then_some(button),
    }
}

/// Multiply-adds by then: an entry of Q is a sum of so many products, and so is one of the
/// output. What lies between them is done before the first entry of the output.
fn done(step: usize, all: u64, d_model: usize) -> u64 {
    match step {
        0..=Q => (step * d_model) as u64,
        _ => all - ((LAST - step) * d_model) as u64,
    }
}

/// The stages: what each computes at once, of Q and of the output.
#[rustfmt::skip]
const ORDERS: [(&str, &str, [StageOrder; 2]); 3] = [
    ("loops", "an entry at a time", [StageOrder::Entries, StageOrder::ByColumn]),
    ("a lens per head", "a head at a time", [StageOrder::Heads, StageOrder::AtOnce]),
    ("one matrix", "all heads at once", [StageOrder::AtOnce; 2]),
];

/// Of each stage, from the products that it makes: in loops they are those of a row and a
/// column.
fn multiply_adds(dims: Dims, n: usize) -> attention::Result<[u64; 3]> {
    let (d_model, h, d_k) = (dims.d_model(), dims.n_heads(), dims.d_k());
    let of = |projected: [usize; 4], cut: fn([usize; 4]) -> [usize; 4]| {
        let projections = ["query W^Q", "key W^K", "value W^V"].map(|it| (it, projected));
        let rest = [
            ("Q Kᵀ", [h, n, d_k, n]),
            ("A V", [h, n, n, d_k]),
            ("concat W^O", [1, n, h * d_k, d_model]),
        ];
        let all = projections.into_iter().chain(rest).map(|(name, it)| (name, cut(it)));
        Ok(MultiplyAdds::of_products(all)?.total())
    };
    let narrow = [h, n, d_model, d_k];
    let dots: fn([usize; 4]) -> [usize; 4] = |[h, n, m, p]| [h * n * p, 1, m, 1];
    Ok([of(narrow, dots)?, of(narrow, |it| it)?, of([1, n, d_model, h * d_k], |it| it)?])
}

fn step_words(set: &Set, facts: &Facts) -> String {
    let Facts { delta, multiply_adds, parameters, n_strayed } = facts;
    match (set.step, set.forget) {
        (0..LAST, _) => "A step is as much work in each: the loops have one entry more, \
                         a product has all of its entries at its end. Keys, values and \
                         shares are computed too, and not drawn."
            .to_owned(),
        (_, false) => format!(
            "The largest difference between the outputs is {}. Each stage takes {} \
             multiply-adds and {} parameters.",
            brief(delta[1].max(delta[2])),
            thousands(multiply_adds[0]),
            thousands(parameters[0] as u64),
        ),
        (_, true) => format!(
            "Orange: {n_strayed} of {Q} entries of Q go to another head or token, and the \
             output is off by up to {}.",
            brief(delta[2])
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same numbers from the same work, as the ledger of the crates counts it.
    #[test]
    fn the_stages_agree_and_take_the_same() {
        let facts = LIVE.at([]).unwrap().facts;
        let dims = two_lenses().unwrap().dims();
        let counted = MultiplyAdds::count(dims, 3, 3).unwrap().total();
        assert_eq!(facts.multiply_adds, [counted; 3]);
        assert_eq!(facts.parameters, [two_lenses().unwrap().count().total(); 3]);
        assert_eq!(facts.delta, [0.0; 3]);
        // Of Q and of the output 12 entries of 4 products each.
        let by_then = [0, 1, Q, Q + 1, LAST].map(|step| done(step, counted, 4));
        assert_eq!(by_then, [0, 4, 48, counted - 44, counted]);
    }

    /// By hand: of 12 addresses head 0 gets 0 to 5, of which 0, 1 and none other are its
    /// own in their own row; head 1 gets 6 to 11, of which 10 and 11 are.
    #[test]
    fn without_the_transpose_entries_stray_and_shapes_stay() {
        let wrong = LIVE.at([("forget", "on")]).unwrap();
        assert_eq!(wrong.facts.n_strayed, 8);
        assert!(wrong.facts.delta[2] > 0.1 && wrong.facts.delta[1] == 0.0);
        let shapes = |view: &LiveView<Facts>| view.figure.tables()[0].rows[4].clone();
        assert_eq!(shapes(&wrong), shapes(&LIVE.at([]).unwrap()));
    }

    #[test]
    fn a_step_is_an_entry_of_the_loops() {
        assert_eq!(words().len(), Q);
        let row = |step| {
            let view = LIVE.at([("step", step)]).unwrap();
            view.figure.tables()[0].rows[0][1..].join("; ")
        };
        assert_eq!(row("0"), ["· · · · / · · · · / · · · ·"; 3].join("; "));
        insta::assert_snapshot!(row("7"), @"0 0 4 · / 0 2 · · / 2 0 · ·; 0 0 · · / 0 2 · · / 2 0 · ·; · · · · / · · · · / · · · ·");
    }

    #[test]
    fn what_is_said() {
        let said = ["24", "5"].map(|step| LIVE.at([("step", step)]).unwrap().words);
        insta::assert_snapshot!(said.join("\n"), @r"
        The largest difference between the outputs is 0. Each stage takes 264 multiply-adds and 64 parameters.
        A step is as much work in each: the loops have one entry more, a product has all of its entries at its end. Keys, values and shares are computed too, and not drawn.
        ");
        insta::assert_snapshot!(LIVE.at([("step", "24"), ("forget", "on")]).unwrap().words, @"Orange: 8 of 12 entries of Q go to another head or token, and the output is off by up to 1.454.");
    }
}

//! What “Learning” quotes.

use attention::MultiHeadAttention;
use fused_heads::FusedAttention;
use lessons::Args;
use lessons::a_lens_per_head::two_lenses;
use lessons::gallery::draw;
use lessons::learning::{
    ADAM_RATE, N_SENTENCES, N_STEPS, RATE, START, Task, fresh_layer, optimisers, train,
};
use lessons::the_backward_pass::ways::{Way, projections};
use lessons::the_backward_pass::wrong_starts::{
    ENOUGH, N_WRONG_STARTS, ends_of, kept_ends,
};

use crate::quote::{assert_quote, below, short, values};

/// How many random starts are tried.
const N_STARTS: u64 = 12;

#[test]
fn wrong_gradients_that_learn() {
    let ends = std::thread::scope(|threads| {
        let all = Way::ALL.map(|(way, _)| threads.spawn(move || ends_of(way).unwrap()));
        all.map(|thread| thread.join().unwrap())
    });
    let kept = kept_ends().unwrap();
    assert!(kept.iter().map(Vec::len).eq(ends.iter().map(Vec::len)), "{kept:?}");
    for (kept, end) in kept.iter().flatten().zip(ends.iter().flatten()) {
        let off = (kept / end - 1.0).abs();
        assert!(off < 1e-3, "{kept} is kept of {end}: {off:.1e}");
    }
    let reached = ends.map(|ends| ends.iter().filter(|&&end| end < ENOUGH).count());
    let as_good = reached[1..].iter().filter(|&&n| n >= reached[0]).count();
    let quoted = [
        ("wrong_starts", N_WRONG_STARTS.to_string()),
        ("right_reached", reached[0].to_string()),
        ("as_good", as_good.to_string()),
        ("n_wrong", (reached.len() - 1).to_string()),
    ];
    assert_quote!("learning_wrong_values", values(&quoted));
}

#[test]
fn a_tiny_task_learned() {
    let (task, other) = (Task::new(1).unwrap(), Task::new(2).unwrap());
    let figure = draw("loss-curves", &Args::default()).unwrap();
    let lenses = FusedAttention::new(&two_lenses().unwrap());
    let mut said = Vec::new();
    let bounds = [("descent", 1e-3), ("adam", 1e-9)];
    for (nth, (name, mut optimiser)) in optimisers().into_iter().enumerate() {
        let mut layer = fresh_layer(START).unwrap();
        let losses = train(&mut layer, &task, &mut *optimiser).unwrap();
        let drawn = &figure.tables()[0].rows[0][nth + 1];
        assert_eq!(*drawn, format!("{:.4}", losses[0]), "{name}");
        let (last, unseen) = (losses[N_STEPS - 1], other.loss(&layer).unwrap());
        println!("{name}: {last:e}, other sentences {unseen:e}");
        let (short_name, bound) = bounds[nth];
        let bound = below(f64::max(last, unseen), bound);

        // The same answers, from other parameters.
        let (found, set) = (projections(&layer), projections(&lenses));
        let apart = [0, 1, 2, 3].map(|m| (&found[m].weight - &set[m].weight).amax());
        let apart = apart.into_iter().fold(0.0, f64::max);
        let mut push = |what: &str, value: String| {
            said.push((format!("{short_name}_{what}"), value));
        };
        push("first", format!("{:.2}", losses[0]));
        push("100", format!("{:.3}", losses[100]));
        push("bound", bound);
        push("apart", format!("{apart:.1}"));
    }

    let ends = ends(&task);
    let reached = [0, 1].map(|of| ends.iter().filter(|ends| ends[of] < ENOUGH).count());
    let stuck: Vec<f64> =
        ends.iter().flatten().copied().filter(|&end| end >= ENOUGH).collect();
    let neither = |ends: &&[f64; 2]| ends.iter().all(|&end| end >= ENOUGH);
    let neither = ends.iter().filter(neither).count();
    let named = [
        ("steps", N_STEPS.to_string()),
        ("sentences", N_SENTENCES.to_string()),
        ("words", task.x.tokens().nrows().to_string()),
        ("starts", N_STARTS.to_string()),
        ("enough", ENOUGH.to_string()),
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
    said.extend(named.map(|(name, value)| (name.to_owned(), value)));
    assert_quote!("learning_training", values(&said));
}

/// The last loss from each start, by each optimiser.
fn ends(task: &Task) -> Vec<[f64; 2]> {
    let ends = |seed| {
        let ends = optimisers().map(|(_, mut optimiser)| {
            let mut layer = fresh_layer(seed).unwrap();
            train(&mut layer, task, &mut *optimiser).unwrap();
            task.loss(&layer).unwrap()
        });
        println!("start {seed}: {ends:?}");
        ends
    };
    (0..N_STARTS).map(ends).collect()
}

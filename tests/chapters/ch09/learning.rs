//! The losses, seven wrong backward passes, and the tiny task.

use attention::{Mask, Matrix, MultiHeadAttention, max_abs_diff, softmax_rows};
use fused_heads::FusedAttention;
use gradients::{Optimiser, Pass, Sgd, cross_entropy, mean_squared_error};
use lessons::ch04::two_lenses;
use lessons::ch09::ways::{Way, back, by_differences, compared, projections};
use lessons::ch09::{
    ADAM_RATE, N_SENTENCES, N_STEPS, RATE, START, Task, fresh_layer, optimisers, train,
};
use lessons::{Args, draw};

use crate::cases::assert_close;
use crate::quote::{Table, assert_quote, below, short, values};

#[test]
fn what_was_said_minus_what_is_right() {
    let logits = Matrix::from_row_slice(1, 3, &[2.0, 1.0, -1.0]);
    let right = 1;
    let loss = cross_entropy(&logits, &[right]).unwrap();
    let p = softmax_rows(logits.clone());
    let mut table = Table::new([("class", -9), ("logit", 7), ("p", 8), ("gradient", 10)]);
    for class in 0..3 {
        let name = format!("{class}{}", if class == right { ", right" } else { "" });
        let (logit, p, d) = (logits[class], p[class], loss.gradient[class]);
        table.row([name, format!("{logit:.1}"), format!("{p:.3}"), format!("{d:.3}")]);
    }
    let loss = format!("loss = −ln {:.3} = {:.3}", p[right], loss.value);
    assert_quote!("ch09_cross_entropy", format!("{}\n{loss}", table.text()));
}

#[test]
fn each_wrong_way_against_the_check() {
    let (task, start) = (Task::new(1).unwrap(), fresh_layer(START).unwrap());
    let differences = by_differences(&start, &task).unwrap();
    let mut table = Table::new([
        ("", -29),
        ("W^O", 8),
        ("W^V", 8),
        ("W^Q", 8),
        ("W^K", 8),
        ("biases", 8),
        ("x", 8),
        (&format!("loss, {N_STEPS}"), 12),
    ]);
    let mut losses = Vec::new();
    for (way, name) in Way::ALL {
        let d = back(&start, &task, way).unwrap();
        let [q, k, v, o, biases, x] = compared(&d).unwrap();
        let [by_q, by_k, by_v, by_o, by_biases, by_x] = differences.each_ref();
        let pairs =
            [(o, by_o), (v, by_v), (q, by_q), (k, by_k), (biases, by_biases), (x, by_x)];
        let mut cells = vec![name.to_owned()];
        let mut any_wrong = false;
        for (found, expected) in pairs {
            let off = (&found - expected).norm() / expected.norm();
            let told = if off < 1e-7 { "·".to_owned() } else { format!("{off:.2}") };
            any_wrong |= off >= 1e-7;
            let between = (1e-7..=0.005).contains(&off);
            assert!(!between, "{name}: {off:e} is neither");
            cells.push(told);
        }
        assert_eq!(any_wrong, way != Way::Right, "{name}");

        let mut layer = start.clone();
        for _ in 0..N_STEPS {
            let d = back(&layer, &task, way).unwrap();
            Sgd { lr: RATE }.step_layer(&mut layer, &d).unwrap();
        }
        let loss = task.loss(&layer).unwrap();
        println!("{name}: loss {loss:e}");
        losses.push(format!("{loss:.4}"));
        cells.push(format!("{loss:.4}"));
        table.row(<[String; 8]>::try_from(cells).unwrap());
    }
    assert_quote!("ch09_wrong", table.text());
    let as_good = losses[1..].iter().filter(|loss| **loss == losses[0]).count();
    let said = [
        ("right_loss", losses[0].clone()),
        ("as_good", as_good.to_string()),
        ("n_wrong", (losses.len() - 1).to_string()),
    ];
    assert_quote!("ch09_wrong_values", values(&said));

    // What is called right here is what the crate does.
    let pass =
        Pass::forward_batch(&start, &task.x, &task.x, &task.x, &[Mask::None]).unwrap();
    let loss = mean_squared_error(pass.out(), &task.target).unwrap();
    let crates = compared(&pass.backward(&loss.gradient).unwrap()).unwrap();
    let right = back(&start, &task, Way::Right).unwrap();
    for (a, b) in compared(&right).unwrap().iter().zip(&crates) {
        assert_close("right and the crate", max_abs_diff(a, b).unwrap(), 1e-14);
    }
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
    said.extend(named.map(|(name, value)| (name.to_owned(), value)));
    assert_quote!("ch09_training", values(&said));
}

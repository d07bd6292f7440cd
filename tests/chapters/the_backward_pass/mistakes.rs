//! Seven wrong backward passes against central differences.

use attention::{Mask, max_abs_diff};
use gradients::{LayerPass, mean_squared_error};
use lessons::learning::{START, Task, fresh_layer};
use lessons::the_backward_pass::ways::{Way, back, by_differences, compared};

use crate::quote::{Table, assert_quote, values};
use stages::cases::assert_close;

#[test]
fn each_mistake_against_the_check() {
    let (task, start) = (Task::new(1).unwrap(), fresh_layer(START).unwrap());
    let differences = by_differences(&start, &task).unwrap();
    let mut table = Table::new(["", "W^O", "W^V", "W^Q", "W^K", "biases", "x"]);
    for (way, name) in Way::ALL {
        let d = back(&start, &task, way).unwrap();
        let [q, k, v, o, biases, x] = compared(&d).unwrap();
        let [by_q, by_k, by_v, by_o, by_biases, by_x] = differences.each_ref();
        let pairs =
            [(o, by_o), (v, by_v), (q, by_q), (k, by_k), (biases, by_biases), (x, by_x)];
        let mut cells = vec![name.to_owned()];
        let mut any_wrong = false;
        for (computed, expected) in pairs {
            let off = (&computed - expected).norm() / expected.norm();
            cells.push(if off < 1e-7 { "·".to_owned() } else { format!("{off:.2}") });
            any_wrong |= off >= 1e-7;
            let between = (1e-7..=0.005).contains(&off);
            assert!(!between, "{name}: {off:e} is neither");
        }
        assert_eq!(any_wrong, way != Way::Right, "{name}");
        table.row(<[String; 7]>::try_from(cells).unwrap());
    }
    assert_quote!("the_backward_pass_wrong", table.text());
    let n_tokens = task.x.tokens().nrows();
    assert_quote!("the_backward_pass_wrong_values", values(&[("words", n_tokens)]));

    // What is called right here is what the crate does.
    let pass = LayerPass::forward_batch(&start, &task.x, &task.x, &task.x, &[Mask::None])
        .unwrap();
    let loss = mean_squared_error(pass.out(), &task.target).unwrap();
    let crates = compared(&pass.backward(&loss.gradient).unwrap()).unwrap();
    let right = back(&start, &task, Way::Right).unwrap();
    for (a, b) in compared(&right).unwrap().iter().zip(&crates) {
        assert_close("right and the crate", max_abs_diff(a, b).unwrap(), 1e-14);
    }
}

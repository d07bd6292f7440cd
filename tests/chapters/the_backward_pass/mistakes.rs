//! Seven wrong backward passes against central differences.

use attention::{Mask, max_abs_diff};
use gradients::{LayerPass, mean_squared_error};
use lessons::learning::{START, Task, fresh_layer};
use lessons::the_backward_pass::drawn::errors;
use lessons::the_backward_pass::ways::{Way, back, compared};

use crate::quote::{assert_quote, values};
use stages::cases::assert_close;

#[test]
fn each_mistake_against_the_check() {
    let (task, start) = (Task::new(1).unwrap(), fresh_layer(START).unwrap());
    for (row, (way, name)) in errors().unwrap().row_iter().zip(Way::ALL) {
        assert_eq!(row.iter().any(|&off| off >= 1e-7), way != Way::Right, "{name}");
        let between = row.iter().any(|off| (1e-7..=0.005).contains(off));
        assert!(!between, "{name}: {row} is neither right nor wrong");
        // A mistake spares what is nearer to the loss than it is.
        assert!(row[0] < 1e-7, "{name}");
    }
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

//! What people write instead.

use crate::bank::directions::{Input, join, reversed};
use crate::bank::heads;
use attention::Matrix;

use super::{BOTH, before};
use crate::{Mistake, Section};

const WRONG: Section = Section::new("sensors", "The remaining useful life of an engine");

/// All of them.
pub(super) const ALL: &[Mistake<Input, Matrix>] = &[
    Mistake {
        name: "leaves the backward states in the order of reading",
        does: "Row 0 of the backward half is about the last token, and row t about \
            token n − 1 − t, next to a forward half about token t",
        looks_right: "Every state is there, and the token in the middle is right",
        read: WRONG,
        answer: |input| {
            let Input { x, forward, backward } = input;
            join(forward.forwards(x), backward.as_read(x, &backward.zeros()))
        },
    },
    Mistake {
        name: "puts the backward columns first",
        does: "The states are right, and each stands where the other is expected: \
            trained weights behind this layer read the wrong half",
        looks_right: "The shape is the same, and a layer that is trained behind it can \
            do with either order",
        read: WRONG,
        answer: |input| {
            let Input { x, forward, backward } = input;
            join(backward.backwards(x), forward.forwards(x))
        },
    },
    Mistake {
        name: "reads from the first token to the last in both directions",
        does: "The backward weights read forwards too, so no row knows of what comes \
            after its token",
        looks_right: "Two sets of weights give two different halves",
        read: BOTH,
        answer: |input| {
            let Input { x, forward, backward } = input;
            join(forward.forwards(x), backward.forwards(x))
        },
    },
    Mistake {
        name: "reads from the last token to the first in both directions",
        does: "The forward weights read backwards too, so no row knows of what came \
            before its token",
        looks_right: "Two sets of weights give two different halves",
        read: BOTH,
        answer: |input| {
            let Input { x, forward, backward } = input;
            join(forward.backwards(x), backward.backwards(x))
        },
    },
    Mistake {
        name: "reverses the rows of both directions",
        does: "It brings the backward states into order, and takes the forward ones out \
            of theirs",
        looks_right: "The backward half is right",
        read: BOTH,
        answer: |input| {
            let Input { x, forward, backward } = input;
            join(reversed(&forward.forwards(x)), backward.backwards(x))
        },
    },
    Mistake {
        name: "reads with the forward weights both ways",
        does: "One set of weights reads in both orders, and `backward` is never used",
        looks_right: "The two halves differ, since the order of the tokens does",
        read: BOTH,
        answer: |input| {
            let Input { x, forward, .. } = input;
            join(forward.forwards(x), forward.backwards(x))
        },
    },
    Mistake {
        name: "reads with the backward weights both ways",
        does: "One set of weights reads in both orders, and `forward` is never used",
        looks_right: "The two halves differ, since the order of the tokens does",
        read: BOTH,
        answer: |input| {
            let Input { x, backward, .. } = input;
            join(backward.forwards(x), backward.backwards(x))
        },
    },
    Mistake {
        name: "gives each direction the weights of the other",
        does: "The forward reading uses `backward`, and the backward one `forward`",
        looks_right: "Both have the same shapes, and so has what comes out",
        read: BOTH,
        answer: |input| {
            let Input { x, forward, backward } = input;
            join(backward.forwards(x), forward.backwards(x))
        },
    },
    Mistake {
        name: "reads each token from zeros",
        does: "The state of one step never gets to the next, so nothing is remembered, \
            and no row depends on any other token",
        looks_right: "With one token it is right, and so is the token that a direction \
            reads first",
        read: BOTH,
        answer: |input| input.changed(|direction| direction.w_hidden.fill(0.0)),
    },
    Mistake {
        name: "begins the backward reading where the forward one ended",
        does: "It does not set the state to 0 in between, so the backward half of the \
            last token has seen all tokens before it as well",
        looks_right: "The forward half is right, and a state goes from step to step",
        read: BOTH,
        answer: |input| {
            let Input { x, forward, backward } = input;
            let states = forward.forwards(x);
            let end = states.rows(states.nrows() - 1, 1).into_owned();
            join(states, reversed(&backward.as_read(x, &end)))
        },
    },
    keeps_the_state_before(|input| before(input, [true, true])),
    keeps_the_state_before(|input| before(input, [true, false])),
    keeps_the_state_before(|input| before(input, [false, true])),
    Mistake {
        name: "has one state for both directions",
        does: "One loop makes a step of each direction, and each begins where the other \
            one stopped, so neither remembers only what it has read itself",
        looks_right: "Both orders and both sets of weights are right, and so is the \
            forward half of token 0",
        read: BOTH,
        answer: |input| {
            let Input { x, forward, backward } = input;
            let (n, hidden) = (x.nrows(), forward.hidden());
            let [mut left, mut right] = [(); 2].map(|_| Matrix::zeros(n, hidden));
            let mut h = forward.zeros();
            for t in 0..n {
                h = forward.step(x, t, &h);
                left.row_mut(t).copy_from(&h);
                h = backward.step(x, n - 1 - t, &h);
                right.row_mut(n - 1 - t).copy_from(&h);
            }
            join(left, right)
        },
    },
    Mistake {
        name: "reverses the columns and not the rows",
        does: "The backward states stay in the order of reading, and the entries of each \
            are reversed",
        looks_right: "It reverses a matrix, along its other axis",
        read: BOTH,
        answer: |input| {
            let Input { x, forward, backward } = input;
            let states = backward.as_read(x, &backward.zeros());
            let columns = reversed(&states.transpose()).transpose();
            join(forward.forwards(x), columns)
        },
    },
    Mistake {
        name: "stacks the directions and reads the numbers off",
        does: "It puts one direction below the other, `[2 · n_tokens, hidden]`, and calls \
            these numbers `[n_tokens, 2 · hidden]`: a row then has two tokens of one \
            direction",
        looks_right: "As many numbers go in as come out, and token 0 of the forward half \
            is right",
        read: BOTH,
        answer: |input| {
            let Input { x, forward, backward } = input;
            let halves = [forward.forwards(x), backward.backwards(x)];
            let rows = halves.iter().flat_map(|half| half.row_iter());
            let numbers: Vec<f64> =
                rows.flat_map(|row| row.iter().copied().collect::<Vec<_>>()).collect();
            Matrix::from_row_slice(x.nrows(), 2 * forward.hidden(), &numbers)
        },
    },
    Mistake {
        name: "alternates the columns of the two directions",
        does: "Entry 0 of both, then entry 1 of both, and so on",
        looks_right: "Each row is about one token, and has all entries of both",
        read: BOTH,
        answer: |input| {
            let Input { x, forward, backward } = input;
            heads::concat_interleaved(&[forward.forwards(x), backward.backwards(x)])
        },
    },
    Mistake {
        name: "lets the backward direction read the forward states",
        does: "The second reading is given what the first one wrote instead of the \
            tokens, as in a layer above",
        looks_right: "Where a token is as wide as a state, it fits",
        read: BOTH,
        answer: |input| {
            let states = input.forward.forwards(&input.x);
            join(states.clone(), input.backward.backwards(&states))
        },
    },
    Mistake {
        name: "transposes the weights of the state",
        does: "It multiplies W_hidden and the state from the wrong side",
        looks_right: "W_hidden is square, and the token that a direction reads first is \
            right",
        read: BOTH,
        answer: |input| {
            input.changed(|direction| direction.w_hidden = direction.w_hidden.transpose())
        },
    },
    Mistake {
        name: "never reads the last token backwards",
        does: "Its backward reading begins at the last token but one, so the last row has \
            no backward state, and no row knows of the last token",
        looks_right: "`0..n - 1` ends at the last index in many languages; in Rust it \
            ends before it",
        read: BOTH,
        answer: |input| {
            let Input { x, forward, backward } = input;
            let n = x.nrows();
            let before_last = backward.backwards(&x.rows(0, n - 1).into_owned());
            let backwards = before_last.insert_row(n - 1, 0.0);
            join(forward.forwards(x), backwards)
        },
    },
    bends_the_token_alone(|input| {
        input.stepped(|of, x, h| {
            (x * &of.w_in + &of.bias).map(f64::tanh) + h * &of.w_hidden
        })
    }),
    bends_the_token_alone(|input| {
        input.stepped(|of, x, h| {
            (x * &of.w_in).map(f64::tanh) + h * &of.w_hidden + &of.bias
        })
    }),
    Mistake {
        name: "leaves the bias out",
        does: "Both products are there, and b is never added",
        looks_right: "Many fresh layers have a bias of 0",
        read: BOTH,
        answer: |input| input.changed(|direction| direction.bias.fill(0.0)),
    },
    Mistake {
        name: "leaves tanh out",
        does: "Each step adds and multiplies only, so a state may grow without bound, \
            and all steps together are one product",
        looks_right: "Small entries pass through tanh almost unchanged",
        read: BOTH,
        answer: |input| {
            input.stepped(|of, x, h| x * &of.w_in + h * &of.w_hidden + &of.bias)
        },
    },
    Mistake {
        name: "never reads the first token forwards",
        does: "Its forward reading begins at token 1, so no row knows of token 0",
        looks_right: "`1..n` is where one begins if a first state is there already",
        read: BOTH,
        answer: |input| {
            let Input { x, forward, backward } = input;
            let rest = forward.forwards(&x.rows(1, x.nrows() - 1).into_owned());
            join(rest.insert_row(0, 0.0), backward.backwards(x))
        },
    },
];

/// In both directions, or in one.
const fn keeps_the_state_before(answer: fn(&Input) -> Matrix) -> Mistake<Input, Matrix> {
    Mistake {
        name: "keeps the state before the step",
        does: "A row is then what a direction knew when it came to the token, and the token \
            itself is not in it",
        looks_right: "The steps are right, and only a line stands too early",
        read: BOTH,
        answer,
    }
}

/// With the bias inside or outside.
const fn bends_the_token_alone(answer: fn(&Input) -> Matrix) -> Mistake<Input, Matrix> {
    Mistake {
        name: "takes tanh of the token alone",
        does: "What it remembers is added outside of the tanh, so a state may grow without \
            bound",
        looks_right: "Each part is there once, and so is tanh; the token that a direction \
            reads first is right or nearly so",
        read: BOTH,
        answer,
    }
}

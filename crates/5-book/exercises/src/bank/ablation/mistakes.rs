//! What people write instead.

use attention::Matrix;

use super::{AWAY, Ablated, Input};
use crate::{Mistake, Section};

const COLUMNS: Section = Section::new("a-lens-per-head", "The heads in code");
const SUM: Section = Section::new("a-lens-per-head", "The same layer, as a sum");

/// All of them.
pub const ALL: &[Mistake<Input, Ablated>] = &[
    Mistake {
        name: "removes a token and not a head",
        does: "It clears the row of the concatenation with the head's number: one token \
            loses all heads, and every other keeps all of them",
        looks_right: "One row or one column: the shape is the same, and something is missing",
        read: COLUMNS,
        answer: |input| {
            let mut part = &input.concat * 0.0;
            part.set_row(input.head, &input.concat.row(input.head));
            let mean = part.row_mean();
            let d_v = input.d_v();
            let mut means = &part * 0.0;
            means
                .row_mut(input.head)
                .columns_mut(0, input.n_heads * d_v)
                .copy_from(&mean);
            input.without(&part, &means)
        },
    },
    Mistake {
        name: "clears columns of W^O and not rows",
        does: "It takes features out of the layer's output, to which all heads contribute, \
            and leaves the head in all other features",
        looks_right: "The head's block in the concatenation is one of columns; but what \
            they meet in W^O is a block of rows",
        read: SUM,
        answer: |input| {
            let (mut w_o, d_v) = (input.w_o.clone(), input.d_v());
            w_o.weight.columns_mut(input.head * d_v, d_v).fill(0.0);
            let zeroed = w_o.forward(&input.concat).expect("the widths fit");
            let damage = (input.out(&input.concat) - &zeroed).norm();
            Ablated { zeroed, damage, ..input.right() }
        },
    },
    Mistake {
        name: "removes the bias together with the head",
        does: "It leaves b^O out of both outputs. The bias belongs to the layer and not to a \
            head; it stays",
        looks_right: "The product with W^O is right, and so is every damage: a difference \
            of two outputs has no bias",
        read: SUM,
        answer: |input| {
            let zero = input.out(&(&input.concat * 0.0));
            let right = input.right();
            Ablated {
                zeroed: right.zeroed - &zero,
                averaged: right.averaged - &zero,
                ..right
            }
        },
    },
    Mistake {
        name: "counts heads from 1",
        does: "It removes the head before the one that was asked for",
        looks_right: "A head is as good as any other, and the formula counts from 1",
        read: COLUMNS,
        answer: |input| {
            let head = input.head.checked_sub(1).expect("a head before it");
            Input { head, ..input.clone() }.right()
        },
    },
    Mistake {
        name: "takes columns that are h apart for a head",
        does: "It removes the columns head, head + h, head + 2h and so on; but a head's \
            columns lie next to each other",
        looks_right: "There are as many of them",
        read: COLUMNS,
        answer: |input| {
            let (h, head) = (input.n_heads, input.head);
            let own = |c: usize| if c % h == head { 1.0 } else { 0.0 };
            let concat = &input.concat;
            let (n_tokens, width) = concat.shape();
            let part = Matrix::from_fn(n_tokens, width, |t, c| concat[(t, c)] * own(c));
            let mean = Matrix::from_fn(n_tokens, width, |_, c| part.column(c).mean());
            input.without(&part, &mean)
        },
    },
    Mistake {
        name: "keeps the head and removes all others",
        does: "It answers what the head does alone, and not what is missing without it",
        looks_right: "One head is singled out, and W^O mixes what is left",
        read: AWAY,
        answer: |input| {
            let part = &input.concat - input.of_head();
            let mean =
                Matrix::from_fn(part.nrows(), part.ncols(), |_, c| part.column(c).mean());
            input.without(&part, &mean)
        },
    },
    Mistake {
        name: "takes the mean over the features of each token",
        does: "Each token keeps a mean of its own, so something of what the head said of \
            that token is still there",
        looks_right: "It is a mean of the head's entries, and its shape fits",
        read: AWAY,
        answer: |input| {
            let (first, d_v) = (input.head * input.d_v(), input.d_v());
            let mut mean = input.of_head();
            for mut row in mean.row_iter_mut() {
                let of_token = row.columns(first, d_v).mean();
                row.columns_mut(first, d_v).fill(of_token);
            }
            input.without(&input.of_head(), &mean)
        },
    },
    Mistake {
        name: "takes one mean over all entries of the head",
        does: "Every feature of the head gets the same number, and a usual output of the \
            head is a vector of different ones",
        looks_right: "It is the same for every token, as it must be",
        read: AWAY,
        answer: |input| {
            let (first, d_v) = (input.head * input.d_v(), input.d_v());
            let mut mean = input.of_head();
            let of_all = mean.columns(first, d_v).mean();
            mean.columns_mut(first, d_v).fill(of_all);
            input.without(&input.of_head(), &mean)
        },
    },
    Mistake {
        name: "replaces every head by its mean",
        does: "It averages all columns, so every token gets one and the same output",
        looks_right: "The mean is over the right axis, and the head is among them",
        read: AWAY,
        answer: |input| {
            let concat = &input.concat;
            let (n_tokens, width) = concat.shape();
            let mean = Matrix::from_fn(n_tokens, width, |_, c| concat.column(c).mean());
            Ablated { averaged: input.out(&mean), ..input.right() }
        },
    },
    Mistake {
        name: "adds the mean and leaves the head",
        does: "The head stays, and its mean comes on top",
        looks_right: "The mean is right, and it stands in the right columns",
        read: AWAY,
        answer: |input| {
            let averaged = input.out(&(&input.concat + input.mean_of_head()));
            Ablated { averaged, ..input.right() }
        },
    },
    Mistake {
        name: "removes a control of another norm",
        does: "It removes what lies in the subspace as it is. That may be much less than the \
            head put out, and little is seldom missed",
        looks_right: "The subspace is as wide as a head",
        read: AWAY,
        answer: |input| {
            let control = input.damage(&input.in_subspace());
            Ablated { control, ..input.right() }
        },
    },
    Mistake {
        name: "matches the norm of each token by itself",
        does: "It scales each row of the control to the head's row. So the control learns \
            from the head which tokens are loud, and is not random any more",
        looks_right: "The norms agree, row by row and in all",
        read: AWAY,
        answer: |input| {
            let (mut part, head) = (input.in_subspace(), input.of_head());
            for (mut row, own) in part.row_iter_mut().zip(head.row_iter()) {
                row *= own.norm() / row.norm();
            }
            Ablated { control: input.damage(&part), ..input.right() }
        },
    },
    Mistake {
        name: "matches the norm of all heads together",
        does: "It removes a control as large as the whole concatenation, which looks worse \
            than any head",
        looks_right: "The norms of two removals were made equal; but one of them is the \
            wrong one",
        read: AWAY,
        answer: |input| {
            let part = input.in_subspace();
            let control = input.damage(&part) * input.concat.norm() / part.norm();
            Ablated { control, ..input.right() }
        },
    },
    Mistake {
        name: "scales the control the wrong way",
        does: "It multiplies by the norm of the control and divides by that of the head",
        looks_right: "It is the ratio of the two norms",
        read: AWAY,
        answer: |input| {
            let part = input.in_subspace();
            let control = input.damage(&part) * part.norm() / input.of_head().norm();
            Ablated { control, ..input.right() }
        },
    },
    Mistake {
        name: "keeps what lies in the subspace and removes the rest",
        does: "It mixes the scaled part itself and compares that with the whole output; but \
            the control is what is left when that part is gone",
        looks_right: "It is the part that is as large as the head",
        read: AWAY,
        answer: |input| {
            let control = input.damage(&(&input.concat - input.of_control()));
            Ablated { control, ..input.right() }
        },
    },
    Mistake {
        name: "looks for the control in the head's part alone",
        does: "It projects the head's own columns onto the subspace, and removes some of \
            the head instead of some of the whole concatenation",
        looks_right: "The subspace is as wide as the head, and the norms agree",
        read: AWAY,
        answer: |input| {
            let part = input.of_head() * &input.basis * input.basis.transpose();
            let control = input.damage(&part) * input.of_head().norm() / part.norm();
            Ablated { control, ..input.right() }
        },
    },
    Mistake {
        name: "removes the control from what is left without the head",
        does: "It takes the subspace off a concatenation whose head is zeroed already, so \
            both are missing",
        looks_right: "Each of the two is removed as it should be",
        read: AWAY,
        answer: |input| {
            let control = input.damage(&(input.of_head() + input.of_control()));
            Ablated { control, ..input.right() }
        },
    },
    Mistake {
        name: "compares the control with the output without the head",
        does: "It measures from the zeroed output to the one without the subspace, so the \
            head is missing from one and not from the other",
        looks_right: "Both are outputs that lack something",
        read: AWAY,
        answer: |input| {
            let control = input.damage(&(input.of_control() - input.of_head()));
            Ablated { control, ..input.right() }
        },
    },
    Mistake {
        name: "sends what was removed through W^O with its bias",
        does: "It takes the norm of part · W^O + b^O. A difference of two outputs has no \
            bias",
        looks_right: "What was removed, mixed by W^O, is what the output lost; and \
            `forward` adds the bias",
        read: SUM,
        answer: |input| {
            let damage = input.out(&input.of_head()).norm();
            let control = input.out(&input.of_control()).norm();
            Ablated { damage, control, ..input.right() }
        },
    },
    Mistake {
        name: "measures before W^O",
        does: "It takes the norm of what was removed. Head and control are made equal there, \
            so the two numbers can never differ",
        looks_right: "What was removed is what is missing; but what counts is how far the \
            output moves",
        read: AWAY,
        answer: |input| {
            let norm = input.of_head().norm();
            Ablated { damage: norm, control: norm, ..input.right() }
        },
    },
    Mistake {
        name: "compares the norms of the outputs",
        does: "It subtracts two lengths. An output may move far and keep its length",
        looks_right: "Both outputs are right, and a number says how they differ",
        read: AWAY,
        answer: |input| {
            let whole = input.out(&input.concat).norm();
            let left = |part: Matrix| input.out(&(&input.concat - part)).norm();
            let damage = |part| (whole - left(part)).abs();
            Ablated {
                damage: damage(input.of_head()),
                control: damage(input.of_control()),
                ..input.right()
            }
        },
    },
    Mistake {
        name: "leaves out the root of the norm",
        does: "Both damages are sums of squares, so one that is twice as large looks four \
            times as large",
        looks_right: "Head and control are in the same order",
        read: AWAY,
        answer: |input| {
            let right = input.right();
            let (damage, control) = (right.damage.powi(2), right.control.powi(2));
            Ablated { damage, control, ..right }
        },
    },
    Mistake {
        name: "measures the damage of the mean",
        does: "It compares the output with the one in which the head is replaced by its \
            mean, and the control is removed altogether",
        looks_right: "It is a damage of the same head, and smaller as a rule",
        read: AWAY,
        answer: |input| {
            let damage = input.damage(&(input.of_head() - input.mean_of_head()));
            Ablated { damage, ..input.right() }
        },
    },
    Mistake {
        name: "lets blocks of columns overlap",
        does: "It starts the head's columns at column i and not at column i · d_v, for zeros, for means or for both, so it takes parts of two heads away",
        looks_right: "Head 0 is right, and as many columns are taken away as should be",
        read: COLUMNS,
        answer: |input| input.of_columns([input.head, input.head]),
    },
    Mistake {
        name: "lets blocks of columns overlap",
        does: "It starts the head's columns at column i and not at column i · d_v, for zeros, for means or for both, so it takes parts of two heads away",
        looks_right: "Head 0 is right, and as many columns are taken away as should be",
        read: COLUMNS,
        answer: |input| input.of_columns([input.head, input.right_first()]),
    },
    Mistake {
        name: "lets blocks of columns overlap",
        does: "It starts the head's columns at column i and not at column i · d_v, for zeros, for means or for both, so it takes parts of two heads away",
        looks_right: "Head 0 is right, and as many columns are taken away as should be",
        read: COLUMNS,
        answer: |input| input.of_columns([input.right_first(), input.head]),
    },
    Mistake {
        name: "takes head 0 away, whichever was asked for",
        does: "It starts at column 0, for zeros, for means or for both",
        looks_right: "Head 0 is right, and as many columns are taken away as should be",
        read: COLUMNS,
        answer: |input| input.of_columns([0, 0]),
    },
    Mistake {
        name: "takes head 0 away, whichever was asked for",
        does: "It starts at column 0, for zeros, for means or for both",
        looks_right: "Head 0 is right, and as many columns are taken away as should be",
        read: COLUMNS,
        answer: |input| input.of_columns([0, input.right_first()]),
    },
    Mistake {
        name: "takes head 0 away, whichever was asked for",
        does: "It starts at column 0, for zeros, for means or for both",
        looks_right: "Head 0 is right, and as many columns are taken away as should be",
        read: COLUMNS,
        answer: |input| input.of_columns([input.right_first(), 0]),
    },
    Mistake {
        name: "makes the control as large as another head",
        does: "It takes the norm of other columns than the head's own, from column 0 or from column i on",
        looks_right: "Zeros and means are right, and heads are about equally loud",
        read: COLUMNS,
        answer: |input| input.control_like(0),
    },
    Mistake {
        name: "makes the control as large as another head",
        does: "It takes the norm of the columns from column i on, and the head's own begin at column i · d_v",
        looks_right: "Zeros and means are right, and heads are about equally loud",
        read: COLUMNS,
        answer: |input| input.control_like(input.head),
    },
];

//! What people write instead.

use attention::softmax_rows;

use super::{CLASS, Input, LossAndGradient};
use crate::bank::exponentials;
use crate::{Mistake, Section};

const ROWS: Section =
    Section::new("scores-softmax-scale", "From scores to shares: softmax");

const HUGE: Section = Section::new("bad-numbers", "Huge scores");

/// All of them.
pub const ALL: &[Mistake<Input, LossAndGradient>] = &[
    Mistake {
        name: "subtracts 1 from every share",
        does: "It pushes every logit up, as if every class were right; only the right \
            class has a 1 to be compared with",
        looks_right: "In the column of the right class it is right",
        read: CLASS,
        answer: |input| input.with_gradient(|p, _| p - 1.0),
    },
    Mistake {
        name: "never subtracts the 1 of the right class",
        does: "The gradient is the shares themselves, so every logit is pushed down, \
            the right one too",
        looks_right: "For every wrong class it is right",
        read: CLASS,
        answer: |input| input.with_gradient(|p, _| p),
    },
    Mistake {
        name: "has the gradient's sign reversed",
        does: "It computes right minus predicted, and a step against this gradient makes \
            the right class less likely",
        looks_right: "Every size is right, and every row sums to 0",
        read: CLASS,
        answer: |input| input.with_gradient(|p, y| y - p),
    },
    Mistake {
        name: "leaves a factor p (1 − p) in the gradient",
        does: "It multiplies by the slope of a share once more. The logarithm cancels \
            that slope; with it, a class that was given almost nothing hardly learns",
        looks_right: "There is a softmax, and for a squared error such a factor stays",
        read: CLASS,
        answer: |input| input.with_gradient(|p, y| (p - y) * p * (1.0 - p)),
    },
    Mistake {
        name: "stops at the gradient of the shares",
        does: "It returns −1/p for the right class and 0 for the others, which is the \
            gradient of the shares; the step back through softmax is missing",
        looks_right: "It is the derivative of −ln p",
        read: CLASS,
        answer: |input| input.with_gradient(|p, y| if y == 1.0 { -1.0 / p } else { 0.0 }),
    },
    Mistake {
        name: "sums over the tokens and takes no mean",
        does: "Loss and gradient are n times too large, so a larger batch takes larger \
            steps",
        looks_right: "With one token it is the same",
        read: CLASS,
        answer: |input| {
            let (loss, gradient) = input.right();
            (loss * input.n_tokens(), gradient * input.n_tokens())
        },
    },
    Mistake {
        name: "takes the mean in the loss and forgets it in the gradient",
        does: "The loss is divided by n and the gradient is not, so the gradient is that \
            of another loss",
        looks_right: "Each row of the gradient is right for its token alone",
        read: CLASS,
        answer: |input| {
            let (loss, gradient) = input.right();
            (loss, gradient * input.n_tokens())
        },
    },
    Mistake {
        name: "takes the mean in the gradient and forgets it in the loss",
        does: "The loss is a sum over the tokens and the gradient is divided by n, so \
            the gradient is that of another loss",
        looks_right: "The gradient is right, and with one token the loss is too",
        read: CLASS,
        answer: |input| {
            let (loss, gradient) = input.right();
            (loss * input.n_tokens(), gradient)
        },
    },
    Mistake {
        name: "takes the mean over all entries of the logits",
        does: "It divides loss and gradient by tokens times classes; but a token has \
            one loss, however many classes there are",
        looks_right: "The mean of a matrix divides by all of its entries",
        read: CLASS,
        answer: |input| {
            let (loss, gradient) = input.right();
            let n_classes = gradient.ncols() as f64;
            (loss / n_classes, gradient / n_classes)
        },
    },
    Mistake {
        name: "divides the loss by the number of the logits",
        does: "It divides the loss by tokens times classes; but a token has one loss, \
            however many classes there are",
        looks_right: "The mean of a matrix divides by all of its entries, and the \
            gradient is right",
        read: CLASS,
        answer: |input| {
            let (loss, gradient) = input.right();
            let n_classes = gradient.ncols() as f64;
            (loss / n_classes, gradient)
        },
    },
    Mistake {
        name: "divides the gradient by the number of its entries",
        does: "It divides by tokens times classes; but a token has one loss, however \
            many classes there are",
        looks_right: "The mean squared error is a mean over all entries",
        read: CLASS,
        answer: |input| {
            let (loss, gradient) = input.right();
            let n_classes = gradient.ncols() as f64;
            (loss, gradient / n_classes)
        },
    },
    Mistake {
        name: "takes softmax without subtracting the maximum",
        does: "Logits of 1000 have exponentials of ∞, and ∞ / ∞ is NaN; with logits of \
            −1000 it is 0 / 0",
        looks_right: "It is the formula, and right for logits near 0",
        read: HUGE,
        answer: |input| input.by_shares(&exponentials::shares(&input.logits)),
    },
    Mistake {
        name: "subtracts the maximum of all tokens",
        does: "A token whose logits lie far below another's is left with exponentials \
            of 0, and comes out as NaN",
        looks_right: "Nothing overflows, and with one token it is right",
        read: HUGE,
        answer: |input| {
            let below = input.logits.add_scalar(-input.logits.max());
            input.by_shares(&exponentials::shares(&below))
        },
    },
    Mistake {
        name: "takes the logarithm of a share that is 0",
        does: "Where the right logit lies 1000 below the largest, its share is too small \
            for an f64 and becomes 0, and the loss is ∞ instead of 1000",
        looks_right: "The softmax subtracts its maximum, and every gradient is right",
        read: CLASS,
        answer: |input| input.by_shares(&softmax_rows(input.logits.clone())),
    },
    Mistake {
        name: "adds a small number inside the logarithm",
        does: "No loss can be larger than −ln of that number, about 20.7 for 1e-9. So a \
            token that is wrong beyond all measure counts like one that is just wrong",
        looks_right: "Nothing is ∞ any more, and small losses keep their digits",
        read: CLASS,
        answer: |input| {
            let shares = softmax_rows(input.logits.clone());
            input.with_loss(|t, c| -(shares[(t, c)] + 1e-9).ln())
        },
    },
    // The other number that is often seen.
    Mistake {
        name: "adds a small number inside the logarithm",
        does: "No loss can be larger than −ln of that number, about 27.6 for 1e-12. So a \
            token that is wrong beyond all measure counts like one that is just wrong",
        looks_right: "Nothing is ∞ any more, and small losses keep their digits",
        read: CLASS,
        answer: |input| {
            let shares = softmax_rows(input.logits.clone());
            input.with_loss(|t, c| -(shares[(t, c)] + 1e-12).ln())
        },
    },
    Mistake {
        name: "forgets to add the maximum back",
        does: "It takes the logarithm of a sum from whose exponents the maximum was \
            subtracted, and then subtracts a logit from which it was not, so every \
            loss is too small by the largest logit of its row",
        looks_right: "Any number may be subtracted from a row of logits; but then from \
            the right one too",
        read: CLASS,
        answer: |input| {
            input.with_loss(|t, c| input.token_loss(t, c) - input.logits.row(t).max())
        },
    },
    Mistake {
        name: "takes the loss of the likeliest class",
        does: "It takes the logarithm of the largest share of a row, whichever class \
            that is, and never asks for the right one",
        looks_right: "If the layer guesses right, the largest share is that of the \
            right class",
        read: CLASS,
        answer: |input| {
            input.with_loss(|t, _| {
                input.token_loss(t, input.logits.row(t).transpose().imax())
            })
        },
    },
    Mistake {
        name: "adds up the losses of all classes",
        does: "It takes −ln p of every class, as if each were the right one",
        looks_right: "A sum over the classes stands in the formula; but there each is \
            multiplied by 1 or 0, and 1 stands at the right class alone",
        read: CLASS,
        answer: |input| {
            input.with_loss(|t, _| {
                (0..input.logits.ncols()).map(|c| input.token_loss(t, c)).sum()
            })
        },
    },
    Mistake {
        name: "takes the right class of the first token for all",
        does: "It compares every row with classes[0]",
        looks_right: "With one token it is right, and every row of the gradient sums \
            to 0",
        read: CLASS,
        answer: |input| {
            let classes = vec![input.classes[0]; input.classes.len()];
            Input { logits: input.logits.clone(), classes }.right()
        },
    },
    Mistake {
        name: "takes the logarithm of the logit",
        does: "It takes ln of the number that comes before softmax, which may be \
            negative, and then is NaN",
        looks_right: "The loss is minus a logarithm; but it is that of a share",
        read: CLASS,
        answer: |input| input.with_loss(|t, c| -input.logits[(t, c)].ln()),
    },
    Mistake {
        name: "leaves out the sum of the exponentials",
        does: "The loss is minus the right logit, and raising all logits alike would \
            lower it for nothing",
        looks_right: "The logarithm undoes the exponential; but softmax also divided by \
            the sum",
        read: CLASS,
        answer: |input| input.with_loss(|t, c| -input.logits[(t, c)]),
    },
    Mistake {
        name: "has the loss's sign reversed",
        does: "It returns the mean of ln p, which is below 0 and rises as the layer gets \
            better",
        looks_right: "Its size is right",
        read: CLASS,
        answer: |input| (-input.right().0, input.right().1),
    },
    Mistake {
        name: "takes logarithms to base 2",
        does: "The loss comes out in bits, 1.4427 times as large; the gradient belongs \
            to the natural logarithm",
        looks_right: "It is the unit of information, and falls when it should",
        read: CLASS,
        answer: |input| (input.right().0 / std::f64::consts::LN_2, input.right().1),
    },
    Mistake {
        name: "takes softmax twice",
        does: "It makes shares of the shares, which are all between 0 and 1, so even a \
            layer that is sure and right keeps a loss",
        looks_right: "Every row still sums to 1. In PyTorch it happens by handing shares \
            to CrossEntropyLoss, which takes logits",
        read: CLASS,
        answer: |input| {
            let shares = softmax_rows(input.logits.clone());
            input.by_shares(&softmax_rows(shares))
        },
    },
    Mistake {
        name: "takes softmax down the columns",
        does: "Each class shares itself out among the tokens; but a token shares itself \
            out among the classes",
        looks_right: "There is a softmax, and with as many tokens as classes nothing \
            about the shape is odd",
        read: ROWS,
        answer: |input| {
            input.by_shares(&softmax_rows(input.logits.transpose()).transpose())
        },
    },
    Mistake {
        name: "punishes every other class as well",
        does: "It adds −ln (1 − p) for each wrong class: one yes-or-no question for each \
            class, and not one choice among all",
        looks_right: "It is binary cross-entropy, and falls too when the right class \
            gains",
        read: CLASS,
        answer: |input| {
            let shares = softmax_rows(input.logits.clone());
            input.with_loss(|t, right| {
                let others = (0..shares.ncols()).filter(|&c| c != right);
                let others: f64 = others.map(|c| -(1.0 - shares[(t, c)]).ln()).sum();
                others - shares[(t, right)].ln()
            })
        },
    },
    Mistake {
        name: "keeps only what the last token adds",
        does: "It writes `=` where `+=` adds up, so each token overwrites the one before",
        looks_right: "Every token has its term",
        read: CLASS,
        answer: |input| {
            let right = input.right();
            let last = input.classes.len() - 1;
            (input.token_loss(last, input.classes[last]) / input.n_tokens(), right.1)
        },
    },
    Mistake {
        name: "takes the smallest logit away",
        does: "Where the largest lies 1000 above the smallest its exponential is ∞, and so is the loss, however sure and right the model was",
        looks_right: "Any number may be taken from all logits, and small ones come out right",
        read: HUGE,
        answer: |input| {
            input.with_loss(|t, c| {
                let row = input.logits.row(t);
                let under = row.min();
                row.map(|logit| (logit - under).exp()).sum().ln() + under - row[c]
            })
        },
    },
];

//! What is computed of one word at a step, written out.

use super::entries::{entry, list, share, vector};
use super::{HEAD_WIDTH, LINE_WORDS, Line, LineHead, LineStep, row_of};

/// A line per head, or one where the heads are together; none where nothing is computed.
pub(super) fn sums(line: &Line, step: LineStep, word: usize) -> Vec<String> {
    let x = row_of(line.x, word);
    match step {
        LineStep::Words => Vec::new(),
        LineStep::Rows => vec![format!("x = {}", vector(&x, entry))],
        LineStep::Concat => {
            let [a, b] = line.heads.each_ref().map(|head| row_of(&head.out, word));
            let [a, b] = [a, b].map(|row| vector(&row, entry));
            vec![format!("{a} and {b} make {}", vector(&line.concat(word), entry))]
        }
        LineStep::Output => {
            let [concat, out] = [line.concat(word), row_of(line.out, word)]
                .map(|row| vector(&row, entry));
            vec![format!("{concat} W^O = {out}")]
        }
        LineStep::Add => {
            let rows = [x, row_of(line.out, word), line.sum(word)];
            let [x, out, sum] = rows.map(|row| vector(&row, entry));
            vec![format!("{x} + {out} = {sum}")]
        }
        _ => {
            let heads = line.heads.iter().enumerate();
            let sum = |(nth, head)| format!("head {nth}: {}", of_head(head, step, word));
            heads.map(sum).collect()
        }
    }
}

fn of_head(head: &LineHead, step: LineStep, word: usize) -> String {
    let row = |matrix| row_of(matrix, word);
    let [products, scores, masked] =
        [&head.products, &head.scores, &head.masked].map(row);
    let [exps, attn, out] = [&head.exps, &head.attn, &head.out].map(row);
    let joined = |part: &dyn Fn(usize) -> String, between: &str| {
        (0..LINE_WORDS).map(part).collect::<Vec<_>>().join(between)
    };
    match step {
        LineStep::Project => {
            let [q, k, v] = [&head.q, &head.k, &head.v].map(|it| vector(&row(it), entry));
            format!("q = {q}, k = {k}, v = {v}")
        }
        LineStep::Scale => {
            let products = list(&products, entry);
            format!("{products} divided by √{HEAD_WIDTH}: {}", list(&scores, entry))
        }
        LineStep::Mask => {
            let are_same = masked == scores;
            let masked = list(&masked, entry);
            format!("{masked}{}", if are_same { ", as before" } else { "" })
        }
        LineStep::Exp => {
            let sum: f64 = exps.iter().sum();
            let sum = share(sum);
            format!("e^(s − largest s): {}; sum {sum}", list(&exps, share))
        }
        LineStep::Softmax => {
            let sum = share(exps.iter().sum());
            let part = |j: usize| format!("{}/{sum}", share(exps[j]));
            format!("{} = {}", joined(&part, ", "), list(&attn, share))
        }
        LineStep::Mix => {
            let part = |j: usize| {
                format!("{}·{}", share(attn[j]), vector(&row_of(&head.v, j), entry))
            };
            format!("{} = {}", joined(&part, " + "), vector(&out, entry))
        }
        _ if step.n_rows() <= word => {
            format!(
                "the scores of q = {} are still to come",
                vector(&row(&head.q), entry)
            )
        }
        _ => {
            let part = |j: usize| {
                let pairs = row(&head.q).into_iter().zip(row_of(&head.k, j));
                let terms: Vec<String> =
                    pairs.map(|(q, k)| format!("{}·{}", entry(q), entry(k))).collect();
                format!("{} = {}", terms.join(" + "), entry(products[j]))
            };
            joined(&part, ", ")
        }
    }
}

//! What a layer of any size costs, drawn to one scale: live.

use anyhow::Result;
use attention::{Dims, MultiplyAdds, ParameterCount, thousands};
use figures::layer_areas;

use crate::live::{LiveFigure, LiveView, Question, Settings, live};

/// Draws what a token is multiplied by in a layer of the sizes that its reader sets.
pub(crate) const LIVE: LiveFigure<Set, Facts> =
    LiveFigure::new("ledger", draw, QUESTIONS);

const QUESTIONS: &[Question<Set, Facts>] = &[
    Question {
        ask: "Cut the layer into more heads. Which area grows with them?",
        is_answered: |set, _| set.h > Set::first().h,
        answer: |set| set.h = 16,
        found: "Only the attention weights: each head has a row of its own. The matrices, \
                keys and values are cut in thinner strips, and no entry is added.",
    },
    Question {
        ask: "Make keys and values together as large as the four matrices, to 2 %.",
        is_answered: |_, it| {
            it.of_pairs.abs_diff(it.of_projections) * 50 <= it.of_projections
        },
        answer: |set| set.n = 1024,
        found: "At n = 2 d_model. From there on a pass does more multiply-adds with pairs \
                of tokens than in its projections.",
    },
    Question {
        ask: "Cut the layer so that softmax takes an exponential for every 4 \
              multiply-adds in Q Kᵀ.",
        is_answered: |_, it| 4 * it.exponentials == it.of_pairs / 2,
        answer: |set| (set.d_model, set.h) = (256, 64),
        found: "At d_k = 4. A score is a sum of d_k products: the narrower the heads, the \
                more of the work is softmax.",
    },
];

// Every one of these widths can be divided among every one of these heads.
live! {
    struct Set {
        h: usize = "Heads h", power_of_two([0, 6], 3);
        n: usize = "Tokens n", slider([1, MOST_TOKENS], 1, 100);
        d_model: usize = "Width d_model", choice([512, 256, 128].map(|d| (d.to_string(), d.to_string(), d)));
        head: usize = "Lit head", count([0, 63], 0);
    }

    /// Of one token, but for the parameters.
    struct Facts {
        parameters: usize,
        /// Multiply-adds in projections, and with keys and values.
        of_projections: u64, of_pairs: u64,
        exponentials: u64,
    }
}

/// More have no room in the drawing.
const MOST_TOKENS: usize = 1200;

fn draw(&Set { d_model, h, n, head }: &Set) -> Result<LiveView<Facts>> {
    let dims = Dims::new(d_model, h)?;
    let head = head.min(h - 1);
    let parameters = ParameterCount::of_dims(dims, false)?.total();
    let [of_projections, of_pairs] = apart(&MultiplyAdds::count(dims, n, n)?);
    let [of_projections, of_pairs] = [of_projections, of_pairs].map(|it| it / n as u64);
    let exponentials = (h * n) as u64;
    let title = "What heads cut, and what grows with them";
    let figure = layer_areas(title, dims, Some(n), head)?;
    let words = format!(
        "{} of {}: {} parameters. Each of {n} tokens takes {} multiply-adds ({} with the \
         matrices, {} with keys and values) and {} exponentials; all of them take {} and {}.",
        if h == 1 { "1 head".to_owned() } else { format!("{h} heads") },
        dims.d_k(),
        thousands(parameters),
        thousands(of_projections + of_pairs),
        thousands(of_projections),
        thousands(of_pairs),
        thousands(exponentials),
        thousands(n as u64 * (of_projections + of_pairs)),
        thousands(n as u64 * exponentials),
    );
    let facts = Facts { parameters, of_projections, of_pairs, exponentials };
    Ok(LiveView { figure, words, facts })
}

/// The multiply-adds of the projections, and of the products of pairs.
fn apart(work: &MultiplyAdds) -> [u64; 2] {
    let pairs = work.costs().iter().filter(|cost| ["Q Kᵀ", "A V"].contains(&cost.name));
    let pairs = pairs.map(|cost| cost.multiply_adds).sum();
    [work.total() - pairs, pairs]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(d_model: usize, h: usize, n: usize) -> LiveView<Facts> {
        draw(&Set { h, n, d_model, head: 0 }).unwrap()
    }

    #[test]
    fn at_first_it_counts_the_layer_of_the_chapter() {
        let shown = LIVE.at([]).unwrap();
        let work = crate::counting::work(512, 8, 64, 100).unwrap().total();
        let Facts { of_projections, of_pairs, .. } = shown.facts;
        assert_eq!(100 * (of_projections + of_pairs), work);
        insta::assert_snapshot!(shown.words, @"8 heads of 64: 1,048,576 parameters. Each of 100 tokens takes 1,150,976 multiply-adds (1,048,576 with the matrices, 102,400 with keys and values) and 800 exponentials; all of them take 115,097,600 and 80,000.");
    }

    /// The areas are those of the drawing, and what a real layer counts.
    #[test]
    fn areas_are_the_counts_of_real_layers_whatever_the_number_of_heads() {
        for (d_model, h, n) in
            [(128, 1, 7), (256, 64, 1200), (512, 8, 1), (512, 64, 1024)]
        {
            let LiveView { facts, figure, .. } = counted(d_model, h, n);
            let real = crate::counting::count(Dims::new(d_model, h).unwrap(), false);
            assert_eq!(facts.parameters, real.total());
            let entries: Vec<u64> = figure.tables()[0]
                .rows
                .iter()
                .map(|row| row[3].replace(',', "").parse().unwrap())
                .collect();
            assert_eq!(entries[..4].iter().sum::<u64>(), facts.of_projections);
            assert_eq!(entries[4] + entries[5], facts.of_pairs);
            assert_eq!(entries[6], facts.exponentials);
            let one = counted(d_model, 1, n).facts;
            let of_heads = Facts { exponentials: one.exponentials * h as u64, ..one };
            assert_eq!(facts, of_heads);
        }
    }

    #[test]
    fn a_head_beyond_the_last_lights_the_last() {
        let last = draw(&Set { h: 2, n: 3, d_model: 128, head: 63 }).unwrap();
        let expected = draw(&Set { h: 2, n: 3, d_model: 128, head: 1 }).unwrap();
        assert_eq!(last.figure, expected.figure);
    }
}

//! What a layer of any size costs: live.

use anyhow::Result;
use attention::{Cost, Count, Dims, MultiplyAdds, ParameterCount, thousands};
use figures::{Figure, NamedBar, NamedBars, formula, named_bars, palette};

use crate::live::{LiveFigure, LiveView, Question, Settings, live};

/// Counts a layer of the sizes that its reader sets.
pub(crate) const LIVE: LiveFigure<Set, Facts> =
    LiveFigure::new("ledger", draw, QUESTIONS);

const QUESTIONS: &[Question<Set, Facts>] = &[
    Question {
        ask: "Change one size, so that softmax takes 32 times as many exponentials and \
              neither total changes.",
        is_answered: |_, it| {
            let first = draw(&Set::first()).map(|view| view.facts);
            first.is_ok_and(|first| {
                *it == Facts { exponentials: 32 * first.exponentials, ..first }
            })
        },
        answer: |set| set.h = 256,
        found: "More heads cost neither parameters nor multiply-adds: each is narrower. \
                But each has a map of its own.",
    },
    Question {
        ask: "From how many tokens on do products of pairs cost more than the four \
              projections? Set the smallest such n.",
        is_answered: |set, it| set.n as u64 == it.crossing,
        answer: |set| set.n = 513,
        found: "From 2 d_model + 1 on: a token costs 4 d_model² multiply-adds in \
                projections, a pair of tokens 2 d_model.",
    },
    Question {
        ask: "Leave the biases on. How wide must the layer be for them to be less than a \
              thousandth of its parameters?",
        is_answered: |set, it| {
            let n_biases = it.parameters - 4 * set.d_model.pow(2);
            set.biases && 1000 * n_biases < it.parameters
        },
        answer: |set| set.d_model = 1024,
        found: "From a width of 1,000 on: there are d_model weights to each bias.",
    },
];

// Every one of these widths can be divided among every one of these heads.
live! {
    struct Set {
        d_model: usize = "Width d_model", power_of_two([8, 14], 8);
        h: usize = "Heads h", power_of_two([0, 8], 3);
        n: usize = "Tokens n", count([1, 1_000_000], 30);
        biases: bool = "Biases", switch(true);
    }

    struct Facts {
        parameters: usize,
        /// Multiply-adds in all.
        work: u64,
        /// From so many tokens on, products of pairs cost more than the projections.
        crossing: u64, exponentials: u64,
    }
}

fn draw(&Set { d_model, h, n, biases }: &Set) -> Result<LiveView<Facts>> {
    let dims = Dims::new(d_model, h)?;
    let parameters = ParameterCount::of_dims(dims, biases)?;
    let work = MultiplyAdds::count(dims, n, n)?;
    let title = "With d_k = d_model / h, neither parameters nor multiply-adds depend on \
                 the number of heads";
    let figure = layer_costs(title, &parameters, &work)?;

    let [projections, pairs] = apart(&work);
    // By the token and by the pair: n tokens take n and n² times as much.
    let [token, pair] = apart(&MultiplyAdds::count(dims, 1, 1)?);
    let crossing = token / pair + 1;
    let exponentials = h as u64 * (n as u64).pow(2);
    let words = format!(
        "With h = {} and d_k = {}: {} parameters. Of {} multiply-adds at n = {}, {} are in the four \
         projections and {} in products of pairs. What grows with the heads is softmax: \
         {} exponentials.",
        h,
        dims.d_k(),
        thousands(parameters.total()),
        thousands(work.total()),
        thousands(n),
        thousands(projections),
        thousands(pairs),
        thousands(exponentials),
    );
    let (parameters, work) = (parameters.total(), work.total());
    Ok(LiveView {
        figure,
        words,
        facts: Facts { parameters, work, crossing, exponentials },
    })
}

/// The multiply-adds of the projections, and of the products of pairs.
fn apart(work: &MultiplyAdds) -> [u64; 2] {
    let pairs = work.costs().iter().filter(|cost| OF_PAIRS.contains(&cost.name));
    let pairs = pairs.map(|cost| cost.multiply_adds).sum();
    [work.total() - pairs, pairs]
}

/// Bars of a layer's parameters by matrix and bias, and of the multiply-adds of a pass by
/// step: products of pairs of tokens in another colour than projections.
fn layer_costs(
    title: &str,
    parameters: &ParameterCount,
    work: &MultiplyAdds,
) -> figures::Result<Figure> {
    let matrices = parameters.counts().iter().map(matrix).collect();
    let steps = work.costs().iter().map(step).collect();
    let lists = [
        list("parameters", parameters.total() as u64, matrices),
        list("multiply-adds", work.total(), steps),
    ];
    let [of_matrices, of_steps] = lists.each_ref().map(|list| list.heading.as_str());
    let sentence = format!(
        "Bars of the parameters of a layer by matrix, and of its work by step: \
         {of_matrices}, and {of_steps}."
    );
    let panels = lists.map(|list| {
        let most = list.most();
        (list, most)
    });
    named_bars(title, &panels, 76.0, sentence)
}

/// The steps that look at pairs of tokens.
const OF_PAIRS: [&str; 2] = ["Q Kᵀ", "A V"];

fn list(what: &'static str, total: u64, bars: Vec<NamedBar>) -> NamedBars {
    NamedBars {
        heading: format!("{} {what}", thousands(total)), // `263,168 parameters`
        caption: what.to_owned(),
        columns: ["", "sizes", what],
        colours: bars.iter().map(colour).collect(),
        bars,
        total,
        widths: [11, 15],
    }
}

fn colour(bar: &NamedBar) -> &'static str {
    palette::head(usize::from(OF_PAIRS.contains(&bar.name.as_str())))
}

fn matrix(count: &Count) -> NamedBar {
    let (rows, columns) = count.shape();
    let sizes = match count.copies() {
        1 => format!("({rows}, {columns})"),
        copies => format!("{copies} × ({rows}, {columns})"),
    };
    bar(count.name(), sizes, count.parameters() as u64)
}

fn step(cost: &Cost) -> NamedBar {
    bar(cost.name, cost.formula.clone(), cost.multiply_adds)
}

fn bar(name: &str, sizes: String, n: u64) -> NamedBar {
    let texts = [thousands(n), formula(&sizes)];
    NamedBar { name: name.to_owned(), sizes, n, texts }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(
        d_model: usize,
        h: usize,
        n: usize,
        biases: bool,
    ) -> Result<LiveView<Facts>> {
        draw(&Set { d_model, h, n, biases })
    }

    #[test]
    fn at_first_it_counts_the_layer_of_the_chapter() {
        let dims = Dims::new(256, 8).unwrap();
        let real = crate::counting::count(dims, true).total();
        let shown = LIVE.at([]).unwrap();
        assert_eq!((shown.facts.parameters, shown.facts.work), (real, 8_325_120));
        insta::assert_snapshot!(shown.words, @"With h = 8 and d_k = 32: 263,168 parameters. Of 8,325,120 multiply-adds at n = 30, 7,864,320 are in the four projections and 460,800 in products of pairs. What grows with the heads is softmax: 7,200 exponentials.");
    }

    #[test]
    fn totals_are_those_of_real_layers_whatever_the_number_of_heads() {
        for (d_model, n, biases) in [(48, 7, true), (60, 500, false), (1, 3, true)] {
            let totals = |h: usize| {
                let Facts { parameters, work, exponentials, .. } =
                    counted(d_model, h, n, biases).unwrap().facts;
                assert_eq!(exponentials, (h * n * n) as u64);
                let dims = Dims::new(d_model, h).unwrap();
                let real = crate::counting::count(dims, biases).total();
                assert_eq!(parameters, real);
                (parameters, work)
            };
            for h in (1..=d_model).filter(|h| d_model.is_multiple_of(*h)) {
                assert_eq!(totals(h), totals(1));
            }
        }
    }

    #[test]
    fn pairs_cost_more_from_the_length_that_it_names() {
        for (d_model, h) in [(256, 8), (1, 1), (512, 8), (16_384, 256)] {
            let shown = counted(d_model, h, 1, false).unwrap();
            let crossing = shown.facts.crossing as usize;
            assert_eq!(crossing, 2 * d_model + 1);
            let dims = Dims::new(d_model, h).unwrap();
            let [before, after] = [crossing - 1, crossing]
                .map(|n| apart(&MultiplyAdds::count(dims, n, n).unwrap()));
            assert!(before[1] <= before[0] && after[1] > after[0], "{d_model}");
        }
    }

    #[test]
    fn every_layer_that_can_be_set_is_counted() {
        for (d_model, h) in (8..=14).flat_map(|d| (0..=8).map(move |h| (1 << d, 1 << h)))
        {
            assert!(counted(d_model, h, 1_000_000, true).is_ok(), "{d_model} among {h}");
        }
    }

    #[test]
    fn the_largest_layer_is_counted_and_what_does_not_divide_refused() {
        let shown = counted(16_384, 256, 1_000_000, true).unwrap();
        assert!(shown.words.contains("33,841,741,824,000,000"), "{}", shown.words);
        let refused = counted(256, 12, 30, true).unwrap_err();
        insta::assert_snapshot!(refused, @"d_model 256 cannot be divided among 12 heads: 256 = 12 × 21 + 4");
        let refused = counted(1, 256, 30, true).unwrap_err();
        insta::assert_snapshot!(refused, @"d_model 1 cannot be divided among 256 heads: 1 = 256 × 0 + 1");
    }
}

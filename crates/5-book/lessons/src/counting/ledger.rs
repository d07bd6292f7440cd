//! What a layer of any size costs: live.

use anyhow::Result;
use attention::{Dims, MultiplyAdds, ParameterCount, thousands};
use figures::layer_costs;

use crate::live::{Control, Kind, Live, LiveView, Settings};

/// Counts a layer of the sizes that its reader sets.
pub const LIVE: Live = Live {
    name: "ledger",
    ask: "Which totals change if you take 256 heads for 8, and what grows in their place? \
          Why is it not possible to take 12? Widen the layer to 512, and then make the \
          sentence twice as long: from how many tokens on are pairs most of the work?",
    questions: &[],
    weights: None,
    controls,
    draw,
    training: None,
};

fn controls() -> Vec<Control> {
    let count = |range, first| Kind::Count { range, first };
    vec![
        Control::new("d_model", "Width d_model", count([1, 16_384], 256)),
        Control::new("h", "Heads h", count([1, 256], 8)),
        Control::new("n", "Tokens n", count([1, 1_000_000], 30)),
        Control::new("biases", "Biases", Kind::Switch { first: true }),
    ]
}

fn draw(settings: &Settings) -> Result<LiveView> {
    let (h, n) = (settings.count("h")?, settings.count("n")?);
    let dims = Dims::new(settings.count("d_model")?, h)?;
    let parameters = ParameterCount::of_dims(dims, settings.is_on("biases")?)?;
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
         projections and {} in products of pairs, which cost more from n = {} on. What \
         grows with the heads is softmax: {} exponentials.",
        h,
        dims.d_k(),
        thousands(parameters.total()),
        thousands(work.total()),
        thousands(n),
        thousands(projections),
        thousands(pairs),
        thousands(crossing),
        thousands(exponentials),
    );
    let parts = parameters.counts().iter().map(|count| count.parameters() as f64);
    let steps = work.costs().iter().map(|cost| cost.multiply_adds as f64);
    let sums = [parameters.total() as u64, work.total(), crossing, exponentials];
    let numbers = parts.chain(steps).chain(sums.map(|sum| sum as f64)).collect();
    Ok(LiveView { figure, words, numbers })
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

    fn at(d_model: usize, h: usize, n: usize, biases: &str) -> Result<LiveView> {
        let [d_model, h, n] = [d_model, h, n].map(|size| size.to_string());
        LIVE.at([("d_model", &*d_model), ("h", &*h), ("n", &*n), ("biases", biases)])
    }

    #[test]
    fn at_first_it_counts_the_layer_of_the_chapter() {
        let dims = Dims::new(256, 8).unwrap();
        let real = crate::counting::count(dims, true).total();
        let shown = LIVE.at([]).unwrap();
        let [.., total, work, _, _] = shown.numbers[..] else { panic!() };
        assert_eq!([total, work], [real as f64, 8_325_120.0]);
        insta::assert_snapshot!(shown.words, @"With h = 8 and d_k = 32: 263,168 parameters. Of 8,325,120 multiply-adds at n = 30, 7,864,320 are in the four projections and 460,800 in products of pairs, which cost more from n = 513 on. What grows with the heads is softmax: 7,200 exponentials.");
    }

    #[test]
    fn totals_are_those_of_real_layers_whatever_the_number_of_heads() {
        for (d_model, n, biases) in [(48, 7, "on"), (60, 500, "off"), (1, 3, "on")] {
            let totals = |h: usize| {
                let shown = at(d_model, h, n, biases).unwrap();
                let [.., total, work, _, exponentials] = shown.numbers[..] else {
                    panic!()
                };
                assert_eq!(exponentials, (h * n * n) as f64);
                let dims = Dims::new(d_model, h).unwrap();
                let real = crate::counting::count(dims, biases == "on").total();
                assert_eq!(total, real as f64);
                [total, work]
            };
            for h in (1..=d_model).filter(|h| d_model.is_multiple_of(*h)) {
                assert_eq!(totals(h), totals(1));
            }
        }
    }

    #[test]
    fn pairs_cost_more_from_the_length_that_it_names() {
        for (d_model, h) in [(256, 8), (1, 1), (512, 8), (16_384, 256)] {
            let shown = at(d_model, h, 1, "off").unwrap();
            let crossing = shown.numbers[shown.numbers.len() - 2] as usize;
            assert_eq!(crossing, 2 * d_model + 1);
            let dims = Dims::new(d_model, h).unwrap();
            let [before, after] = [crossing - 1, crossing]
                .map(|n| apart(&MultiplyAdds::count(dims, n, n).unwrap()));
            assert!(before[1] <= before[0] && after[1] > after[0], "{d_model}");
        }
    }

    #[test]
    fn the_largest_layer_is_counted_and_what_does_not_divide_refused() {
        let shown = at(16_384, 256, 1_000_000, "on").unwrap();
        assert!(shown.words.contains("33,841,741,824,000,000"), "{}", shown.words);
        let refused = at(256, 12, 30, "on").unwrap_err();
        insta::assert_snapshot!(refused, @"d_model 256 cannot be divided among 12 heads: 256 = 12 × 21 + 4");
        let refused = at(1, 256, 30, "on").unwrap_err();
        insta::assert_snapshot!(refused, @"d_model 1 cannot be divided among 256 heads: 1 = 256 × 0 + 1");
    }
}

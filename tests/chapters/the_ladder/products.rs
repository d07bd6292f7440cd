//! How much of a layer's time is that of its products: the control of the comparison.

use lessons::the_ladder::CASE;
use runs::{Pass, Row, Run};

use super::reference::time;
use crate::quote::{Table, assert_quote, percent, values};

/// A product, and the layer that calls it, where it was timed too.
const PRODUCTS: [(&str, Option<&str>); 6] = [
    ("packed product", Some("packed")),
    ("matrixmultiply product", Some("threads")),
    ("PyTorch product", Some("PyTorch sdpa")),
    ("candle product", None),
    ("burn (ndarray) product", None),
    ("burn (flex) product", None),
];

#[test]
fn the_rate_of_one_product_next_to_the_layer() {
    let [products, reference] = [runs::products(), runs::reference()].map(Result::unwrap);
    let [peak, its_peak] = [&products, &reference].map(|run| run.machine.fma_peak_gflops);
    // Times of the two runs are compared: the machines must be alike.
    assert_eq!(products.machine.processor, reference.machine.processor);
    assert_eq!(products.machine.versions, reference.machine.versions);
    assert!((0.97..1.03).contains(&(peak / its_peak)), "{peak} {its_peak}");

    let mut table = Table::new([
        "one product",
        "time",
        "of the peak",
        "four",
        "the layer",
        "the rest",
    ]);
    let mut timed = Vec::new();
    for (product, layer) in PRODUCTS {
        let one = row(&products, product, Pass::Product);
        let share = percent(best_gflops(one) / peak);
        let four = 4.0 * one.min_ms;
        let layer = layer.map(|who| row(&reference, who, Pass::Forward).min_ms);
        let rest = layer.map(|ms| ms - four);
        timed.extend(layer.zip(rest));
        let who = product.trim_end_matches(" product");
        let [whole, rest] = [layer, rest].map(|ms| ms.map_or("".into(), time));
        table.row([who, &time(one.min_ms), &share, &time(four), &whole, &rest]);
    }
    // What the text says in words.
    let [ours, library, theirs] = timed[..] else { panic!("three layers") };
    let of_products = part_of_products(ours, theirs);
    assert!((0.0..0.2).contains(&of_products), "{of_products}");
    let both = ["packed product", "matrixmultiply product"];
    let both = both.map(|who| row(&products, who, Pass::Product).min_ms);
    assert!((0.95..1.05).contains(&(both[1] / both[0])), "{both:?}");
    assert!(library.1 > 1.5 * ours.1);
    let said =
        [("products_peak", format!("{peak:.0}")), ("of_products", percent(of_products))];
    assert_quote!("the_ladder_products", table.text());
    assert_quote!("the_ladder_products_values", values(&said));
}

/// Of the lead of the first layer over the second, the part in its products; each is the
/// time of the layer and of the rest, without its products.
fn part_of_products(fast: (f64, f64), slow: (f64, f64)) -> f64 {
    1.0 - (slow.1 - fast.1) / (slow.0 - fast.0)
}

/// The control can fail: a lead that is all in the products is said to be, one that is all
/// in the rest too, and times that are a twentieth off change that little.
#[test]
fn a_lead_in_the_products_would_be_seen() {
    let layer = |products: f64, rest: f64| (products + rest, rest);
    let ours = layer(46.0, 189.0);
    assert_eq!(part_of_products(ours, layer(146.0, 189.0)), 1.0);
    assert_eq!(part_of_products(ours, layer(46.0, 289.0)), 0.0);
    for noise in [0.95, 1.05] {
        let found = part_of_products(ours, layer(46.0 * noise, 289.0));
        assert!(found.abs() < 0.05, "{found}");
    }
}

/// The row of the chapter's case.
fn row<'a>(run: &'a Run, who: &str, pass: Pass) -> &'a Row {
    let case = run.case(CASE).expect("the chapter's case");
    let is_it = |row: &&Row| row.who == who && row.pass == pass.name();
    case.rows.iter().find(is_it).unwrap_or_else(|| panic!("no {who}"))
}

/// GFLOP/s of the best round.
fn best_gflops(row: &Row) -> f64 {
    row.gflops * row.median_ms / row.min_ms
}

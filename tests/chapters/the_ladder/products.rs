//! How much of a layer's time is that of its products: the control of the comparison.

use lessons::the_ladder::measured::{self, Product};

use crate::quote::{assert_quote, percent, values};

#[test]
fn the_rate_of_one_product_next_to_the_layer() {
    let [products, reference] = [runs::products(), runs::reference()].map(Result::unwrap);
    let [peak, its_peak] = [&products, &reference].map(|run| run.machine.fma_peak_gflops);
    // Times of the two runs are compared: the machines must be alike.
    assert_eq!(products.machine.processor, reference.machine.processor);
    assert_eq!(products.machine.versions, reference.machine.versions);
    assert!((0.97..1.03).contains(&(peak / its_peak)), "{peak} {its_peak}");

    let products = measured::products().unwrap();
    let timed = |it: &Product| Some((it.layer_ms?, it.layer_ms? - 4.0 * it.ms));
    let timed: Vec<_> = products.iter().filter_map(timed).collect();
    // What the text says in words.
    let [ours, library, theirs] = timed[..] else { panic!("three layers") };
    let of_products = part_of_products(ours, theirs);
    assert!((0.0..0.2).contains(&of_products), "{of_products}");
    let both = [products[0].ms, products[1].ms];
    assert!((0.95..1.05).contains(&(both[1] / both[0])), "{both:?}");
    assert!(library.1 > 1.5 * ours.1);
    let quoted = [("of_products", percent(of_products))];
    assert_quote!("the_ladder_products_values", values(&quoted));
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

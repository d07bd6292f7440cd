use crate::scores_softmax_scale;

#[test]
fn what_a_control_cannot_be_set_to_is_named() {
    let live = &scores_softmax_scale::scale::LIVE;
    let refused = |key, text| live.at([(key, text)]).unwrap_err().to_string();
    insta::assert_snapshot!(refused("dk", "4"), @"dk is not among products, d_k, temperature");
    insta::assert_snapshot!(refused("d_k", "0"), @"d_k is “0”, expected a whole number from 1 to 4096");
    insta::assert_snapshot!(refused("d_k", "4.5"), @"d_k is “4.5”, expected a whole number from 1 to 4096");
    insta::assert_snapshot!(refused("temperature", "NaN"), @"Temperature is “NaN”, expected a number from 0.1 to 3");
    insta::assert_snapshot!(refused("products", "1,2,x,4,5"), @"Products, q · k, plane, is “x”, expected a number from -1000 to 1000");
    insta::assert_snapshot!(refused("products", "1,2"), @"Products has shape (1, 2), expected (1, 5)");
}

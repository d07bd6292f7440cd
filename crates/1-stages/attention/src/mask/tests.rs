use super::*;

fn picture(mask: &Mask, n_q: usize, n_kv: usize) -> String {
    mask.picture(n_q, n_kv)
}

#[test]
fn causal_lets_the_last_query_see_every_key() {
    insta::assert_snapshot!(picture(&Mask::Causal, 3, 5), @"
    xxx..
    xxxx.
    xxxxx
    ");
    insta::assert_snapshot!(picture(&Mask::Causal, 5, 3), @"
    ...
    ...
    x..
    xx.
    xxx
    ");
}

#[test]
fn causal_counted_from_the_top_lets_the_first_query_see_one_key() {
    insta::assert_snapshot!(picture(&Mask::CausalTopLeft, 3, 5), @"
    x....
    xx...
    xxx..
    ");
    insta::assert_snapshot!(picture(&Mask::CausalTopLeft, 5, 3), @"
    x..
    xx.
    xxx
    xxx
    xxx
    ");
    let square = |mask: Mask| picture(&mask, 4, 4);
    assert_eq!(square(Mask::Causal), square(Mask::CausalTopLeft));
}

#[test]
fn a_mask_of_keys_blocks_columns() {
    let keys = vec![true, false, true];
    insta::assert_snapshot!(picture(&Mask::Keys(keys), 2, 3), @"
    x.x
    x.x
    ");
}

#[test]
fn several_masks_block_what_any_of_them_blocks() {
    let both = Mask::All(vec![Mask::Causal, Mask::FirstKeys(3)]);
    insta::assert_snapshot!(picture(&both, 4, 4), @"
    x...
    xx..
    xxx.
    xxx.
    ");
}

#[test]
fn blocking_wins_over_nan_and_the_largest_of_a_row_adds_nothing() {
    let scores = Matrix::from_row_slice(1, 3, &[f64::NAN, 1.0, 2.0]);
    let minus = f64::NEG_INFINITY;
    let added = Mask::Additive(Matrix::from_row_slice(1, 3, &[minus, 0.5, 0.0]));
    assert_eq!(added.apply(scores).as_slice(), [minus, 1.0, 1.5]);
}

#[test]
fn what_is_added_by_several_masks_is_taken_together() {
    let added = |rows: &[f64]| Mask::Additive(Matrix::from_row_slice(1, 3, rows));
    let lowest = f64::MIN;
    let both = Mask::All(vec![added(&[1e9, lowest, 3.0]), added(&[-1e9, lowest, -4.0])]);
    // Two very low numbers are one, and do not block.
    assert_eq!(both.added((0, 1), (1, 3)), Some(lowest));
    assert_eq!(both.row(0, (1, 3)), [Some(0.0), Some(lowest), Some(-1.0)]);
    let blocked = Mask::All(vec![both, Mask::Keys(vec![false, false, true])]);
    assert_eq!(blocked.row(0, (1, 3)), [None, None, Some(0.0)]);
}

#[test]
fn a_head_sees_its_own_mask_inside_others() {
    let by_head = Mask::PerHead(vec![Mask::None, Mask::FirstKeys(1)]);
    let mask = Mask::All(vec![Mask::Causal, by_head]);
    insta::assert_snapshot!(picture(&mask.of_head(0), 2, 2), @"
    x.
    xx
    ");
    insta::assert_snapshot!(picture(&mask.of_head(1), 2, 2), @"
    x.
    x.
    ");
}

#[test]
fn a_mask_that_does_not_fit_is_refused_with_its_numbers() {
    let refused = |mask: Mask| mask.check(2, 3, 4).unwrap_err().to_string();
    insta::assert_snapshot!(refused(Mask::Allowed(Matrix::from_element(4, 4, true))), @"the mask has shape (4, 4), expected (3, 4)");
    insta::assert_snapshot!(refused(Mask::FirstKeys(5)), @"the mask lets the first 5 keys be seen and there are only 4");
    insta::assert_snapshot!(refused(Mask::Keys(vec![true; 3])), @"the mask of keys has 3 entries, expected 4");
    insta::assert_snapshot!(refused(Mask::PerHead(vec![Mask::None])), @"1 masks were given for 2 heads: give one per head");
    let nan = Matrix::from_fn(3, 4, |i, j| if (i, j) == (1, 2) { f64::NAN } else { 0.0 });
    insta::assert_snapshot!(refused(Mask::Additive(nan)), @"the additive mask holds NaN at query 1, key 2: entries are finite, or −∞ for a key that may not be attended to");
}
#[test]
fn masks_in_masks_have_an_end() {
    let nested = |levels: usize, innermost: Mask| {
        (0..levels).fold(innermost, |mask, _| Mask::All(vec![mask]))
    };
    assert_eq!(nested(64, Mask::Causal).check(2, 3, 4), Ok(()));
    let refused = nested(10_000, Mask::Causal).check(2, 3, 4).unwrap_err();
    insta::assert_snapshot!(refused, @"the mask holds masks within masks, and more than 64 levels of them");
    let wide = Mask::All(vec![nested(10_000, Mask::None), Mask::None]);
    assert_eq!(wide.check(2, 3, 4), Err(refused));
}

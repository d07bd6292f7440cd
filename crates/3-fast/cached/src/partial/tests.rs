//! Parts of the keys against the whole.

use std::ops::Range;

use attention::{Batch, Rng, SeedableRng, attend_heads, max_abs_diff, random_matrix};

use super::*;

/// Queries of two sequences meet their keys in parts, the last part first.
fn in_parts(
    all: &[Matrix<f32>; 3],
    heads: GroupedHeads,
    mask: &Mask,
    cuts: &[usize],
) -> Matrix<f32> {
    let mut attention = PartialAttention::new(heads);
    // The second time in memory that other queries have left.
    for q in [-&all[0], all[0].clone()] {
        attention.ask(2, q.as_view()).unwrap();
        for part in cuts.windows(2).rev() {
            see(&mut attention, all, heads, mask, part[0]..part[1]);
        }
    }
    attention.outputs()
}

fn see(
    attention: &mut PartialAttention,
    [q, k, v]: &[Matrix<f32>; 3],
    heads: GroupedHeads,
    mask: &Mask,
    keys: Range<usize>,
) {
    let (n_q, n_kv) = (q.nrows() / 2, k.nrows() / 2);
    let of_sequence =
        |m: &Matrix<f32>, s| m.rows(s * n_kv + keys.start, keys.len()).into_owned();
    let each = [0, 1].map(|s| [of_sequence(k, s), of_sequence(v, s)]);
    let views = each.each_ref().map(|both| both.each_ref().map(|m| m.as_view()));
    let mut sent = vec![f32::NAN; 7]; // what was there before
    PackedKeys::pack(heads, &views, &mut sent).unwrap();
    let packed = PackedKeys::new(heads, 2 * keys.len(), &sent).unwrap();
    let positions = Positions { queries: 0..n_q, keys, lengths: (n_q, n_kv) };
    attention.see(&packed, std::slice::from_ref(mask), &positions).unwrap();
}

/// The same by the definition, all keys at once.
fn whole(all: &[Matrix<f32>; 3], n_heads: usize, mask: &Mask) -> Matrix<f64> {
    let of_sequence = |s: usize| {
        let [q, k, v] = all.each_ref().map(|m| {
            let n = m.nrows() / 2;
            m.rows(s * n, n).map(f64::from)
        });
        let views = (q.as_view(), k.as_view(), v.as_view());
        attend_heads(views.0, views.1, views.2, n_heads, None, mask).unwrap().out
    };
    Batch::stack(&[0, 1].map(of_sequence)).unwrap().tokens().clone()
}

#[test]
fn parts_of_the_keys_make_the_whole() {
    let rng = &mut Rng::seed_from_u64(3);
    let heads = GroupedHeads::new([3, 3], [5, 7]).unwrap();
    let cases = [
        (2, vec![0, 1, 2]),
        (50, vec![0, 1, 50]),
        (100, vec![0, 49, 50, 100]),
        (300, vec![0, 10, 250, 300]),
    ];
    let cases = cases.into_iter().take(if cfg!(miri) { 1 } else { 4 });
    for (n, cuts) in cases {
        // Scores of tens: references differ from 0.
        let all = [(5, 8.0), (5, 4.0), (7, 1.0)]
            .map(|(width, size)| random_matrix::<f32>(2 * n, 3 * width, size, rng));
        let keys = Mask::Keys((0..n).map(|j| j % 3 != 1).collect());
        let scattered = Matrix::from_fn(n, n, |i, j| (3 * i + 5 * j) % 7 < 4);
        let added = random_matrix(n, n, 5.0, rng);
        for mask in [
            Mask::None,
            Mask::Causal,
            Mask::FirstKeys(n / 2),
            Mask::All(vec![keys, Mask::CausalTopLeft]),
            Mask::Allowed(scattered),
            Mask::All(vec![Mask::Causal, Mask::Additive(added)]),
        ] {
            let found = in_parts(&all, heads, &mask, &cuts).map(f64::from);
            let diff = max_abs_diff(&whole(&all, 3, &mask), &found).unwrap();
            assert!(diff < 1e-4, "{n} tokens, {cuts:?}, {mask:?}: {diff:e}");
        }
    }
}

#[test]
fn what_is_not_finite_stays_where_it_is_seen() {
    let rng = &mut Rng::seed_from_u64(4);
    let heads = GroupedHeads::new([1, 1], [4, 4]).unwrap();
    let mut all = [(); 3].map(|()| random_matrix::<f32>(2 * 60, 4, 1.0, rng));
    all[1][(30, 0)] = f32::NAN;
    all[2][(60 + 10, 0)] = f32::INFINITY;
    let out = in_parts(&all, heads, &Mask::Causal, &[0, 20, 40, 60]);
    for (row, numbers) in out.row_iter().enumerate() {
        let sees = (30..60).contains(&row) || row >= 60 + 10;
        assert_eq!(!numbers.iter().all(|x| x.is_finite()), sees, "row {row}");
    }
    // Nothing is seen, and nothing comes out.
    let out = in_parts(&all, heads, &Mask::FirstKeys(0), &[0, 30, 60]);
    assert!(out.iter().all(|&x| x == 0.0));
}

#[test]
fn a_share_that_is_nothing_beside_those_of_other_parts_leaves_its_value_out() {
    let heads = GroupedHeads::new([1, 1], [1, 1]).unwrap();
    let column = |rows: [f32; 4]| Matrix::from_column_slice(4, 1, &rows);
    for score in [1e3, -1e3] {
        // Of either sequence, one key scores 1000 more than the other.
        let keys = column([score, 0.0, score, 0.0]);
        let mut values = column([5.0, 5.0, 5.0, 5.0]);
        let hidden = usize::from(score > 0.0);
        (values[hidden], values[2 + hidden]) = (f32::NAN, f32::INFINITY);
        let all = [column([1.0; 4]), keys, values];
        let out = in_parts(&all, heads, &Mask::None, &[0, 1, 2]);
        assert!(out.iter().all(|&x| x == 5.0), "{out}");
    }
}

#[test]
fn what_does_not_fit_is_refused_with_its_numbers() {
    let heads = GroupedHeads::new([2, 1], [4, 4]).unwrap();
    let q = Matrix::zeros(6, 8);
    let mut attention = PartialAttention::new(heads);
    let refused = attention.ask(4, q.as_view()).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "6 rows cannot be cut into 4 sequences of equal length"
    );
    let refused = PackedKeys::new(heads, 3, &[0.0; 5]).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the list of packed keys and values has 5 entries, expected 768"
    );
    attention.ask(2, q.as_view()).unwrap();
    let numbers = vec![0.0; PackedKeys::len_of(heads, 10)];
    let keys = PackedKeys::new(heads, 10, &numbers).unwrap();
    let mut see = |queries, keys_at, lengths| {
        let positions = Positions { queries, keys: keys_at, lengths };
        attention.see(&keys, &[Mask::None], &positions).unwrap_err().to_string()
    };
    assert_eq!(
        see(0..3, 8..13, (20, 12)),
        "the sequence that keys are a part of has 12 entries, expected 13"
    );
    assert_eq!(
        see(0..4, 0..5, (20, 12)),
        "the list of queries has 3 entries, expected 4"
    );
    assert_eq!(
        see(0..3, 0..4, (20, 12)),
        "the packed list of keys has 10 entries, expected 8"
    );
}

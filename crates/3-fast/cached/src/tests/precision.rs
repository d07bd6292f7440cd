//! Caches in fewer bits: the attention of rounded keys and values, and no other.

use half::f16;

use super::*;

const FEWER: [Precision; 2] = [Precision::F16, Precision::Q8];

/// What a cache keeps of some rows, number by number.
fn rounded(precision: Precision, all: &Matrix<f32>, width: usize) -> Matrix<f32> {
    Matrix::from_fn(all.nrows(), all.ncols(), |row, column| {
        let x = all[(row, column)];
        match precision {
            Precision::F32 => x,
            Precision::F16 => f16::from_f32(x).to_f32(),
            Precision::Q8 => {
                let head = column / width;
                let sizes = (0..width).map(|f| all[(row, head * width + f)].abs());
                let scale = sizes.fold(0.0, f32::max) / 127.0;
                if scale == 0.0 { 0.0 } else { scale * (x / scale).round() }
            }
        }
    })
}

/// The same tokens in fewer bits, appended in pieces, some of them twice.
fn kept(
    heads: GroupedHeads,
    precision: Precision,
    [k, v]: &[Matrix<f32>; 2],
) -> PackedCache {
    let mut cache = PackedCache::with_precision(heads, 0, precision);
    let n = k.nrows();
    let mut append = |first: usize, end: usize| {
        cache.truncate(first);
        let of = |all: &Matrix<f32>| all.rows(first, end - first).into_owned();
        cache.append(&of(k), &of(v)).unwrap();
    };
    append(0, n);
    let mut first = n / 3;
    while first < n {
        let end = n.min(2 * first + 1);
        append(first, end);
        first = end;
    }
    cache
}

#[test]
fn what_is_attended_to_is_what_was_rounded() {
    let rng = &mut Rng::seed_from_u64(21);
    let lengths: &[usize] = if cfg!(miri) { &[50] } else { &[1, 48, 49, 193, 600] };
    let mut largest = [0f64; 2];
    for (n_heads, widths) in [([2, 2], [3, 5]), ([9, 3], [64, 64]), ([5, 1], [40, 33])] {
        let heads = heads(n_heads, widths);
        for (precision, &n) in
            FEWER.iter().flat_map(|p| lengths.iter().map(move |n| (*p, n)))
        {
            let (_, kv) = filled(heads, n, rng);
            let [k, v] = [0, 1].map(|i| rounded(precision, &kv[i], widths[i]));
            let cache = kept(heads, precision, &kv);
            let rounded = [k, v];
            let q: Matrix<f32> = random_matrix(n, heads.n_heads() * widths[0], 1.5, rng);
            for instructions in Instructions::available() {
                let plain = Scoring::default();
                let attention =
                    GroupedAttention::with_instructions(heads, plain, instructions);
                let (mut attention, width) =
                    (attention.unwrap(), heads.n_heads() * widths[1]);
                let [mut one, mut all] = [1, n].map(|n| Matrix::zeros(n, width));
                let last = q.rows(n - 1, 1).into_owned();
                attention.one_token(&last, &[&cache], &mut one).unwrap();
                attention.prompt(&q, &cache, &mut all).unwrap();
                let plain = Scoring::default();
                for (out, row) in [
                    (&one.row(0), n - 1),
                    (&all.row(n - 1), n - 1),
                    (&all.row(n / 2), n / 2),
                ] {
                    let q: Vec<f32> = q.row(row).iter().copied().collect();
                    let of = |kv| by_definition(heads, &q, kv, row + 1, &plain);
                    let apart = largest_difference(out.iter(), &of(&rounded));
                    let case =
                        format!("{precision:?}, {instructions}, {heads:?}, token {row}");
                    assert!(apart < 1e-5, "{case}: {apart:e}");
                    let nth = usize::from(precision == Precision::Q8);
                    let cost = largest_difference(out.iter(), &of(&kv));
                    largest[nth] = largest[nth].max(cost);
                }
                let maps = attention.rows(&last, &cache, &[n - 1]).unwrap();
                let sum: f32 = maps.iter().map(Matrix::sum).sum();
                assert!((sum - heads.n_heads() as f32).abs() < 1e-4);
            }
        }
    }
    println!(
        "outputs beside those of floats: f16 {:.1e}, 8 bits {:.1e}",
        largest[0], largest[1]
    );
    // Numbers up to 1.5 are off by 1/4096 and by 1/170 at most: rounding is not for nothing,
    // and no more than that.
    assert!(largest[0] > 1e-5 && largest[0] < 3e-3, "{largest:?}");
    assert!(largest[1] > 1e-4 && largest[1] < 3e-2, "{largest:?}");
}

#[test]
fn a_token_takes_the_bytes_of_its_bits() {
    let heads = heads([9, 3], [64, 40]);
    let bytes =
        |precision| PackedCache::with_precision(heads, 0, precision).bytes_of(3..5);
    assert_eq!(bytes(Precision::F32), 2 * 3 * (64 + 40) * 4);
    assert_eq!(bytes(Precision::F16), 2 * 3 * (64 + 40) * 2);
    assert_eq!(bytes(Precision::Q8), 2 * 3 * (64 + 40 + 4 + 4));
}

#[test]
fn what_cannot_be_kept_is_refused_and_the_cache_stays() {
    let heads = heads([2, 1], [8, 8]);
    let mut refused = Vec::new();
    for (precision, x) in [
        (Precision::F16, 65_520.0),
        (Precision::F16, f32::NEG_INFINITY),
        (Precision::Q8, f32::INFINITY),
        (Precision::Q8, f32::NAN),
    ] {
        let mut cache = PackedCache::with_precision(heads, 0, precision);
        let [mut k, mut v] = [0, 1].map(|_| Matrix::from_element(3, 8, 1.0));
        cache.append(&k, &v).unwrap();
        k[(1, 3)] = x;
        refused.push(cache.append(&k, &v).unwrap_err().to_string());
        k[(1, 3)] = 65_519.0; // is rounded to the largest that float16 has
        v[(2, 7)] = x;
        refused.push(cache.append(&k, &v).unwrap_err().to_string());
        assert_eq!(cache.n_tokens(), 3);
        v[(2, 7)] = -65_519.0;
        cache.append(&k, &v).unwrap();
        let mut out = Matrix::zeros(1, 2 * 8);
        let mut attention = GroupedAttention::new(heads, Scoring::default()).unwrap();
        let q = Matrix::from_element(1, 2 * 8, 1.0);
        attention.one_token(&q, &[&cache], &mut out).unwrap();
        assert!(out.iter().all(|y| y.is_finite()), "{precision:?}: {out}");
    }
    assert_eq!(
        refused[..2],
        [
            "the keys hold 65520, and float16 has no such number",
            "the values hold 65520, and float16 has no such number"
        ]
    );
    assert_eq!(
        refused[6..],
        [
            "the keys hold NaN, and 8 bits and a scale has no such number",
            "the values hold NaN, and 8 bits and a scale has no such number"
        ]
    );
}

//! What “Counting” quotes.

use attention::{
    Dims, LayerParameters, Linear, Mask, MultiplyAdds, ParameterCount, thousands,
};
use lessons::counting::count;

use crate::quote::{assert_quote, bound, values};
use stages::cases::{every_stage_and_batched, layer, tokens};

/// The parameters of the lines whose name starts so.
fn sum(count: &ParameterCount, start: &str) -> usize {
    let lines = count.counts().iter().filter(|line| line.name().starts_with(start));
    lines.map(|line| line.parameters()).sum()
}

#[test]
fn parameters_by_matrix_and_bias() {
    let dims = Dims::new(256, 8).unwrap();
    let with = count(dims, true);
    let without = count(dims, false);
    let of_512 = count(Dims::new(512, 8).unwrap(), true);
    let not_divided = count(Dims::with_head_sizes(256, 8, 256, 256).unwrap(), true);
    let trained = model_files::minilm().unwrap().parameters.count();
    let said = [
        ("d_k", dims.d_k().to_string()),
        ("concat_width", dims.concat_width().to_string()),
        ("biases", thousands(sum(&with, "b"))),
        ("with_biases", thousands(with.total())),
        ("in_words", with.in_words()),
        ("without_biases", thousands(without.total())),
        ("bytes_f32", thousands(4 * with.total())),
        ("w_o_512", thousands(sum(&of_512, "W^O"))),
        ("total_512", thousands(of_512.total())),
        ("total_384", thousands(trained.total())),
        ("not_divided_matrices", thousands(sum(&not_divided, "W"))),
        ("not_divided_times", (sum(&not_divided, "W") / sum(&with, "W")).to_string()),
    ];
    assert_quote!("counting_counts", values(&said));
}

#[test]
fn the_same_total_for_every_number_of_heads() {
    for n_heads in (1..=256).filter(|n_heads| 256 % n_heads == 0) {
        let count = count(Dims::new(256, n_heads).unwrap(), true);
        assert_eq!(count.total(), 4 * 256 * 256 + 4 * 256);
    }
}

#[test]
fn numbers_of_heads_that_do_not_divide_the_width() {
    let fit = (1..=16).filter(|&n_heads| Dims::new(256, n_heads).is_ok());
    let fit = fit.map(|n_heads| n_heads.to_string()).collect::<Vec<_>>().join(", ");
    assert_quote!("counting_fit", values(&[("fit_16", fit)]));
}

fn work(d_model: usize, n_heads: usize, width: usize, n: usize) -> MultiplyAdds {
    lessons::counting::work(d_model, n_heads, width, n).unwrap()
}

#[test]
fn work_of_one_wide_head_eight_narrow_and_eight_wide() {
    let [wide, narrow, undivided] =
        [(1, 512), (8, 64), (8, 512)].map(|(h, width)| work(512, h, width, 100));
    assert_eq!(wide.total(), narrow.total());
    assert_eq!(undivided.total(), 8 * narrow.total());
    let pairs = 100 * 100;
    let sensors = work(256, 8, 32, 30);
    let said = [
        ("total_8x64", thousands(narrow.total())),
        ("total_8x512", thousands(undivided.total())),
        ("times_8x512", (undivided.total() / narrow.total()).to_string()),
        ("pairs", thousands(pairs)),
        ("pairs_8", thousands(8 * pairs)),
        ("sensors", thousands(sensors.total())),
    ];
    assert_quote!("counting_work", values(&said));
}

#[test]
fn what_each_bias_does() {
    let (plain, x) = (layer(256, 8, 1), tokens(30, 256, 2));
    let with_bias_of = |which: usize| {
        let mut heads = plain.heads().to_vec();
        for head in &mut heads {
            let linear = if which == 0 { &mut head.w_q } else { &mut head.w_k };
            linear.bias.as_mut().unwrap().fill(5.0);
        }
        LayerParameters::new(heads, plain.w_o().clone()).unwrap()
    };
    // b^V moved into b^O: every row of a map sums to 1.
    let folded = {
        let concat: Vec<f64> = plain
            .heads()
            .iter()
            .flat_map(|head| head.w_v.bias.as_ref().unwrap().iter().copied())
            .collect();
        let moved =
            attention::Matrix::from_row_slice(1, 256, &concat) * &plain.w_o().weight;
        let b_o = plain.w_o().bias.as_ref().unwrap() + moved.row(0);
        let mut heads = plain.heads().to_vec();
        heads.iter_mut().for_each(|head| head.w_v.bias.as_mut().unwrap().fill(0.0));
        let w_o = Linear::new(plain.w_o().weight.clone(), Some(b_o)).unwrap();
        LayerParameters::new(heads, w_o).unwrap()
    };
    let out = |layer: &LayerParameters| {
        let stages = every_stage_and_batched(layer);
        stages[3].self_attend(&x, &Mask::None).unwrap().out
    };
    let moved = |layer| attention::max_abs_diff(&out(&plain), &out(layer)).unwrap();
    let (key, query, value) =
        (moved(&with_bias_of(1)), moved(&with_bias_of(0)), moved(&folded));
    assert!(value <= 1e-12, "{value}");
    let said = [
        ("key_bias_moves", format!("less than {}", bound(key, 1e-12))),
        ("query_bias_moves", format!("{query:.2}")),
    ];
    assert_quote!("counting_biases", values(&said));
}

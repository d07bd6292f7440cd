//! What heads attend to, and how far their scores spread, window by window.

use attention::{HeadParameters, LayerParameters, Linear, Matrix, RowVector};

use crate::N_STEPS;

/// The attention weights of each head when the last reading asks, `[n_windows, 30]`.
///
/// # Shapes
/// `tokens` are `[30, d_model]` each, one for each window.
pub fn rows(layer: &LayerParameters, tokens: &[Matrix]) -> Vec<Matrix> {
    scores(layer, tokens).into_iter().map(attention::softmax_rows).collect()
}

/// How far the scores of each head spread: the standard deviation in a row, as the root of
/// the mean square over windows. It is that of the logarithms of the weights as well.
///
/// # Shapes
/// As [`rows`].
pub fn spreads(layer: &LayerParameters, tokens: &[Matrix]) -> Vec<f64> {
    let of_head = |scores: &Matrix| {
        let rows = scores.row_iter().map(|row| row.variance()); // by n, not n − 1
        (rows.sum::<f64>() / tokens.len().max(1) as f64).sqrt()
    };
    scores(layer, tokens).iter().map(of_head).collect()
}

/// The layer with each head's queries multiplied by a number, so that its scores spread as
/// far as they should. Its W^V and W^O stay.
///
/// # Shapes
/// As [`rows`]; `spreads` has an entry for each head.
///
/// # Panics
/// If `spreads` has fewer entries than there are heads.
pub fn matched(
    layer: &LayerParameters,
    tokens: &[Matrix],
    spreads: &[f64],
) -> LayerParameters {
    let found = self::spreads(layer, tokens);
    let pairs = layer.heads().iter().zip(found.iter().zip(spreads));
    let heads = pairs.map(|(head, (found, wanted))| {
        let times = if *found > 0.0 { wanted / found } else { 0.0 };
        let w_q = Linear {
            weight: &head.w_q.weight * times,
            bias: head.w_q.bias.as_ref().map(|bias| bias * times),
        };
        HeadParameters { w_q, ..head.clone() }
    });
    LayerParameters::new(heads.collect(), layer.w_o().clone())
        .expect("the shapes are those of a layer")
}

/// The scores of the last reading's query in each head, `[n_windows, 30]`, less what b^K
/// adds to all keys alike: `X W_i^K q_iᵀ / √d_k`.
fn scores(layer: &LayerParameters, tokens: &[Matrix]) -> Vec<Matrix> {
    let scale = 1.0 / (layer.dims().d_k() as f64).sqrt();
    let of_head = |head: &HeadParameters| {
        let rows = tokens.iter().map(|x| {
            let last = x.rows(x.nrows() - 1, 1);
            let mut query = last * &head.w_q.weight;
            if let Some(bias) = &head.w_q.bias {
                query += bias;
            }
            let met = &head.w_k.weight * query.transpose(); // [d_model, 1]
            RowVector::from_iterator(N_STEPS, (x * met).iter().map(|s| s * scale))
        });
        Matrix::from_rows(&rows.collect::<Vec<_>>())
    };
    layer.heads().iter().map(of_head).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::{WindowCase, asked};
    use crate::{Fleet, remaining};

    fn tokens(n: usize) -> Vec<Matrix> {
        let trained = remaining().unwrap();
        let model = trained.fused().unwrap();
        let asked = asked(&Fleet::default(), &trained.scale, n, 1).unwrap();
        let of = |asked: &WindowCase| model.tokens(&asked.readings).unwrap();
        asked.iter().map(of).collect()
    }

    #[test]
    fn a_row_is_the_last_of_the_model_s_map() {
        let (trained, tokens) = (remaining().unwrap(), tokens(2));
        let stage = trained.fused().unwrap().attention.unwrap().function;
        let x = &tokens[1];
        let maps =
            attention::MultiHeadAttention::self_attend(&stage, x, &attention::Mask::None);
        let maps = maps.unwrap().attn;
        let rows = rows(&trained.layer().unwrap(), &tokens);
        assert_eq!((rows.len(), rows[0].shape()), (8, (2, N_STEPS)));
        for (rows, map) in rows.iter().zip(&maps) {
            let diff = (rows.row(1) - map.row(N_STEPS - 1)).amax();
            assert!(diff < 1e-12, "{diff:e}");
        }
    }

    #[test]
    fn a_matched_layer_spreads_as_it_should() {
        let (layer, tokens) = (remaining().unwrap().layer().unwrap(), tokens(5));
        let wanted: Vec<f64> = (0..8).map(|head| 0.25 * head as f64).collect();
        let found = spreads(&matched(&layer, &tokens, &wanted), &tokens);
        for (found, wanted) in found.iter().zip(&wanted) {
            assert!((found - wanted).abs() < 1e-12, "{found}, {wanted}");
        }
        // ln of the weights spreads as the scores do.
        let (rows, spread) = (rows(&layer, &tokens), spreads(&layer, &tokens)[3]);
        let rows = rows[3].map(f64::ln);
        let mean = rows.row_iter().map(|row| row.variance()).sum::<f64>() / 5.0;
        assert!((mean.sqrt() - spread).abs() < 1e-9, "{} and {spread}", mean.sqrt());
    }
}

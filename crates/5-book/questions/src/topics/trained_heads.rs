//! Trained heads.

use fused_heads::FusedAttention;
use lessons::one_look_is_not_enough::rows_led_by;
use lessons::trained_heads::measures::{weighted, words};
use model_files::read_layer;
use tensors::{NewTensor, TensorFile, to_bytes};

use super::*;

pub fn leaning(n: &Facts) -> Result<Facts> {
    let ([head], [text, key]) = (n.wholes(["head"])?, n.words(["sentence", "key"])?);
    let (sentence, maps) = with_maps(text)?;
    let map = &maps[head];
    let column = trained::at(sentence, key)?;
    // What is no word counts for nothing here.
    let n_most = rows_led_by(column, &weighted(map, &words(&sentence.tokens)));
    let n_tokens = sentence.tokens.len();
    let which = match n_most {
        1 => "that token alone",
        all if all == n_tokens => "every token",
        _ => "some of them",
    };
    let shares: Vec<f64> = map.column(column).iter().copied().collect();
    let what = format!("how much each token attends to {key} in head {head}");
    Ok(facts![which, n_most, n_tokens, bars = bars(&what, &sentence.tokens, &shares)])
}

/// The layer of a file that stores its key projection in this shape.
fn read_with(d_model: usize, shape: (usize, usize)) -> Result<LayerParameters, String> {
    let square = (d_model, d_model);
    let named = [
        ("q_proj_weight", square),
        ("k_proj_weight", shape),
        ("v_proj_weight", square),
        ("out_proj.weight", square),
    ];
    let tensor = |(name, (rows, cols))| {
        NewTensor::new(name, &[rows, cols], [&Matrix::<f32>::zeros(rows, cols)])
    };
    let tensors = named.into_iter().map(tensor).collect::<tensors::Result<Vec<_>>>();
    let bytes = tensors.and_then(|tensors| to_bytes(&tensors));
    let file = bytes.and_then(|bytes| TensorFile::from_bytes("refused", bytes));
    let file = file.map_err(|error| error.to_string())?;
    read_layer(&file, 8, None).map_err(|error| error.to_string())
}

pub fn file_shape(n: &Facts) -> Result<Facts> {
    let [d_model, key_width] = n.wholes(["d_model", "key_width"])?;
    let tried = [(d_model, key_width), (key_width, d_model)]
        .map(|shape| (shape, read_with(d_model, shape)));
    let read =
        tried.iter().find_map(|(shape, layer)| Some((shape, layer.as_ref().ok()?)));
    let (&shape, layer) = read.context("one of the two shapes is right")?;
    let here = layer.pack().w_k().weight.shape();
    let [of_first, of_second] =
        tried.map(|(_, layer)| layer.err().unwrap_or_else(|| "is read".to_owned()));
    Ok(facts![shape, here, of_first, of_second])
}

pub fn turned(n: &Facts) -> Result<Facts> {
    let [which] = n.words(["which"])?;
    let trained = trained::layer()?;
    let right = FusedAttention::new(&trained.parameters);
    let wrong = FusedAttention::new(&with_transposed(&trained.parameters, which)?);
    let (mut are_ones, mut off) = (true, 0.0_f64);
    for sentence in &trained.sentences {
        let of = |layer: &FusedAttention| layer.self_attend(&sentence.input, &Mask::None);
        let (wrong, right) = (of(&wrong)?, of(&right)?);
        for map in &wrong.attn {
            are_ones &= map.row_iter().all(|row| (row.sum() - 1.0).abs() < 1e-12);
        }
        off = off.max(max_abs_diff(&wrong.out, &right.out)?);
    }
    let shape = |layer: &FusedAttention| layer.parameters().w_q().weight.shape();
    let has_shape = shape(&wrong) == shape(&right);
    let has_number = wrong.parameter_count() == right.parameter_count();
    let finds = match (has_shape, are_ones, has_number) {
        (false, ..) => "shapes of the matrices",
        (_, false, _) => "sums of the rows",
        (.., false) => "number of parameters",
        _ => "none of these",
    };
    let [shapes, sums, number] = [has_shape, are_ones, has_number]
        .map(|passes| if passes { "finds nothing" } else { "finds it" });
    Ok(facts![finds, shapes, sums, number, off])
}

/// The trained layer with those of W^Q, W^K and W^V transposed that are named.
fn with_transposed(layer: &LayerParameters, which: &str) -> Result<LayerParameters> {
    let turned = trained::transposed(layer)?;
    let pick = |name: &str, turned: &Linear, right: &Linear| {
        if which.contains(name) { turned.clone() } else { right.clone() }
    };
    let pairs = turned.heads().iter().zip(layer.heads());
    let heads = pairs.map(|(turned, right)| HeadParameters {
        w_q: pick("W^Q", &turned.w_q, &right.w_q),
        w_k: pick("W^K", &turned.w_k, &right.w_k),
        w_v: pick("W^V", &turned.w_v, &right.w_v),
    });
    Ok(LayerParameters::new(heads.collect(), layer.w_o().clone())?)
}

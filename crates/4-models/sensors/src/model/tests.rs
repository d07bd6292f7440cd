use std::collections::HashMap;

use attention::{Matrix, Rng, SeedableRng, random_matrix};
use safetensors::Dtype;
use safetensors::tensor::TensorView;
use tensors::TensorFile;

use super::*;
use crate::{Architecture, Error, N_STEPS, Reader};

const SMALL: Architecture = Architecture {
    reader: Reader::BiLstm { hidden: 4 },
    n_heads: Some(2),
    pool: Pool::Mean,
};

/// A file of random weights for three sensors, with one text and one tensor changed.
fn file(
    architecture: Architecture,
    text: (&str, &str),
    shape: (&str, &[usize]),
) -> TensorFile {
    let rng = &mut Rng::seed_from_u64(1);
    let mut tensors: Vec<(String, Vec<usize>, Vec<u8>)> = Vec::new();
    for slot in architecture.slots(3) {
        let shape = if slot.name == shape.0 { shape.1.to_vec() } else { slot.shape };
        let all: Matrix<f32> = random_matrix(shape.iter().product(), 1, 0.5, rng);
        let bytes = all.iter().flat_map(|x| x.to_le_bytes()).collect();
        if !shape.is_empty() {
            tensors.push((slot.name.to_string(), shape, bytes));
        }
    }
    let views = tensors.iter().map(|(name, shape, bytes)| {
        (name, TensorView::new(Dtype::F32, shape.clone(), bytes).unwrap())
    });
    let texts: HashMap<String, String> = architecture
        .texts()
        .into_iter()
        .chain(["sensors", "mean", "spread"].map(|key| (key, "2 3 4".to_string())))
        .map(|(key, text)| (key.to_string(), text))
        .collect();
    let (changed, to) = text;
    let texts = texts.into_iter().filter(|(key, _)| key != changed || to != "gone");
    let texts = texts.map(|(key, text)| {
        let text = if key == changed { to.to_string() } else { text };
        (key, text)
    });
    let texts = texts.collect();
    let bytes = safetensors::serialize(views, Some(texts)).unwrap();
    TensorFile::from_bytes("model", bytes).unwrap()
}

fn window() -> Matrix {
    random_matrix(N_STEPS, 3, 1.0, &mut Rng::seed_from_u64(2))
}

#[test]
fn the_source_s_attention_is_263_168_of_all() {
    insta::assert_snapshot!(Architecture::SOURCE.ledger(14), @"
        part            share   parameters
        LSTM, forward   17.9 %      73,728
        LSTM, backward  17.9 %      73,728
        attention       64.0 %     263,168
        norm            0.1 %          512
        head            0.1 %          257
        ──────────────────────────────────
        total                      411,393
        ");
    let sizes = Architecture::VARIANTS
        .map(|(name, architecture)| format!("{name}: {}", architecture.n_parameters(14)));
    insta::assert_snapshot!(sizes.join("\n"), @"
        BiLSTM: 147713
        BiLSTM, mean: 147713
        one head: 411393
        eight heads: 411393
        no BiLSTM: 267777
        BiLSTM, mean, wide: 408533
        ");
}

#[test]
fn every_variant_opens_and_says_a_number() {
    for (name, architecture) in Architecture::VARIANTS {
        let trained = Trained::read(file(architecture, ("", ""), ("", &[]))).unwrap();
        assert_eq!(trained.architecture, architecture, "{name}");
        let steps = trained.fused::<f64>().unwrap().forward(&window()).unwrap();
        assert_eq!(steps.x.shape(), (N_STEPS, architecture.width()));
        assert_eq!(steps.pooled.shape(), (1, architecture.width()));
        let n_maps = steps.attended.as_ref().map(|steps| steps.attn.len());
        assert_eq!(n_maps, architecture.n_heads);
        assert!(steps.remaining.is_finite());
    }
}

#[test]
fn the_steps_of_a_pass_follow_from_one_another() {
    let trained = Trained::read(file(SMALL, ("", ""), ("", &[]))).unwrap();
    let model = trained.fused::<f64>().unwrap();
    let steps = model.forward(&window()).unwrap();
    let attended = steps.attended.unwrap();
    assert_eq!(attended.sum, &steps.x + &attended.out);
    let sublayer = model.attention.unwrap();
    assert_eq!(
        attended.norm,
        sublayer.norms.after.as_ref().unwrap().forward(&attended.sum).unwrap()
    );
    assert_eq!(steps.pooled.row(0), attended.norm.row_mean());
    let number = (&steps.pooled * &model.head.weight)[(0, 0)];
    let number = 125.0 * (number + model.head.bias.unwrap()[0]);
    assert!((steps.remaining - number).abs() < 1e-12);
}

#[test]
fn the_ends_are_each_direction_s_last_state() {
    let ends = Architecture { n_heads: None, pool: Pool::Ends, ..SMALL };
    let model =
        Trained::read(file(ends, ("", ""), ("", &[]))).unwrap().fused::<f64>().unwrap();
    let steps = model.forward(&window()).unwrap();
    assert_eq!(steps.pooled.columns(0, 4), steps.x.row(N_STEPS - 1).columns(0, 4));
    assert_eq!(steps.pooled.columns(4, 4), steps.x.row(0).columns(4, 4));
}

#[test]
fn a_file_that_does_not_fit_is_refused() {
    let refused = |text, shape| {
        let opened = Trained::read(file(SMALL, text, shape));
        let error = opened.and_then(|trained| trained.fused::<f64>()).unwrap_err();
        error.to_string()
    };
    let none: (&str, &[usize]) = ("", &[]);
    insta::assert_snapshot!(refused(("mean", "gone"), none), @"model: its metadata has no mean");
    insta::assert_snapshot!(refused(("mean", "1 2"), none), @"the list of means has 2 entries, expected 3");
    insta::assert_snapshot!(refused(("spread", "1 2 x"), none), @"model: spread of its metadata makes no sense");
    insta::assert_snapshot!(refused(("sensors", "1 2 22"), none), @"there is no sensor 22: they count from 1 to 21");
    insta::assert_snapshot!(refused(("sensors", "1"), none), @"the list of means has 3 entries, expected 1");
    insta::assert_snapshot!(refused(("reader", "gru"), none), @"model: reader of its metadata makes no sense");
    insta::assert_snapshot!(refused(("pool", "max"), none), @"model: pool of its metadata makes no sense");
    insta::assert_snapshot!(refused(("width", "16"), none), @"model: lstm.weight_ih_l0 has shape (16, 3), expected (32, 3)");
    insta::assert_snapshot!(refused(("n_heads", "3"), none), @"model: no layer can be made of it");
    insta::assert_snapshot!(refused(("", ""), ("head.bias", &[])), @"model: no tensor head.bias; there is attention.in_proj_bias, attention.in_proj_weight, attention.out_proj.bias, attention.out_proj.weight, head.weight, lstm.bias_hh_l0, lstm.bias_hh_l0_reverse, lstm.bias_ih_l0, lstm.bias_ih_l0_reverse, lstm.weight_hh_l0, lstm.weight_hh_l0_reverse, lstm.weight_ih_l0, and 3 more");
    insta::assert_snapshot!(refused(("", ""), ("norm.weight", &[9])), @"model: norm.weight has shape (9), expected (8)");
    insta::assert_snapshot!(refused(("", ""), ("lstm.bias_hh_l0_reverse", &[15])), @"model: lstm.bias_hh_l0_reverse has shape (15), expected (16)");
    let model =
        Trained::read(file(SMALL, ("", ""), none)).unwrap().fused::<f64>().unwrap();
    let wrong: Error = model.forward(&Matrix::zeros(30, 4)).unwrap_err();
    insta::assert_snapshot!(wrong, @"the input of an LSTM has shape (30, 4), expected (30, 3)");
}

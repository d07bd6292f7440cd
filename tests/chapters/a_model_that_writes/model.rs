//! What was found, found again where the model is.

use attention::{Mask, Matrix};
use lessons::a_model_that_writes::ablated::{OF_PROSE, ablations};
use lessons::a_model_that_writes::patterns::above;
use lessons::a_model_that_writes::{N_HEADS, N_LAYERS, findings};
use model_files::Sequence;
use models::decoders::study::{PERIOD, Patterns, ablated_layer, repeated};
use models::decoders::{AsRead, Decoder, Files};

use stages::cases::assert_close;
use workshop::paths;

/// Copying heads and what the model does without them, on one of the five texts.
#[test]
fn the_model_still_does_what_was_found() {
    let path = paths::smollm2();
    if !path.is_file() {
        println!("left out: `cargo learn write --download` fetches the model");
        return;
    }
    let files = Files::open(&path).unwrap();
    let mut model: AsRead<f32> = Decoder::read(&files).unwrap();
    let found = findings().unwrap();
    let n = model.config.n_vocabulary;
    // Heads were chosen on texts 0 to 4, and their means are kept.
    let mut means = vec![0.0; N_LAYERS * N_HEADS];
    for seed in 0..5 {
        let ids = repeated(seed, n);
        let layers = model.forward(&Sequence::new(ids.clone())).unwrap();
        for (mean, map) in means.iter_mut().zip(layers.attn.iter().flatten()) {
            *mean += Patterns::of(map, &ids).copying / 5.0;
        }
    }
    let apart = means.iter().zip(&found.heads.copying).map(|(a, b)| (a - b).abs());
    assert_close("copying shares", apart.fold(0.0, f64::max), 1e-3);

    let later = |model: &AsRead<f32>| {
        let of = |seed| {
            model.losses(&repeated(seed, n), &Mask::Causal).unwrap().split_off(PERIOD)
        };
        let all: Vec<f64> = (5..10).flat_map(of).collect();
        all.iter().sum::<f64>() / all.len() as f64
    };
    let whole = ablations(found, "whole", 0, "zero")[0].later;
    assert_close("the loss with all heads", (later(&model) - whole).abs(), 1e-2);
    let means = Matrix::from_row_slice(N_LAYERS, N_HEADS, &means);
    for (layer, head, _) in above(&means, 0.0).into_iter().take(OF_PROSE) {
        let block = &mut model.blocks[layer];
        block.attention.function =
            ablated_layer(&block.attention.function, &[(head, None)]).unwrap();
    }
    let gone = ablations(found, "copying", OF_PROSE, "zero")[0].later;
    assert_close("the loss without the most copying", (later(&model) - gone).abs(), 1e-2);
}

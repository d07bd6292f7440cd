//! Folders as people have them give what transformers gives for them.

use attention::{Matrix, Real};
use model_files::Sequence;
use tensors::TensorFile;

use super::model;
use crate::decoders::{AsRead, Decoder};

/// What this project promises of whole models.
const TOLERANCE: f64 = 2e-5;

/// In f32 the logits of some of these, which are larger than those of the tiny models, lose
/// more.
const TOLERANCE_F32: f64 = 5e-5;

/// Each is described in its README.
const CASES: [&str; 5] = [
    "cases/tied-and-a-head",
    "cases/head-alone",
    "cases/rope-scaling-added",
    "cases/gemma2-keys-left-out",
    "cases/neox-gelu-fast",
];

/// The largest difference of hidden states, maps and logits on rows of real tokens.
fn difference<T: Real>(name: &str) -> f64 {
    let folder = model(name);
    let model: AsRead<T> = Decoder::load(&folder).unwrap();
    let file = TensorFile::open(folder.join("reference.safetensors")).unwrap();
    let sequences = Sequence::read(&file, model.config.n_vocabulary, 1, true).unwrap();
    let h = model.config.dims().n_heads();
    let expected = |name: &str, i: usize| file.matrices(name).unwrap().swap_remove(i);
    let mut worst: f64 = 0.0;
    for (s, sequence) in sequences.iter().enumerate() {
        let mut compare = |found: &Matrix<T>, expected: &Matrix| {
            assert_eq!(found.shape(), expected.shape());
            for row in (0..found.nrows()).filter(|&row| sequence.is_real[row]) {
                let off = (found.row(row).map(T::to_f64) - expected.row(row)).amax();
                worst = if off.is_nan() || off > worst { off } else { worst };
            }
        };
        let layers = model.forward(sequence).unwrap();
        for (l, hidden) in layers.hidden.iter().enumerate() {
            compare(hidden, &expected(&format!("hidden.{l}"), s));
        }
        for (l, maps) in layers.attn.iter().enumerate() {
            for (i, map) in maps.iter().enumerate() {
                compare(map, &expected(&format!("attn.{l}"), s * h + i));
            }
        }
        compare(&model.logits(layers.out()).unwrap(), &expected("logits", s));
    }
    worst
}

#[test]
fn folders_as_people_have_them_give_their_references() {
    for name in CASES.into_iter().chain(["qwen3-1", "gemma3_text-1"]) {
        let found = [difference::<f64>(name), difference::<f32>(name)];
        println!("{name}: max |Δ| = {:.1e} in f64, {:.1e} in f32", found[0], found[1]);
        assert!(found[0] < TOLERANCE && found[1] < TOLERANCE_F32, "{name}: {found:?}");
    }
}

#[cfg(feature = "fast")]
#[test]
fn the_fast_decoder_gives_their_logits() {
    use crate::decoders::FastDecoder;

    for name in CASES {
        let folder = model(name);
        let mut fast = FastDecoder::new(Decoder::load(&folder).unwrap()).unwrap();
        let file = TensorFile::open(folder.join("reference.safetensors")).unwrap();
        let n_vocabulary = fast.config.n_vocabulary;
        let sequence =
            Sequence::read(&file, n_vocabulary, 1, true).unwrap().swap_remove(0);
        let logits = fast.read(&sequence.ids, &mut fast.caches(0)).unwrap();
        let expected = file.matrices("logits").unwrap().swap_remove(0);
        let expected = expected.row(expected.nrows() - 1);
        let off =
            logits.iter().zip(expected.iter()).map(|(x, y)| (f64::from(*x) - y).abs());
        let worst = off.fold(0.0, |a: f64, b| if b.is_nan() || b > a { b } else { a });
        println!("{name}, fast: max |Δ| = {worst:.1e}");
        assert!(worst < TOLERANCE_F32, "{name}: {worst:e}");
    }
}

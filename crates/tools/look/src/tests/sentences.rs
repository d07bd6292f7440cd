//! The sentences whose maps come with the book's pages.

use ::texts::{Long, Text};
use assets::own_sentence::{MAPS, sentences};
use fused_heads::FusedAttention;
use models::encoders::Encoder;
use models::finite;
use tensors::TensorFile;
use workshop::paths;

/// What a page fetches for a sentence.
const MOST_BYTES: u64 = 20_000;
/// A share is kept as one of 255 parts.
const ROUNDING: f64 = 0.5 / 255.0;

/// The tokens of a sentence and its shares, map by map, row by row.
fn kept(key: &str) -> (Vec<String>, Vec<f64>) {
    let path = paths::workspace().join(MAPS).join(key).with_extension("safetensors");
    let n_bytes = path.metadata().unwrap().len();
    assert!(n_bytes <= MOST_BYTES, "{key}: {n_bytes} bytes");
    let file = TensorFile::open(&path).unwrap();
    let tokens: Vec<String> =
        file.text("tokens").unwrap().split(' ').map(str::to_owned).collect();
    let maps = file.tensor("maps").unwrap();
    maps.expect_shape(&[6, 12, tokens.len(), tokens.len()]).unwrap();
    let shares = maps.integers().unwrap().into_iter().map(|it| it as f64 / 255.0);
    (tokens, shares.collect())
}

#[test]
fn each_pair_differs_in_its_end_and_every_row_is_whole() {
    let all: Vec<_> = sentences().map(|(key, text)| (key, text, kept(key))).collect();
    assert!(all.len() >= 16 && all.len().is_multiple_of(2), "{} sentences", all.len());
    for (key, _, (tokens, shares)) in &all {
        let n = tokens.len();
        for row in shares.chunks(n) {
            let sum: f64 = row.iter().sum();
            assert!((sum - 1.0).abs() <= n as f64 * ROUNDING + 1e-6, "{key}: {sum}");
        }
    }
    for pair in all.chunks(2) {
        let [(_, _, (a, _)), (_, _, (b, _))] = pair else { panic!("pairs") };
        assert_eq!(a.len(), b.len(), "{a:?}, {b:?}");
        let n_others = a.iter().zip(b).filter(|(a, b)| a != b).count();
        assert_eq!(n_others, 1, "{a:?}, {b:?}");
    }
    let folder = std::fs::read_dir(paths::workspace().join(MAPS)).unwrap();
    assert_eq!(folder.count(), all.len() + 1, "a file per sentence, and the index");
}

#[test]
fn the_maps_are_the_models_to_a_byte() {
    let Some(model) = super::minilm() else { return };
    let encoder = Encoder::<_, f32>::load(&model, FusedAttention::new).unwrap();
    let text = Text::open(&model, encoder.config.n_vocabulary).unwrap();
    let mut largest = 0f64;
    for (key, sentence) in sentences() {
        let (tokens, shares) = kept(key);
        let found =
            text.pieces(sentence, encoder.config.longest(), Long::Refuse).unwrap();
        assert_eq!(found.pieces, tokens);
        let attn = finite(encoder.forward(&found.sequence).unwrap()).unwrap().attn;
        let rows = attn.iter().flatten().flat_map(|map| map.row_iter());
        let exact = rows.flat_map(|row| row.iter().copied().collect::<Vec<_>>());
        for (kept, exact) in shares.iter().zip(exact) {
            largest = largest.max((kept - f64::from(exact)).abs());
        }
    }
    println!("largest difference of a share: {largest:.5}");
    assert!(largest <= ROUNDING + 1e-5, "{largest}");
}

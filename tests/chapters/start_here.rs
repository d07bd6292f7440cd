//! What the first page says of two heads, from the maps that come with the book.

use attention::Matrix;
use maps::TextHeads;
use tensors::TensorFile;
use workshop::paths;

use crate::quote::{assert_quote, values};

/// A sentence, and the maps of all heads on it, a byte per attention weight.
const FILE: &str = "crates/tools/assets/own-sentence/sentences/tired.safetensors";

/// A byte says no more: `.68`.
fn hundredths(share: f64) -> String {
    format!("{share:.2}").trim_start_matches('0').to_owned()
}

#[test]
fn two_heads_and_their_control() {
    let file = TensorFile::open(paths::workspace().join(FILE)).unwrap();
    let tokens: Vec<String> =
        file.text("tokens").unwrap().split(' ').map(str::to_owned).collect();
    let maps = file.tensor("maps").unwrap();
    let (shape, bytes) = (maps.shape().to_vec(), maps.integers().unwrap());
    let [n_layers, n_heads, n, _] = shape[..] else { panic!("four axes: {shape:?}") };
    let map = |nth: usize| {
        Matrix::from_fn(n, n, |i, j| bytes[nth * n * n + i * n + j] as f32 / 255.0)
    };
    let all: Vec<_> = (0..n_layers * n_heads).map(map).collect();
    let maps = all.chunks(n_heads).map(<[_]>::to_vec).collect();
    let special = (0..n).map(|at| at == 0 || at + 1 == n).collect();
    let text = TextHeads::of_encoder(tokens.clone(), special, maps);
    let at = |token: &str| tokens.iter().position(|it| it == token).unwrap();
    let [query, key] = ["it", "animal"].map(at);
    let lines = [(3, 1), (5, 11)].map(|(layer, head)| {
        let map = &text.maps[layer][head];
        let numbers = [f64::from(map[(query, key)]), text.others(map, query, key)];
        let names = ["it", "others"].map(|who| format!("{who}_{layer}_{head}"));
        std::iter::zip(names, numbers.map(hundredths)).collect::<Vec<_>>()
    });
    assert_quote!("start_here", values(&lines.concat()));
}

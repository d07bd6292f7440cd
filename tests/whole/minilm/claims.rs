//! What “Trained heads” could not compute with one layer of six: "too wide" instead of "too
//! tired", and how many pairs of words some head of all 72 links.

use attention::Matrix;
use fused_heads::FusedAttention;

use super::{is_special, minilm, texts};
use crate::quote::{assert_quote, kept_quote, values};

/// A link is a share of half or more, as in the note that “Trained heads” quoted.
const LINK: f64 = 0.5;

#[test]
fn what_one_layer_could_not_say() {
    let Some(parameters) = minilm() else { return kept_quote!("minilm_claims") };
    let model = parameters.with_attention(|_, p| FusedAttention::new(p));

    let [tired, wide] = [0, 1].map(|end| {
        let text = &texts("pair")[end];
        let attn = model.forward(&text.sequence).unwrap().attn;
        let [it, animal, street] = [0, 1, 2].map(|nth| text.asked[nth]);
        [(5, 11), (3, 1)].map(|(l, i): (usize, usize)| {
            let map: &Matrix<f32> = &attn[l][i];
            [map[(it, animal)], map[(it, street)]].map(f64::from)
        })
    });

    // Of all ordered pairs of different words: the largest share that any head gives.
    let (mut all, mut last) = (Vec::new(), Vec::new());
    for text in texts("sentence") {
        let attn = model.forward(&text.sequence).unwrap().attn;
        let words: Vec<usize> = is_special(text.sequence.n_tokens())
            .iter()
            .enumerate()
            .filter_map(|(token, special)| (!special).then_some(token))
            .collect();
        for &query in &words {
            for &key in words.iter().filter(|&&key| key != query) {
                let best = |layers: &[Vec<Matrix<f32>>]| {
                    let shares = layers.iter().flatten().map(|map| map[(query, key)]);
                    f64::from(shares.fold(0.0, f32::max))
                };
                all.push(best(&attn));
                last.push(best(&attn[5..]));
            }
        }
    }
    let linked = |shares: &[f64]| {
        let n = shares.iter().filter(|&&share| share >= LINK).count();
        format!("{:.1} %", 100.0 * n as f64 / shares.len() as f64)
    };
    let share = |share: f64| format!("{share:.3}");
    let quoted = [
        ("tired_animal_5_11", share(tired[0][0])),
        ("tired_street_5_11", share(tired[0][1])),
        ("wide_animal_5_11", share(wide[0][0])),
        ("wide_street_5_11", share(wide[0][1])),
        ("tired_animal_3_1", share(tired[1][0])),
        ("tired_street_3_1", share(tired[1][1])),
        ("wide_animal_3_1", share(wide[1][0])),
        ("wide_street_3_1", share(wide[1][1])),
        ("n_pairs", attention::thousands(all.len())),
        ("linked_by_72", linked(&all)),
        ("linked_by_last", linked(&last)),
    ];
    assert_quote!("minilm_claims", values(&quoted));
}

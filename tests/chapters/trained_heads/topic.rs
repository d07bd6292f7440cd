//! Head 11 attends to what the sentence is about.

use lessons::numbers::mean;
use lessons::trained::{at, is_word, maps};
use model_files::{TrainedLayer, minilm};

use crate::quote::{assert_quote, share, values};

#[test]
fn head_11_attends_most_to_one_word_from_every_token() {
    let TrainedLayer { parameters, sentences } = minilm().unwrap();
    let mut quoted = Vec::new();
    for sentence in &sentences {
        let map = maps(&parameters, &sentence.input).unwrap().swap_remove(11);
        let words: Vec<usize> =
            (0..map.ncols()).filter(|&key| is_word(&sentence.tokens[key])).collect();
        let column = |key: usize| mean(map.column(key).iter().copied());
        let most = |of: &dyn Fn(usize) -> f64| {
            words.iter().copied().max_by(|&a, &b| of(a).total_cmp(&of(b))).unwrap()
        };
        let top = most(&column);
        let led = (0..map.nrows()).filter(|&row| most(&|key| map[(row, key)]) == top);
        let (led, n) = (led.count(), map.nrows());
        assert_eq!(led, n, "{}", sentence.name);
        let word = sentence.tokens[top].clone();
        quoted.push((format!("most_{}", sentence.name), word));
        if sentence.name == "animal_tired" {
            let named = [("cls", "[CLS]"), ("the", "the"), ("it", "it")];
            for (name, query) in named {
                let given = map[(at(sentence, query).unwrap(), top)];
                quoted.push((format!("{name}_to_animal"), share(given)));
            }
        }
    }
    assert_quote!("trained_heads_topic_values", values(&quoted));
}

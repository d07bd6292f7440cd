//! The fast decoder is the readable one, family by family and in any pieces.

mod few_bits;
mod looks;

use std::collections::BTreeSet;

use attention::{LayerParameters, Mask, Matrix};
use model_files::Sequence;

use super::*;
use crate::decoders::tests::{names, rewritten, same, tiny};
use crate::decoders::{AsRead, Decoder};
use crate::{Model, WriteOptions};

/// As of the readable decoder against PyTorch.
const TOLERANCE: f64 = 2e-5;

fn fast(name: &str) -> FastDecoder {
    FastDecoder::new(tiny(name)).unwrap()
}

/// Some ids, which a tiny model has.
fn ids(n: usize, seed: usize) -> Vec<usize> {
    (0..n).map(|i| (i * i * 31 + 7 * i + 3 + 11 * seed) % 97).collect()
}

/// The logits of each token, by the readable decoder in f64.
fn readable_logits(model: &AsRead, ids: &[usize]) -> Matrix {
    let layers = model.forward(&Sequence::new(ids.to_vec())).unwrap();
    model.logits(layers.out()).unwrap()
}

fn expected(name: &str, ids: &[usize]) -> Matrix {
    readable_logits(&tiny(name), ids)
}

fn difference(logits: &[f32], expected: &Matrix, row: usize) -> f64 {
    let expected = expected.row(row);
    assert_eq!(logits.len(), expected.len());
    let each = logits.iter().zip(expected.iter()).map(|(x, y)| (f64::from(*x) - y).abs());
    each.fold(0.0, |a, b| if b.is_nan() || b > a { b } else { a })
}

#[test]
fn losses_in_any_pieces_are_the_readable_ones() {
    let name = names().next().unwrap();
    let (mut model, ids) = (fast(&name), ids(23, 0));
    let readable: AsRead = tiny(&name);
    let expected = readable.losses(&ids, &Mask::Causal).unwrap();
    for at_once in [1, 9, 22, 23, 100] {
        let losses = model.losses(&ids, at_once).unwrap();
        assert_eq!(losses.len(), expected.len());
        for (found, expected) in losses.iter().zip(&expected) {
            assert!(
                (found - expected).abs() < TOLERANCE,
                "{at_once}: {found} {expected}"
            );
        }
    }
}

#[test]
fn prompts_pieces_and_single_tokens_are_the_readable_model() {
    for name in &names().collect::<Vec<_>>() {
        let (mut model, ids) = (fast(name), ids(23, 0));
        let expected = expected(name, &ids);
        for cuts in [vec![23], vec![1; 23], vec![14, 1, 1, 7], vec![4, 1, 9, 2, 7]] {
            let (mut caches, mut first) = (model.caches(0), 0);
            for n in cuts {
                let logits = model.read(&ids[first..first + n], &mut caches).unwrap();
                first += n;
                let difference = difference(&logits, &expected, first - 1);
                assert!(difference < TOLERANCE, "{name}, {first}: {difference:e}");
            }
            assert_eq!(caches.n_tokens(), 23);
            // What is forgotten is gone, and what is read again is as before.
            caches.truncate(9);
            let logits = model.read(&ids[9..], &mut caches).unwrap();
            let difference = difference(&logits, &expected, 22);
            assert!(difference < TOLERANCE, "{name}, again: {difference:e}");
        }
    }
}

/// Rows of every layer of a text of more pieces than one, and of one layer alone.
#[test]
fn chosen_rows_are_those_of_the_readable_model() {
    for name in &names().collect::<Vec<_>>() {
        let mut model = fast(name);
        let readable: AsRead = tiny(name);
        let n = model.config.n_positions.min(400);
        let ids = ids(n, 1);
        let expected = readable.forward(&Sequence::new(ids.clone())).unwrap().attn;
        let queries = vec![n - 1, 0, 6, 7, n / 2];
        let mut largest = 0f64;
        for layers in [(0..expected.len()).collect(), BTreeSet::from([1])] {
            let chosen = MapRows { queries: queries.clone(), layers };
            let mut told = 0;
            let found = model.rows(&ids, &chosen, |_| told += 1).unwrap();
            assert_eq!(told, chosen.layers.last().unwrap() + 1);
            assert_eq!(found.len(), chosen.layers.len());
            for (layer, maps) in chosen.layers.iter().zip(&found) {
                assert_eq!(maps.len(), expected[*layer].len());
                for (map, whole) in maps.iter().zip(&expected[*layer]) {
                    let rows = whole.select_rows(&queries);
                    largest = largest.max((map.map(f64::from) - rows).amax());
                }
            }
        }
        println!("{name}: {n} tokens, {largest:.1e}");
        assert!(largest < TOLERANCE, "{name}: {largest:e}");
    }
}

#[test]
fn rows_that_are_not_there_are_refused() {
    let mut model = fast("llama-1");
    let mut refused = |queries: &[usize], layers: &[usize]| {
        let layers = layers.iter().copied().collect();
        let chosen = MapRows { queries: queries.to_vec(), layers };
        model.rows(&ids(5, 0), &chosen, |_| ()).unwrap_err()
    };
    insta::assert_snapshot!(refused(&[1, 5], &[0]), @"there is no token 5 in a text of 5: they count from 0");
    insta::assert_snapshot!(refused(&[1], &[3]), @"there are 3 layers, 0 to 2: layer 3 does not exist");
}

#[test]
fn a_scale_of_its_own_is_kept() {
    let changes = serde_json::json!({"query_pre_attn_scalar": 2.0});
    let (folder, ids) = (rewritten("gemma2-1", changes, same), ids(9, 0));
    let mut model = FastDecoder::new(Decoder::load(folder.path()).unwrap()).unwrap();
    let expected = readable_logits(&Decoder::load(folder.path()).unwrap(), &ids);
    let logits = model.read(&ids, &mut model.caches(0)).unwrap();
    let difference = difference(&logits, &expected, 8);
    assert!(difference < TOLERANCE, "{difference:e}");
}

/// With all heads and without some, the prompt at once and in pieces.
#[test]
fn it_writes_what_the_readable_one_writes() {
    let readable: AsRead<f32> = tiny("llama-1");
    let mut fast = Model::of_decoder(fast("llama-1"));
    let mut readable = Model::of_decoder(readable);
    let prompt = Sequence::new(vec![5, 6, 7]);
    let mut texts = Vec::new();
    for off in [Vec::new(), vec![Head::from((0, 1)), Head::from((2, 3))], Vec::new()] {
        let options = WriteOptions { off, ..WriteOptions::greedy(20) };
        let in_pieces = WriteOptions { piece: Some(2), ..options.clone() };
        let expected = written(&mut readable, &prompt, options.clone());
        assert_eq!(written(&mut fast, &prompt, options), expected);
        assert_eq!(written(&mut fast, &prompt, in_pieces), expected);
        texts.push(expected);
    }
    assert_ne!(texts[0], texts[1]);
    assert_eq!(texts[0], texts[2]);
}

fn written<D: CachedDecoder>(
    model: &mut Model<LayerParameters<f32>, D>,
    prompt: &Sequence,
    options: WriteOptions,
) -> Vec<usize> {
    let mut writing = model.write(prompt, options).unwrap();
    while !writing.draft().is_done() {
        model.step(&mut writing).unwrap();
    }
    assert_eq!(writing.draft().ids()[..3], prompt.ids);
    writing.draft().written().to_vec()
}

#[test]
fn what_is_read_for_a_token_is_counted() {
    let (model, config) = (fast("llama-1"), fast("llama-1").config);
    let (d, d_ff) = (config.dims().d_model(), config.d_ff);
    let [keys, values] = config.sizes.cache_widths();
    let of_block = d * d + d * keys + d * values + d * d + 3 * d * d_ff;
    let weights = config.n_layers * of_block + d * config.n_vocabulary;
    // Panels of 8 columns may be wider than the weight, and have biases.
    let counted = model.weight_bytes() / 4;
    assert!((weights..weights + weights / 20).contains(&counted), "{counted} {weights}");
    let caches = model.caches(0);
    assert_eq!(model.cache_bytes(&caches), 4 * config.n_layers * (keys + values));
}

#[test]
fn caches_in_fewer_bits_cost_little() {
    let ids = ids(23, 0);
    let expected = expected("llama-1", &ids);
    let mut found = Vec::new();
    for precision in [Precision::F32, Precision::F16, Precision::Q8] {
        let mut model = fast("llama-1").with_precision(precision);
        let mut caches = model.caches(0);
        let before = model.cache_bytes(&caches);
        let mut largest = 0f64;
        for (first, n) in [(0, 14), (14, 1), (15, 8)] {
            let logits = model.read(&ids[first..first + n], &mut caches).unwrap();
            largest = largest.max(difference(&logits, &expected, first + n - 1));
        }
        assert_eq!(model.cache_bytes(&caches), 24 * before);
        println!("{precision:?}: {before} bytes a token, {largest:.1e} apart");
        found.push((before, largest));
    }
    let [(whole, _), (half, of_half), (eight, of_eight)] = found[..] else { panic!() };
    assert!(half * 2 == whole && eight < half);
    assert!(1e-5 < of_half && of_half < 1e-2, "{of_half:e}");
    assert!(of_half < of_eight && of_eight < 1e-1, "{of_eight:e}");
}

#[test]
fn what_cannot_be_read_changes_no_cache() {
    let (mut model, other) = (fast("llama-1"), fast("qwen2-1"));
    let mut caches = model.caches(0);
    model.read(&[1, 2, 3], &mut caches).unwrap();
    let (n_vocabulary, n_positions) =
        (model.config.n_vocabulary, model.config.n_positions);
    let mut error = |ids: &[usize]| {
        let error = model.read(ids, &mut caches).unwrap_err().to_string();
        assert_eq!(caches.n_tokens(), 3);
        error
    };
    assert!(error(&[1, n_vocabulary]).contains(&n_vocabulary.to_string()));
    assert!(error(&vec![0; n_positions]).contains(&n_positions.to_string()));
    insta::assert_snapshot!(error(&[]), @"the number of tokens is 0, and must be at least 1");
    let mut of_other = other.caches(0);
    let refused = model.read(&[1], &mut of_other).unwrap_err();
    insta::assert_snapshot!(refused, @"the keys of a cache has shape (0, 6), expected (0, 12)");
    assert_eq!((caches.n_tokens(), of_other.n_tokens()), (3, 0));
}

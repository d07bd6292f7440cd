//! Where heads look, and heads that are off: as on the readable side.

use attention::Matrix;

use super::*;
use crate::decoders::study::HeadOfLayer;
use crate::decoders::tests::without_heads;

const OFF: [HeadOfLayer; 3] = [(0, 1), (2, 0), (2, 3)];

/// The largest difference of a share from these maps, from the last token read. The readable cache of a
/// layer with a window has the keys in it alone: what is before them gets nothing.
fn farthest(looks: &Looks, layers: &[Vec<Matrix>]) -> f64 {
    assert_eq!(looks.layers.len(), layers.len());
    let mut largest = 0f64;
    for (looks, maps) in looks.layers.iter().zip(layers) {
        assert_eq!(looks.nrows(), maps.len());
        for (head, map) in maps.iter().enumerate() {
            let before = looks.ncols() - map.ncols();
            for key in 0..looks.ncols() {
                let found = f64::from(looks[(head, key)]);
                let expected =
                    key.checked_sub(before).map(|key| map[(map.nrows() - 1, key)]);
                largest = largest.max((found - expected.unwrap_or(0.0)).abs());
            }
        }
    }
    largest
}

#[test]
fn looks_and_logits_are_those_of_the_readable_model_with_all_heads_and_without_some() {
    for name in &names().collect::<Vec<_>>() {
        let (mut model, ids) = (fast(name), ids(23, 2));
        for off in [&[][..], &OFF] {
            model.ablate(off).unwrap();
            let readable = without_heads(&tiny(name), off);
            let (mut whole, mut caches) = (readable.caches(), model.caches(0));
            let mut first = 0;
            for n in [14, 1, 1, 7] {
                let new = &ids[first..first + n];
                let (logits, looks) = model.read_looking(new, &mut caches).unwrap();
                let layers = readable.forward_cached(new, &mut whole).unwrap();
                let expected = readable.logits(layers.out()).unwrap();
                first += n;
                let apart = [
                    difference(&logits, &expected, n - 1),
                    farthest(&looks, &layers.attn),
                ];
                println!("{name}, {} off, {first} tokens: {:.1e}", off.len(), apart[1]);
                assert!(apart[0] < TOLERANCE, "{name}, {off:?}: logits {:e}", apart[0]);
                assert!(apart[1] < 1e-5, "{name}, {off:?}: shares {:e}", apart[1]);
            }
        }
    }
}

#[test]
fn heads_that_are_not_there_change_nothing() {
    let mut model = fast("llama-1");
    model.ablate(&OFF).unwrap();
    let before = model.read(&[1, 2, 3], &mut model.caches(0)).unwrap();
    let mut refused = |head| model.ablate(&[head]).unwrap_err();
    insta::assert_snapshot!(refused((3, 0)), @"there are 3 layers, 0 to 2: layer 3 does not exist");
    insta::assert_snapshot!(refused((1, 4)), @"there are 4 heads, 0 to 3: head 4 does not exist");
    assert_eq!(model.read(&[1, 2, 3], &mut model.caches(0)).unwrap(), before);
}

#[test]
fn a_model_that_looks_has_the_looks_of_its_last_token() {
    let (mut model, ids) = (fast("qwen3-1"), ids(9, 0));
    let mut caches = model.caches(0);
    let (logits, expected) = model.read_looking(&ids, &mut caches).unwrap();
    let mut model = Model::of_decoder(model);
    let options = WriteOptions { is_looking: true, ..WriteOptions::greedy(2) };
    let mut writing = model.write(&Sequence::new(ids.clone()), options).unwrap();
    let step = model.step(&mut writing).unwrap();
    assert_eq!(step.looks, [expected]);
    assert!(step.logits.iter().zip(logits).all(|(a, b)| *a == f64::from(b)));
}

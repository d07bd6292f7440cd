//! What the model cannot read, by its name and with its numbers.

use super::*;

#[test]
fn buckets_that_distances_do_not_fill_are_refused() {
    let folder = rewritten("t5-1", &json!({"relative_attention_max_distance": 2}), same);
    insta::assert_snapshot!(read(&folder).unwrap_err(), @"8 buckets, of which 2 of a direction are of one distance each, for distances to 2: a direction needs 2 buckets, and distances beyond those");
}

#[test]
fn texts_that_the_model_cannot_read_are_refused_with_their_numbers() {
    let model: AsRead = Translator::load(model("bart-1")).unwrap();
    let source = Sequence::new(vec![5, 6, 7]);
    let encode = |ids: Vec<usize>| model.encode(&Sequence::new(ids)).unwrap_err();
    insta::assert_snapshot!(encode(vec![3, 97]), @"token 1 has id 97, and the vocabulary has 97 entries, from 0");
    insta::assert_snapshot!(encode(vec![]), @"the number of tokens is 0, and must be at least 1");
    insta::assert_snapshot!(encode(vec![3; 65]), @"the text has 65 tokens, and the model has 64 positions");
    let memory = model.encode(&source).unwrap();
    let decode = |ids: Vec<usize>, source: &Sequence| {
        model.decode(&Sequence::new(ids), memory.out(), source).unwrap_err()
    };
    insta::assert_snapshot!(decode(vec![97], &source), @"token 0 has id 97, and the vocabulary has 97 entries, from 0");
    insta::assert_snapshot!(decode(vec![], &source), @"the number of tokens is 0, and must be at least 1");
    insta::assert_snapshot!(decode(vec![3; 65], &source), @"the text has 65 tokens, and the model has 64 positions");
    let mut padded = Sequence::new(vec![5, 6]);
    padded.is_real[1] = false;
    insta::assert_snapshot!(decode(vec![3], &padded), @"the mask of keys has 2 entries, expected 3");
    let read = model.read_source(&source).unwrap();
    let mut caches = model.caches();
    model.decode_cached(&[3; 64], &read, &mut caches).unwrap();
    let mut refused =
        |ids: &[usize]| model.decode_cached(ids, &read, &mut caches).unwrap_err();
    insta::assert_snapshot!(refused(&[3]), @"the text has 65 tokens, and the model has 64 positions");
    assert_eq!(caches[0].n_seen(), 64);
    let other: AsRead = Translator::load(super::model("t5-1")).unwrap();
    let of_other = model.decode_cached(&[3], &read, &mut other.caches()).unwrap_err();
    insta::assert_snapshot!(of_other, @"the keys of a cache has shape (0, 20), expected (0, 24)");
}

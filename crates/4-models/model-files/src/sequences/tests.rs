use super::*;

/// A file of one sequence of three ids, with another tensor and texts of metadata.
fn file(
    (name, dtype, shape): (&str, &str, &str),
    numbers: &[u8],
    texts: &str,
) -> TensorFile {
    let ids: Vec<u8> = [5_i64, 6, 7].iter().flat_map(|id| id.to_le_bytes()).collect();
    let end = ids.len() + numbers.len();
    let header = format!(
        r#"{{"__metadata__":{{{texts}}},
        "input_ids":{{"dtype":"I64","shape":[1,3],"data_offsets":[0,24]}},
        "{name}":{{"dtype":"{dtype}","shape":{shape},"data_offsets":[24,{end}]}}}}"#
    );
    let length = (header.len() as u64).to_le_bytes();
    let bytes = [&length, header.as_bytes(), &ids, numbers].concat();
    TensorFile::from_bytes("some.file", bytes).unwrap()
}

fn real_positions(file: &TensorFile) -> String {
    real_positions_of(file, false)
}

fn real_positions_of(file: &TensorFile, is_causal: bool) -> String {
    match Sequence::read(file, 10, 1, is_causal) {
        Ok(sequences) => format!("{:?}", sequences[0].is_real),
        Err(error) => error.to_string(),
    }
}

fn floats(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

#[test]
fn a_mask_is_one_of_padding_in_any_kind_of_number() {
    let of = |numbers: &[f32]| {
        real_positions(&file(("attention_mask", "F32", "[1,3]"), &floats(numbers), ""))
    };
    insta::assert_snapshot!(of(&[1.0, 1.0, 0.0]), @"[true, true, false]");
    insta::assert_snapshot!(of(&[0.0, 0.0, -1e4]), @"some.file: attention_mask: floats that are not all 0 and 1, as of a mask that is added to scores: give 1 = real and 0 = padding");
    insta::assert_snapshot!(of(&[0.5, 1.0, 1.0]), @"some.file: attention_mask: floats that are not all 0 and 1, as of a mask that is added to scores: give 1 = real and 0 = padding");
    let flags =
        |shape| real_positions(&file(("attention_mask", "BOOL", shape), &[1, 1, 0], ""));
    insta::assert_snapshot!(flags("[1,3]"), @"[true, true, false]");
    insta::assert_snapshot!(flags("[1,1,1,3]"), @"some.file: attention_mask has shape (1, 1, 1, 3), expected (n_sequences, n_tokens), 1 = real and 0 = padding: a mask of queries and keys, or one that is added to scores, is not read");
    let numbers = |last: u8| {
        real_positions(&file(("attention_mask", "U8", "[1,3]"), &[1, 1, last], ""))
    };
    insta::assert_snapshot!(numbers(2), @"some.file: attention_mask of sequence 0, token 2 is 2, expected 0 or 1");
}

#[test]
fn a_mask_is_no_output_and_metadata_is_asked() {
    let named = |name| real_positions(&file((name, "BOOL", "[1,3]"), &[1, 1, 0], ""));
    insta::assert_snapshot!(named("attn.mask"), @"some.file: attn.mask: a mask of queries and keys, or without a name that says which value blocks: a model's INPUT has attention_mask, 1 = real and 0 = padding");
    insta::assert_snapshot!(named("attn.0"), @"[true, true, true]");
    insta::assert_snapshot!(named("hidden.padding"), @"some.file: hidden.padding is not known to a model's INPUT, and may change the result: take it out of the file if it does not");
    let said =
        |texts| real_positions(&file(("labels", "BOOL", "[1,3]"), &[1, 1, 0], texts));
    insta::assert_snapshot!(said(r#""is_causal":"True""#), @"some.file: its metadata has is_causal: True, and whether a token sees later ones is said otherwise here");
    insta::assert_snapshot!(said(r#""attention_mask":"1 = padding""#), @"some.file: its metadata has attention_mask: 1 = padding, and a mask is read in another way here");
    insta::assert_snapshot!(said(r#""attention_mask":"1 = real, 0 = padding""#), @"[true, true, true]");
    insta::assert_snapshot!(said(r#""num_heads":"4","seed":"1","batch_first":"true""#), @"[true, true, true]");
    let causal = file(("labels", "BOOL", "[1,3]"), &[1, 1, 0], r#""is_causal":"True""#);
    assert_eq!(real_positions_of(&causal, true), "[true, true, true]");
}

/// A file of one source of three ids, and targets under these names.
fn pairs(targets: &[(&str, &[usize], Vec<f64>)]) -> String {
    let source: (&str, &[usize], Vec<f64>) = ("input_ids", &[1, 3], vec![5., 6., 7.]);
    let all: Vec<_> = std::iter::once(source).chain(targets.iter().cloned()).collect();
    let entries = |numbers: &[f64]| -> Vec<u8> {
        numbers.iter().flat_map(|&number| (number as i64).to_le_bytes()).collect()
    };
    let (mut header, mut bytes) = (Vec::new(), Vec::new());
    for (name, shape, numbers) in &all {
        let first = bytes.len();
        bytes.extend(entries(numbers));
        let end = bytes.len();
        header.push(format!(
            r#""{name}":{{"dtype":"I64","shape":{shape:?},"data_offsets":[{first},{end}]}}"#
        ));
    }
    let header = format!("{{{}}}", header.join(","));
    let length = (header.len() as u64).to_le_bytes();
    let bytes = [&length, header.as_bytes(), &bytes].concat();
    let file = TensorFile::from_bytes("some.file", bytes).unwrap();
    match Sequence::read_pairs(&file, [10, 4]) {
        Ok(texts) => {
            let [source, target] = &texts[0];
            format!("{:?} {:?} {:?}", source.ids, target.ids, target.is_real)
        }
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_source_and_a_target_are_read_each_with_its_own_mask_and_vocabulary() {
    const TARGET: &str = "decoder_input_ids";
    const MASK: &str = "decoder_attention_mask";
    let two = |name, numbers: [f64; 2]| (name, [1, 2].as_slice(), numbers.to_vec());
    let ids = || (TARGET, [1, 2].as_slice(), vec![1., 3.]);
    insta::assert_snapshot!(pairs(&[ids(), two(MASK, [1., 0.])]), @"[5, 6, 7] [1, 3] [true, false]");
    insta::assert_snapshot!(pairs(&[two(TARGET, [1., 4.])]), @"some.file: decoder_input_ids of sequence 0, token 1 is 4, expected an id from 0 to 3");
    insta::assert_snapshot!(pairs(&[]), @"some.file: no tensor decoder_input_ids; there is input_ids");
    insta::assert_snapshot!(pairs(&[("decoder_input_ids", &[2, 2], vec![1.; 4])]), @"some.file: decoder_input_ids has shape (2, 2), expected 1 sequences, as input_ids");
    insta::assert_snapshot!(pairs(&[ids(), two(MASK, [1., 2.])]), @"some.file: decoder_attention_mask of sequence 0, token 1 is 2, expected 0 or 1");
    insta::assert_snapshot!(pairs(&[ids(), two(MASK, [0., 0.])]), @"some.file: attention_mask of sequence 0 is 0 for all its 2 tokens: there is nothing to attend to");
    insta::assert_snapshot!(pairs(&[ids(), two("decoder_position_ids", [0., 1.])]), @"some.file: decoder_position_ids: positions are counted in this model");
    insta::assert_snapshot!(pairs(&[ids(), two("decoder_head_mask", [0., 1.])]), @"some.file: decoder_head_mask: part of what an encoder with a decoder gets, and this model has no attention to another text");
    insta::assert_snapshot!(pairs(&[ids(), two("encoder_outputs", [0., 1.])]), @"some.file: encoder_outputs: what an encoder gave: both sides are computed here, from input_ids");
    insta::assert_snapshot!(pairs(&[ids(), two("cross.0", [0., 1.])]), @"[5, 6, 7] [1, 3] [true, true]");
}

#[test]
fn more_ids_than_are_read_are_refused_by_their_shape() {
    let many =
        crate::testing::flag_file("input_ids", "[16777217]", &vec![1; (1 << 24) + 1]);
    let refused = Sequence::read(&many, 2, 1, false).unwrap_err();
    insta::assert_snapshot!(refused, @"some.file: input_ids has shape (16777217), expected 16777216 tokens at most, of all sequences");
}

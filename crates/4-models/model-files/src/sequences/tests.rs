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

fn told(file: &TensorFile) -> String {
    told_of(file, false)
}

fn told_of(file: &TensorFile, is_causal: bool) -> String {
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
        told(&file(("attention_mask", "F32", "[1,3]"), &floats(numbers), ""))
    };
    insta::assert_snapshot!(of(&[1.0, 1.0, 0.0]), @"[true, true, false]");
    insta::assert_snapshot!(of(&[0.0, 0.0, -1e4]), @"some.file: attention_mask: floats that are not all 0 and 1, as of a mask that is added to scores: give 1 = real and 0 = padding");
    insta::assert_snapshot!(of(&[0.5, 1.0, 1.0]), @"some.file: attention_mask: floats that are not all 0 and 1, as of a mask that is added to scores: give 1 = real and 0 = padding");
    let flags = |shape| told(&file(("attention_mask", "BOOL", shape), &[1, 1, 0], ""));
    insta::assert_snapshot!(flags("[1,3]"), @"[true, true, false]");
    insta::assert_snapshot!(flags("[1,1,1,3]"), @"some.file: attention_mask has shape (1, 1, 1, 3), expected (n_sequences, n_tokens), 1 = real and 0 = padding: a mask of queries and keys, or one that is added to scores, is not read");
    let numbers =
        |last: u8| told(&file(("attention_mask", "U8", "[1,3]"), &[1, 1, last], ""));
    insta::assert_snapshot!(numbers(2), @"some.file: attention_mask of sequence 0, token 2 is 2, expected 0 or 1");
}

#[test]
fn a_mask_is_no_output_and_metadata_is_asked() {
    let named = |name| told(&file((name, "BOOL", "[1,3]"), &[1, 1, 0], ""));
    insta::assert_snapshot!(named("attn.mask"), @"some.file: attn.mask: a mask of queries and keys, or without a name that says which value blocks: a model's INPUT has attention_mask, 1 = real and 0 = padding");
    insta::assert_snapshot!(named("attn.0"), @"[true, true, true]");
    insta::assert_snapshot!(named("hidden.padding"), @"some.file: hidden.padding is not known to a model's INPUT, and may change the result: take it out of the file if it does not");
    let said = |texts| told(&file(("labels", "BOOL", "[1,3]"), &[1, 1, 0], texts));
    insta::assert_snapshot!(said(r#""is_causal":"True""#), @"some.file: its metadata has is_causal: True, and whether a token sees later ones is said otherwise here");
    insta::assert_snapshot!(said(r#""attention_mask":"1 = padding""#), @"some.file: its metadata has attention_mask: 1 = padding, and a mask is read in another way here");
    insta::assert_snapshot!(said(r#""attention_mask":"1 = real, 0 = padding""#), @"[true, true, true]");
    insta::assert_snapshot!(said(r#""num_heads":"4","seed":"1","batch_first":"true""#), @"[true, true, true]");
    let causal = file(("labels", "BOOL", "[1,3]"), &[1, 1, 0], r#""is_causal":"True""#);
    assert_eq!(told_of(&causal, true), "[true, true, true]");
}

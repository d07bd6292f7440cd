//! Files with planted faults; every refusal by its text.

use attention::Matrix;
use tensors::{NewTensor, TensorFile, to_bytes_with};

use super::*;

/// A file of these tensors and texts.
fn file(tensors: &[NewTensor], texts: &[(&str, &str)]) -> TensorFile {
    TensorFile::from_bytes("some.file", to_bytes_with(tensors, texts).unwrap()).unwrap()
}

fn tensor(name: &str, shape: &[usize], numbers: &[f64]) -> NewTensor {
    let matrix = Matrix::from_row_slice(1, numbers.len(), numbers);
    NewTensor::new(name, shape, [&matrix]).unwrap()
}

/// One head of two tokens.
fn one_head(numbers: [f64; 4]) -> TensorFile {
    let names = [("tokens", "[\"a\", \"b\"]")];
    file(&[tensor("attn.0", &[1, 2, 2], &numbers)], &names)
}

fn refused(file: &TensorFile) -> Error {
    read(file, None).unwrap_err()
}

const EVEN: [f64; 4] = [0.5; 4];

/// A text of a file, and its notes as lines.
fn first(file: &TensorFile) -> (TextHeads, String) {
    let text = read(file, None).unwrap().remove(0);
    (text.heads, text.notes.join("\n"))
}

#[test]
fn the_forms_of_a_file_give_the_same_maps() {
    let numbers = [[1.0, 0.0, 0.25, 0.75], [0.5, 0.5, 0.125, 0.875]];
    let flat = numbers.concat();
    let names = [("tokens", "[\"a\", \"b\"]")];
    let stacked = file(&[tensor("attn", &[2, 1, 2, 2], &flat)], &names);
    let numbered = file(
        &[
            tensor("attn.0", &[1, 2, 2], &numbers[0]),
            tensor("attn.1", &[1, 1, 2, 2], &numbers[1]),
        ],
        &names,
    );
    let (a, _) = first(&stacked);
    let (b, notes) = first(&numbered);
    assert_eq!(a, b);
    assert_eq!((a.pieces.join(""), a.maps.len(), a.maps[1].len()), ("ab".into(), 2, 1));
    assert_eq!(a.maps[1][0][(1, 1)], 0.875);
    insta::assert_snapshot!(notes, @"read as attention both ways: some head attends to a later token");
}

/// By its header alone: the numbers of these files are a hole, which is not read.
#[test]
#[cfg(unix)]
fn a_file_of_more_maps_than_are_read_is_refused_with_their_number() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("maps.safetensors");
    let refused = |header: &str, n_bytes: u64| {
        let bytes = [&(header.len() as u64).to_le_bytes(), header.as_bytes()].concat();
        std::fs::write(&path, &bytes).unwrap();
        let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
        file.set_len(bytes.len() as u64 + n_bytes).unwrap();
        let refused = open(&path).unwrap_err().to_string();
        refused.replace(path.to_str().unwrap(), "FILE")
    };
    let large = r#"{"attn.0":{"dtype":"F32","shape":[2,32768,32768],"data_offsets":[0,8589934592]}}"#;
    insta::assert_snapshot!(refused(large, 1 << 33), @"FILE: its maps have 2147483648 shares, and 268435456 at most are read: keep fewer texts, layers or tokens in a file");
    let other = r#"{"attn.0":{"dtype":"F32","shape":[1,1,1],"data_offsets":[0,4]},"more":{"dtype":"F32","shape":[2147483648],"data_offsets":[4,8589934596]}}"#;
    insta::assert_snapshot!(refused(other, (1 << 33) + 4), @"FILE: more is no map: besides `attn` or `attn.L` only `attention_mask` is read");
}

/// Two of three tokens ask; with padding before them their places move.
#[test]
fn some_tokens_of_a_text_ask() {
    let rows = [0.0, 0.5, 0.5, 0.0, 0.0, 0.25, 0.5, 0.25];
    let maps = || tensor("attn.0", &[1, 2, 4], &rows);
    let mask = NewTensor::flags("attention_mask", &[1, 4], &[false, true, true, true]);
    let names = |places| [("tokens", "[\"a\", \"b\", \"c\"]"), ("places", places)];
    let (text, notes) = first(&file(&[maps(), mask.unwrap()], &names("[2, 3]")));
    assert_eq!(text.places.as_deref(), Some([1, 2].as_slice()));
    assert_eq!((text.asking().0.concat(), text.is_causal), ("bc".into(), true));
    insta::assert_snapshot!(notes, @"
    cut: 1 of 4 tokens are padding
    read as causal: no head gives a later token any share
    2 of 3 tokens ask
    ");
    let again = to_bytes(&text).unwrap();
    let again = TensorFile::from_bytes("again", again).unwrap();
    assert_eq!(first(&again).0, text);

    let names = |places| [("tokens", "[\"a\", \"b\", \"c\", \"d\"]"), ("places", places)];
    let refused = |places| refused(&file(&[maps()], &names(places)));
    insta::assert_snapshot!(refused("[2, 4]"), @"some.file: places in its metadata has 4, which is none of its 4 tokens, or padding");
    insta::assert_snapshot!(refused("[2]"), @"some.file: places has 1 entries, and the maps have 2 queries");
    insta::assert_snapshot!(refused("[\"b\"]"), @"some.file: places in its metadata is not a JSON list of numbers of tokens, or of such lists");
    let both = [("places", "[2, 3]"), ("queries", "[\"x\", \"y\"]")];
    insta::assert_snapshot!(self::refused(&file(&[maps()], &both)), @"some.file: `queries` and `places` are both in its metadata: tokens of another text ask, or those of this one at these places");
    let empty = file(&[tensor("attn.0", &[0, 2, 2], &[])], &[]);
    insta::assert_snapshot!(self::refused(&empty), @"some.file: attn.0 has shape (0, 2, 2): it holds nothing");
}

#[test]
fn what_a_text_is_saved_as_gives_it_back() {
    let (mut text, _) = first(&one_head([1.0, 0.0, 0.25, 0.75]));
    assert!(text.is_causal);
    text.is_special = vec![true, true];
    let bytes = to_bytes(&text).unwrap();
    let (again, _) = first(&TensorFile::from_bytes("again", bytes).unwrap());
    assert_eq!(again, text);
    let tokens = |pieces: &[&str]| Tokens {
        pieces: pieces.iter().map(|&it| it.to_owned()).collect(),
        is_special: vec![false; pieces.len()],
    };
    let map = Matrix::from_row_slice(1, 3, &[0.5f32, 0.25, 0.25]);
    let cross =
        TextHeads::between(tokens(&["x"]), tokens(&["a", "b", "c"]), vec![vec![map]]);
    let bytes = to_bytes(&cross).unwrap();
    let (again, notes) = first(&TensorFile::from_bytes("again", bytes).unwrap());
    assert_eq!(again, cross);
    insta::assert_snapshot!(notes, @"read as 1 queries on 3 keys of another text");
}

/// Shares that a short float rounds are not said; those that are off are.
#[test]
fn each_kind_of_float_has_a_tolerance_of_its_own() {
    use half::{bf16, f16};
    use safetensors::tensor::{Dtype, TensorView, serialize};
    let n = 64;
    let row: Vec<f64> = (0..n).map(|key| f64::from(1 + key % 7)).collect();
    let sum: f64 = row.iter().sum();
    let notes = |dtype: Dtype, factor: f64| {
        let shares = row.iter().map(|x| x / sum * factor);
        let bytes: Vec<u8> = match dtype {
            Dtype::F16 => shares.flat_map(|x| f16::from_f64(x).to_le_bytes()).collect(),
            Dtype::BF16 => shares.flat_map(|x| bf16::from_f64(x).to_le_bytes()).collect(),
            _ => shares.flat_map(|x| (x as f32).to_le_bytes()).collect(),
        };
        let bytes = bytes.repeat(n as usize);
        let view =
            TensorView::new(dtype, vec![1, n as usize, n as usize], &bytes).unwrap();
        let bytes = serialize([("attn.0", view)], None).unwrap();
        first(&TensorFile::from_bytes("short", bytes).unwrap()).1
    };
    for (dtype, off) in [(Dtype::F32, 1e-3), (Dtype::F16, 1e-2), (Dtype::BF16, 3e-2)] {
        let of = |factor| notes(dtype, factor).contains("do not sum to 1");
        assert!(!of(1.0), "{dtype:?}: {}", notes(dtype, 1.0));
        assert!(of(1.0 - off), "{dtype:?}: {}", notes(dtype, 1.0 - off));
        assert!(of(1.0 + off), "{dtype:?}");
    }
}

#[test]
fn rows_that_are_off_or_empty_are_said() {
    let numbers = [0.5, 0.5, 0.25, 0.5];
    insta::assert_snapshot!(first(&one_head(numbers)).1, @"
    1 of 2 rows do not sum to 1; farthest off is layer 0, head 0, query 1: 0.7500
    read as attention both ways: some head attends to a later token
    ");
    insta::assert_snapshot!(first(&one_head([0.0, 0.0, 0.5, 0.5])).1, @"
    1 of 2 rows are empty: every share is 0
    read as causal: no head gives a later token any share
    ");
    insta::assert_snapshot!(first(&one_head([1.0, 0.0, 1.0, 0.0])).1, @"read as causal: no head gives a later token any share");
    let mut padded = [[0.5, 0.5, 0.0]; 3].concat();
    let three = |numbers: &[f64]| file(&[tensor("attn.0", &[1, 3, 3], numbers)], &[]);
    insta::assert_snapshot!(first(&three(&padded)).1, @"
    no names for the keys: they are counted from 0
    read as attention both ways: some head attends to a later token
    no head gives the last 1 tokens any share: they look like padding, and without an `attention_mask` they are kept
    ");
    (padded[1], padded[2]) = (0.25, 0.25);
    assert!(!first(&three(&padded)).1.contains("padding"));
}

/// The mask cuts a text's padding from its rows and columns; tokens are named with it or
/// without.
#[test]
fn padding_is_cut_and_said() {
    let shares = [0.5, 0.5, 0.0, 0.5, 0.5, 0.0, 0.3, 0.3, 0.4];
    let maps = tensor("attn.0", &[2, 1, 3, 3], &[shares, [1.0 / 3.0; 9]].concat());
    let mask = NewTensor::flags(
        "attention_mask",
        &[2, 3],
        &[true, true, false, true, true, true],
    );
    let tokens = "[[\"[CLS]\", \"a\", \"[PAD]\"], [\"[CLS]\", \"b\", \"[SEP]\"]]";
    let found = read(&file(&[maps, mask.unwrap()], &[("tokens", tokens)]), None).unwrap();
    assert_eq!(found[0].heads.pieces, ["[CLS]", "a"]);
    assert_eq!(found[0].heads.is_special, [true, false]);
    assert_eq!(found[0].heads.maps[0][0], Matrix::from_element(2, 2, 0.5));
    insta::assert_snapshot!(found[0].notes.join("\n"), @"
    cut: 1 of 3 tokens are padding
    taken for special tokens by their brackets: [CLS]
    read as attention both ways: some head attends to a later token
    ");
    assert_eq!(found[1].heads.pieces, ["[CLS]", "b", "[SEP]"]);
    assert!(!found[1].notes.join("\n").contains("padding"));
}

#[test]
fn a_picture_has_its_patches_by_row_and_column() {
    let maps = tensor("attn.0", &[1, 5, 5], &[0.2; 25]);
    let text = read(&file(std::slice::from_ref(&maps), &[("grid", "2x2")]), None)
        .unwrap()
        .remove(0);
    assert_eq!(text.heads.pieces, ["[0]", "0,0", "0,1", "1,0", "1,1"]);
    assert_eq!(text.heads.is_special, [true, false, false, false, false]);
    assert_eq!(text.grid, Some(Grid { rows: 2, cols: 2, n_before: 1 }));
    insta::assert_snapshot!(refused(&file(std::slice::from_ref(&maps), &[("grid", "3x2")])), @"some.file: a grid of 3x2 has 6 places, and the maps have 5 keys");
    insta::assert_snapshot!(refused(&file(&[maps], &[("grid", "2 by 2")])), @"some.file: grid in its metadata is not rows and columns, as in 14x14");
}

/// A class token in the middle: flags say so, or its name; a patch that is masked has a place.
#[test]
fn a_special_token_among_the_patches_is_refused() {
    let of = |texts: &[(&str, &str)]| {
        let maps = tensor("attn.0", &[1, 5, 5], &[0.2; 25]);
        let texts = [&[("grid", "2x2")], texts].concat();
        read(&file(&[maps], &texts), None).map(|mut texts| texts.remove(0).heads)
    };
    let flags = |at: usize| format!("{:?}", (0..5).map(|i| i == at).collect::<Vec<_>>());
    let first = of(&[("special", &flags(0))]).unwrap();
    assert_eq!(first, of(&[]).unwrap());
    insta::assert_snapshot!(of(&[("special", &flags(2))]).unwrap_err(), @"some.file: token 2 is special, and the grid of 2x2 has its patch 0,1 there: special tokens stand before the grid. Put it first, as key and as query");
    insta::assert_snapshot!(of(&[("special", &flags(4))]).unwrap_err(), @"some.file: token 4 is special, and the grid of 2x2 has its patch 1,1 there: special tokens stand before the grid. Put it first, as key and as query");
    let named = |names: [&str; 5]| {
        let names = format!("{names:?}");
        of(&[("tokens", &names)])
    };
    insta::assert_snapshot!(named(["a", "b", "[CLS]", "c", "d"]).unwrap_err(), @"some.file: token 2, [CLS], is special, and the grid of 2x2 has its patch 0,1 there: special tokens stand before the grid. Put it first, as key and as query");
    let masked = named(["[CLS]", "a", "[MASK]", "b", "c"]).unwrap();
    assert_eq!(masked.is_special, [true, false, false, false, false]);
}

/// `nn.MultiheadAttention` averages over heads: (3, n, n) are three texts, if three are named.
#[test]
fn of_each_text_there_is_one_list() {
    let lists = |n: usize| format!("{:?}", vec![["a", "b"]; n]);
    let of = |shape: &[usize], key: &str, lists: &str| {
        let n = shape.iter().product();
        let tokens = [("tokens", "[\"a\", \"b\"]"), (key, lists)];
        let n_tokens = if key == "tokens" { 1.. } else { 0.. };
        let maps = tensor("attn.0", shape, &vec![0.5; n]);
        read(&file(&[maps], &tokens[n_tokens]), None)
    };
    insta::assert_snapshot!(of(&[3, 2, 2], "tokens", &lists(3)).unwrap_err(), @"some.file: tokens in its metadata is of 3 texts, and the maps are of 1. Maps of 3 texts are (batch, heads, n_q, n_kv): averaged over heads, (3, 1, 2, 2), as `attn[:, None]` makes it in PyTorch");
    insta::assert_snapshot!(of(&[3, 2, 2], "tokens", &lists(2)).unwrap_err(), @"some.file: tokens in its metadata is of 2 texts, and the maps are of 1");
    insta::assert_snapshot!(of(&[3, 1, 2, 2], "tokens", &lists(2)).unwrap_err(), @"some.file: tokens in its metadata is of 2 texts, and the maps are of 3");
    insta::assert_snapshot!(of(&[3, 1, 2, 2], "tokens", "[\"a\", \"b\"]").unwrap_err(), @"some.file: tokens in its metadata is of 1 text, and the maps are of 3");
    for key in ["queries", "places", "special", "queries_special"] {
        let flags = "[[true, false], [true, true], [false, false]]";
        let lists = match key {
            "queries" => lists(3),
            "places" => "[[0, 1], [0, 1], [0, 1]]".to_owned(),
            _ => flags.to_owned(),
        };
        let refused = of(&[3, 2, 2], key, &lists).unwrap_err().to_string();
        let says = format!(
            "some.file: {key} in its metadata is of 3 texts, and the maps are of 1."
        );
        assert!(refused.starts_with(&says), "{refused}");
    }
    // Three heads of one text, and three texts of one head.
    let heads = of(&[3, 2, 2], "tokens", &lists(1)).unwrap();
    assert_eq!((heads.len(), heads[0].heads.maps[0].len()), (1, 3));
    let texts = of(&[3, 1, 2, 2], "tokens", &lists(3)).unwrap();
    assert_eq!((texts.len(), texts[0].heads.maps[0].len()), (3, 1));
    // A mask per text says the same.
    let maps = tensor("attn.0", &[3, 2, 2], &[0.5; 12]);
    let mask = NewTensor::flags("attention_mask", &[3, 2], &[true; 6]).unwrap();
    let both = file(&[maps, mask], &[("tokens", &lists(3))]);
    assert!(matches!(refused(&both), Error::Texts { found: 3, n_texts: 1, .. }));
}

#[test]
fn lines_of_a_text_name_the_tokens_of_one_text() {
    let maps =
        |shape: &[usize], n: usize| file(&[tensor("attn.0", shape, &vec![0.5; n])], &[]);
    let one = read(&maps(&[1, 2, 2], 4), Some("the\r\nend\n")).unwrap().remove(0);
    assert_eq!(one.heads.pieces, ["the", "end"]);
    let of_two = read(&maps(&[2, 1, 2, 2], 8), Some("a\nb")).unwrap_err();
    insta::assert_snapshot!(of_two, @"some.file: a file of tokens is for one text, and the maps are of 2: give them in the metadata, as a list of lists");
    let short = read(&maps(&[1, 2, 2], 4), Some("a")).unwrap_err();
    insta::assert_snapshot!(short, @"some.file: tokens has 1 entries, and the maps have 2 keys");
}

#[test]
fn what_is_no_share_is_refused() {
    insta::assert_snapshot!(refused(&one_head([0.5, 0.5, f64::NAN, 1.0])), @"some.file: layer 0, head 0, query 1: the share of key 0 is NaN. A row of which every key is masked gives this; an `attention_mask` in the file cuts padding");
    insta::assert_snapshot!(refused(&one_head([0.5, 0.25, -1.5, 2.5])), @"some.file: layer 0, head 0, query 1: the share of key 0 is -1.5, and a share is between 0 and 1: these look like scores before the softmax");
    insta::assert_snapshot!(refused(&one_head([0.5, 0.5, 0.0, 2.5])), @"some.file: layer 0, head 0, query 1: the share of key 1 is 2.5, and a share is between 0 and 1: none of 4 is below 0, and rows sum to 1.75 on average: they are not divided by their sum, or were multiplied behind that");
}

/// Rows of shares with dropout, its signs, a difference of two softmaxes, and scores.
#[test]
fn what_no_softmax_gives_is_told_apart() {
    let of = |rows: [[f64; 4]; 3]| {
        let maps = tensor("attn.0", &[1, 3, 4], &rows.concat());
        let queries = [("queries", "[\"a\", \"b\", \"c\"]")];
        refused(&file(&[maps], &queries)).to_string()
    };
    insta::assert_snapshot!(of([[1.125, 0.0, 0.0, 0.25], [0.5, 0.25, 0.0, 0.25], [0.25; 4]]), @"some.file: layer 0, head 0, query 0: the share of key 0 is 1.125, and a share is between 0 and 1: 3 of 12 are 0 between others, none is below 0, and rows sum to 1.12 on average. Dropout does this: it makes some shares 0 and divides the others by 1 − p; `model.eval()` switches it off");
    insta::assert_snapshot!(of([[0.5, -0.25, 0.125, 0.125], [0.25; 4], [1.0, 0.0, 0.0, 0.0]]), @"some.file: layer 0, head 0, query 0: the share of key 1 is -0.25, and a share is between 0 and 1: without their signs all rows sum to 1.0000, so a softmax made these; a minus may mark what dropout left out, as in FlashAttention's S_dmask");
    insta::assert_snapshot!(of([[0.5, -0.25, 0.125, -0.125], [0.0625; 4], [0.25, 0.0, 0.0, 0.0]]), @"some.file: layer 0, head 0, query 0: the share of key 1 is -0.25, and a share is between 0 and 1: all rows sum to 0.2500, so these are made of a softmax's shares, as a difference of two is, and are no shares themselves");
    insta::assert_snapshot!(of([[0.5, -0.25, 1.5, -0.125], [0.5, 0.0, 0.0, 0.0], [0.25; 4]]), @"some.file: layer 0, head 0, query 0: the share of key 1 is -0.25, and a share is between 0 and 1: these look like scores before the softmax");
    insta::assert_snapshot!(of([[2.5, 1.0, 0.5, 3.0], [4.0, 0.0, 0.0, 0.0], [0.25; 4]]), @"some.file: layer 0, head 0, query 0: the share of key 0 is 2.5, and a share is between 0 and 1: none of 12 is below 0, and rows sum to 4.00 on average: they are not divided by their sum, or were multiplied behind that");
    insta::assert_snapshot!(of([[0.625, -0.5, 0.0, 0.0], [0.625, 0.625, 0.0, 0.0], [1.0, -0.125, 0.09375, -0.0]]), @"some.file: layer 0, head 0, query 0: the share of key 1 is -0.5, and a share is between 0 and 1: without their signs, and what is above 0 times 0.8000, all rows sum to 1: a softmax made these, and a minus may mark what dropout left out");
    let infinite =
        of([[0.5, f64::NEG_INFINITY, 1.5, 0.0], [0.5, 0.0, 0.0, 0.0], [0.25; 4]]);
    assert!(
        infinite.ends_with("these look like scores before the softmax"),
        "{infinite}"
    );
}

#[test]
fn files_of_another_form_are_refused() {
    let maps = |name: &str| tensor(name, &[1, 2, 2], &EVEN);
    let refused = |tensors: &[NewTensor]| refused(&file(tensors, &[]));
    insta::assert_snapshot!(refused(&[]), @"some.file: no attention maps: there is neither `attn` nor `attn.0`");
    insta::assert_snapshot!(refused(&[maps("attn.0"), maps("attn.2")]), @"some.file: attn.1 is missing: layers are counted from 0, and attn.2 is there");
    insta::assert_snapshot!(refused(&[maps("attn.0"), maps("hidden.0")]), @"some.file: hidden.0 is no map: besides `attn` or `attn.L` only `attention_mask` is read");
    insta::assert_snapshot!(refused(&[maps("attn.0"), maps("attn")]), @"some.file: both `attn` and attn.0 are there: maps are in one form");
    insta::assert_snapshot!(refused(&[maps("attn")]), @"some.file: attn has shape (1, 2, 2), expected (layers, heads, n_q, n_kv)");
    insta::assert_snapshot!(refused(&[tensor("attn.0", &[2, 2], &EVEN)]), @"some.file: attn.0 has shape (2, 2), expected (heads, n_q, n_kv) or (batch, heads, n_q, n_kv)");
    insta::assert_snapshot!(refused(&[maps("attn.0"), tensor("attn.1", &[1, 1, 4], &EVEN)]), @"some.file: attn.1 has shape (1, 1, 4), expected as in attn.0 1 texts, 2 queries and 2 keys");
    let mask = |numbers: &[f64]| tensor("attention_mask", &[numbers.len()], numbers);
    insta::assert_snapshot!(refused(&[maps("attn.0"), mask(&[1.0, 1.0])]), @"some.file: attention_mask holds F64, expected I64, I32, I16, I8, U64, U32, U16, U8 or BOOL");
    insta::assert_snapshot!(refused(&[maps("attn.0"), mask(&[1.0; 3])]), @"some.file: attention_mask has shape (3), expected (1, 2)");
    let bytes = |bytes: Vec<u8>| NewTensor::bytes("attention_mask", &[2], bytes).unwrap();
    insta::assert_snapshot!(refused(&[maps("attn.0"), bytes(vec![1, 7])]), @"some.file: attention_mask holds 7 for text 0: 1 is a token, 0 is padding");
    insta::assert_snapshot!(refused(&[maps("attn.0"), bytes(vec![0, 0])]), @"some.file: text 0 is all padding");
    let named =
        |key, text| super::tests::refused(&file(&[maps("attn.0")], &[(key, text)]));
    insta::assert_snapshot!(named("tokens", "a b"), @"some.file: tokens in its metadata is not a JSON list of strings, or of such lists");
    insta::assert_snapshot!(named("tokens", "[\"a\"]"), @"some.file: tokens has 1 entries, and the maps have 2 keys");
    insta::assert_snapshot!(named("queries", "[\"a\"]"), @"some.file: queries has 1 entries, and the maps have 2 queries");
    insta::assert_snapshot!(named("special", "[1, 0]"), @"some.file: special in its metadata is not a JSON list of true and false, or of such lists");
}

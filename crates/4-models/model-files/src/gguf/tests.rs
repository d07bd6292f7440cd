use super::*;
use crate::testing::{GgufWriter, text};

fn read(writer: GgufWriter) -> Gguf {
    Gguf::from_bytes("model.gguf", writer.bytes()).unwrap()
}

fn refused(bytes: Vec<u8>) -> String {
    Gguf::from_bytes("model.gguf", bytes).unwrap_err().to_string()
}

/// 1.5 and −2 as float16.
const HALVES: [[u8; 2]; 2] = [[0, 0x3e], [0, 0xc0]];

#[test]
fn a_block_of_four_bits_is_its_scale_times_each_plus_its_minimum() {
    let halves = [HALVES[0], HALVES[1]].concat();
    // Byte i has i low and 15 − i high.
    let nibbles: Vec<u8> = (0..16).map(|i| i | (15 - i) << 4).collect();
    let file =
        read(GgufWriter::default().tensor("w", &[1, 32], 3, &[halves, nibbles].concat()));
    let numbers: Vec<f64> = file.numbers("w", &[1, 32]).unwrap();
    for (i, number) in numbers.into_iter().enumerate() {
        let q = if i < 16 { i } else { 31 - i };
        assert_eq!(number, 1.5 * q as f64 - 2.0, "number {i}");
    }
}

#[test]
fn a_block_of_eight_bits_is_its_scale_times_each() {
    let q: Vec<u8> =
        (0..32).map(|i: i8| (8 * i.wrapping_sub(16)).cast_unsigned()).collect();
    let blocks = [&HALVES[0][..], &q, &HALVES[1], &q].concat();
    let file = read(GgufWriter::default().tensor("w", &[2, 32], 8, &blocks));
    let numbers: Vec<f32> = file.numbers("w", &[2, 32]).unwrap();
    for (i, number) in numbers.into_iter().enumerate() {
        let d = if i < 32 { 1.5 } else { -2.0 };
        assert_eq!(number, d * 8.0 * (i as f32 % 32.0 - 16.0), "number {i}");
    }
}

#[test]
fn floats_are_read_as_they_are() {
    let file = read(GgufWriter::default().floats("a", &[2, 1], &[0.5, -3.0]).tensor(
        "b",
        &[2],
        1,
        &[HALVES[0], HALVES[1]].concat(),
    ));
    assert_eq!(file.numbers::<f64>("a", &[2, 1]).unwrap(), [0.5, -3.0]);
    assert_eq!(file.numbers::<f32>("b", &[2]).unwrap(), [1.5, -2.0]);
    assert_eq!(file.tensors()["b"].offset, 32);
}

#[test]
fn settings_of_every_kind_are_read() {
    let file = read(
        GgufWriter::default()
            .whole("n", 7)
            .float("eps", 0.25)
            .setting("big", 12, &1e-300_f64.to_le_bytes())
            .setting("low", 1, &[0xff])
            .setting("flag", 7, &[1])
            .setting("name", 8, &text("Ġé"))
            .texts("list", &["a", ""])
            .wholes("kinds", &[3, -1]),
    );
    let kinds = file.metadata().values().cloned().collect::<Vec<_>>();
    let expected = [
        Value::Float(1e-300),
        Value::Float(0.25),
        Value::Flag(true),
        Value::Wholes(vec![3, -1]),
        Value::Texts(vec!["a".into(), String::new()]),
        Value::Whole(-1),
        Value::Whole(7),
        Value::Text("Ġé".into()),
    ];
    // By name: big, eps, flag, kinds, list, low, n, name.
    let order = ["big", "eps", "flag", "kinds", "list", "low", "n", "name"];
    assert_eq!(file.metadata().keys().map(String::as_str).collect::<Vec<_>>(), order);
    assert_eq!(kinds, expected);
}

#[test]
fn what_is_no_gguf_is_refused() {
    insta::assert_snapshot!(refused(b"{\"a\":1}".to_vec()), @r#"model.gguf: no GGUF file: it begins with {\"a\", expected GGUF. Of a model in safetensors, give the folder"#);
    insta::assert_snapshot!(refused(vec![]), @"model.gguf: no GGUF file: it begins with , expected GGUF. Of a model in safetensors, give the folder");
    let mut old = GgufWriter::default().bytes();
    old[4] = 1;
    insta::assert_snapshot!(refused(old), @"model.gguf: GGUF of version 1; versions 2 and 3 are read");
    let mut swapped = GgufWriter::default().bytes();
    swapped[4..8].reverse();
    insta::assert_snapshot!(refused(swapped), @"model.gguf: its numbers have their highest byte first");
    let pointer = b"version https://git-lfs.github.com/spec/v1\n".to_vec();
    insta::assert_snapshot!(refused(pointer), @"model.gguf: a pointer of Git LFS, and not the file itself: `git lfs pull` fetches it");
    let twice = GgufWriter::default().whole("n", 1).whole("n", 2).bytes();
    insta::assert_snapshot!(refused(twice), @"model.gguf: two settings have the name n");
    let nested =
        GgufWriter::default().setting("x", 9, &[9, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1]);
    insta::assert_snapshot!(refused(nested.bytes()), @"model.gguf: x holds a value of kind 9");
    let flat = GgufWriter::default().whole("general.alignment", 0).bytes();
    insta::assert_snapshot!(refused(flat), @"model.gguf: general.alignment is no number above 0");
}

#[test]
fn a_file_that_is_cut_short_is_refused_wherever_it_ends() {
    let whole = GgufWriter::default()
        .texts("words", &["one", "two"])
        .floats("w", &[2, 2], &[1.0; 4])
        .bytes();
    for end in 4..whole.len() {
        let said = refused(whole[..end].to_vec());
        assert!(said.contains("cut short"), "{end} of {} bytes: {said}", whole.len());
    }
    insta::assert_snapshot!(refused(whole[..whole.len() - 1].to_vec()), @"model.gguf: cut short: the numbers of w needs 16 bytes, and 15 are left");
}

#[test]
fn sizes_that_lie_ask_for_no_memory() {
    let mut lying = GgufWriter::default().bytes();
    lying[8..16].fill(0xff);
    insta::assert_snapshot!(refused(lying), @"model.gguf: cut short: the list of tensors needs 18446744073709551615 bytes, and 16 are left");
    let long = [&6_u32.to_le_bytes()[..], &u64::MAX.to_le_bytes()].concat();
    insta::assert_snapshot!(refused(GgufWriter::default().setting("x", 9, &long).bytes()), @"model.gguf: cut short: x needs 18446744073709551615 bytes, and 15 are left");
    let large = GgufWriter::default().tensor("w", &[1 << 32, 1 << 31], 0, &[]).bytes();
    insta::assert_snapshot!(refused(large), @"model.gguf: cut short: the numbers of w needs 18446744073709551615 bytes, and 0 are left");
}

#[test]
fn a_tensor_that_is_not_as_it_should_be_is_named() {
    let file = read(GgufWriter::default().floats("w", &[2, 3], &[0.0; 6]).tensor(
        "k",
        &[1, 256],
        10,
        &[],
    ));
    let refused =
        |name, shape: &[usize]| file.numbers::<f64>(name, shape).unwrap_err().to_string();
    insta::assert_snapshot!(refused("v", &[2, 3]), @"model.gguf: no tensor v among the 2");
    insta::assert_snapshot!(refused("w", &[3, 2]), @"model.gguf: w has shape [2, 3], expected [3, 2]");
    insta::assert_snapshot!(refused("k", &[1, 256]), @"model.gguf: k holds Q2_K; F32, F16, BF16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q4_K, Q5_K and Q6_K are read");
    let odd = GgufWriter::default().tensor("w", &[2, 33], 8, &[0; 99]).bytes();
    let odd = Gguf::from_bytes("model.gguf", odd).unwrap_err();
    insta::assert_snapshot!(odd, @"model.gguf: w has rows of 33 numbers, and Q8_0 keeps them in blocks of 32");
}

/// Whatever the beginning: more is needed, or the whole file's answer.
#[test]
fn a_file_is_understood_from_its_beginning() {
    let whole_refused = refused;
    let begun = |bytes: &[u8], n_bytes| Gguf::begin("model.gguf", bytes, n_bytes);
    let bytes = GgufWriter::default()
        .texts("words", &["one", "two"])
        .floats("w", &[2, 2], &[1.0; 4])
        .bytes();
    let whole = Gguf::from_bytes("model.gguf", bytes.clone()).unwrap();
    let n_header = bytes.len() - 16;
    let mut n_complete = 0;
    for end in 0..=bytes.len() {
        match begun(&bytes[..end], bytes.len()).unwrap() {
            None => assert!(n_complete == 0 && end < n_header, "{end}"),
            Some(file) => {
                n_complete += 1;
                assert_eq!(file.metadata(), whole.metadata());
                assert_eq!(file.tensors(), whole.tensors());
            }
        }
    }
    assert!(n_complete >= 17, "{n_complete}");
    let file = begun(&bytes[..n_header], bytes.len()).unwrap().unwrap();
    insta::assert_snapshot!(file.numbers::<f64>("w", &[2, 2]).unwrap_err(), @"model.gguf: cut short: what follows the header needs 16 bytes, and 0 are left");
    let refused = |bytes: &[u8], n| begun(bytes, n).unwrap_err().to_string();
    // A file that is cut short somewhere is refused as soon as its header is there.
    let short = refused(&bytes[..n_header], bytes.len() - 1);
    assert_eq!(short, whole_refused(bytes[..bytes.len() - 1].to_vec()));
    insta::assert_snapshot!(refused(&[b"PK\x03\x04", &[0; 20][..]].concat(), 1 << 32), @r"model.gguf: no GGUF file: it begins with PK\x03\x04, expected GGUF. Of a model in safetensors, give the folder");
    let mut lying = GgufWriter::default().bytes();
    lying[8..16].fill(0xff);
    insta::assert_snapshot!(refused(&lying, 1 << 32), @"model.gguf: cut short: the list of tensors needs 18446744073709551615 bytes, and 4294967280 are left");
    assert!(begun(&bytes[..30], 1 << 32).unwrap().is_none());
}

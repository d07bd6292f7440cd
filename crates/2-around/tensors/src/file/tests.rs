use attention::{Rng, SeedableRng};

use super::*;
use crate::{NewTensor, to_bytes};

/// A file with this header and so many bytes of zeros for numbers.
fn with_header(header: &str, n_bytes: usize) -> Vec<u8> {
    let length = (header.len() as u64).to_le_bytes();
    [&length, header.as_bytes(), &vec![0; n_bytes]].concat()
}

fn open(bytes: impl Into<Vec<u8>>) -> Result<TensorFile> {
    TensorFile::from_bytes("some.file", bytes.into())
}

fn refused(bytes: impl Into<Vec<u8>>) -> String {
    let error = open(bytes).unwrap_err();
    let source = std::error::Error::source(&error);
    source.map_or(error.to_string(), |source| format!("{error}: {source}"))
}

/// What nothing asks for is not read.
#[test]
#[cfg(unix)]
fn a_header_is_read_alone_and_has_a_bound() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("some.file");
    std::fs::write(&path, small()).unwrap();
    let file = TensorFile::open(&path).unwrap();
    assert_eq!((file.names(), file.n_entries()), (vec!["x".to_owned()], 6));
    assert_eq!(file.matrix("x").unwrap(), open(small()).unwrap().matrix("x").unwrap());
    let header = r#"{"x":{"dtype":"F64","shape":[134217728,4,4],"data_offsets":[0,17179869184]},
        "y":{"dtype":"U8","shape":[1],"data_offsets":[17179869184,17179869185]}}"#;
    let bytes = with_header(header, 0);
    std::fs::write(&path, &bytes).unwrap();
    let refused = |path: &Path| TensorFile::open(path).unwrap_err().to_string();
    assert!(refused(&path).ends_with(
        "truncated: its header describes 17179869185 bytes of numbers, and 0 follow"
    ));
    // A file that is nearly all hole: it would not fit into memory.
    let hole = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    hole.set_len(bytes.len() as u64 + (1 << 34) + 1).unwrap();
    let file = TensorFile::open(&path).unwrap();
    assert_eq!(file.n_entries(), (1 << 31) + 1);
    assert_eq!(file.tensor("y").unwrap().integers().unwrap(), [0]);
    // It became shorter since.
    hole.set_len(bytes.len() as u64).unwrap();
    assert!(matches!(file.tensor("y").unwrap().integers(), Err(Error::Read { .. })));
    let long = with_header(&format!("{{}}{}", " ".repeat(16 << 20)), 0);
    std::fs::write(&path, &long).unwrap();
    let expected = "its header has 16777218 bytes, and 16777216 at most are read: more than \
                    the tensors of any model need";
    assert!(refused(&path).ends_with(expected));
    assert!(open(long).unwrap_err().to_string().ends_with(expected));
}

/// A file with `x`, 2 by 3.
fn small() -> Vec<u8> {
    let x = Matrix::from_row_slice(2, 3, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    to_bytes(&[NewTensor::new("x", &[2, 3], [&x]).unwrap()]).unwrap()
}

#[test]
fn numbers_are_read_row_after_row_and_more_dimensions_as_a_list_of_matrices() {
    let file = open(small()).unwrap();
    let x = file.matrix("x").unwrap();
    assert_eq!((x[(0, 2)], x[(1, 0)]), (3.0, 4.0));
    assert_eq!(file.matrices("x").unwrap(), [x]);
    let parts: Vec<Matrix> =
        (0..6).map(|i| Matrix::from_element(2, 5, f64::from(i))).collect();
    let tensor = NewTensor::new("maps", &[2, 3, 2, 5], &parts).unwrap();
    let file = open(to_bytes(&[tensor]).unwrap()).unwrap();
    assert_eq!(file.matrices("maps").unwrap(), parts);
    insta::assert_snapshot!(file.matrix("maps").unwrap_err(), @"some.file: maps has shape (2, 3, 2, 5), expected two dimensions");
}

#[test]
fn flags_and_numbers_are_not_mistaken_for_each_other() {
    let header = r#"{"mask":{"dtype":"BOOL","shape":[2],"data_offsets":[0,2]},
        "ids":{"dtype":"I64","shape":[1],"data_offsets":[2,10]}}"#;
    let file = open(with_header(header, 10)).unwrap();
    assert_eq!(file.tensor("mask").unwrap().flags().unwrap(), [false, false]);
    insta::assert_snapshot!(file.tensor("mask").unwrap().numbers().unwrap_err(), @"some.file: mask holds BOOL, expected F64, F32, F16 or BF16");
    assert_eq!(file.tensor("ids").unwrap().integers().unwrap(), [0]);
    assert_eq!(file.tensor("mask").unwrap().integers().unwrap(), [0, 0]);
    let floats = open(small()).unwrap();
    insta::assert_snapshot!(floats.tensor("x").unwrap().integers().unwrap_err(), @"some.file: x holds F64, expected I64, I32, I16, I8, U64, U32, U16, U8 or BOOL");
    insta::assert_snapshot!(file.tensor("ids").unwrap().flags().unwrap_err(), @"some.file: ids holds I64, expected BOOL");
    insta::assert_snapshot!(file.matrices("ids").unwrap_err(), @"some.file: ids has shape (1), expected two dimensions or more");
}

#[test]
fn what_is_not_there_is_answered_with_what_is() {
    let file = open(small()).unwrap();
    insta::assert_snapshot!(file.tensor("y").unwrap_err(), @"some.file: no tensor y; there is x");
    let row = Matrix::from_element(1, 1, 0.0);
    let many: Vec<NewTensor> = (10..30)
        .map(|i| NewTensor::new(format!("t{i}"), &[1, 1], [&row]).unwrap())
        .collect();
    let file = open(to_bytes(&many).unwrap()).unwrap();
    insta::assert_snapshot!(file.tensor("y").unwrap_err(), @"some.file: no tensor y; there is t10, t11, t12, t13, t14, t15, t16, t17, t18, t19, t20, t21, and 8 more");
    let file = open(with_header("{}", 0)).unwrap();
    insta::assert_snapshot!(file.tensor("y").unwrap_err(), @"some.file: no tensor y; there is none at all");
}

#[test]
fn a_tensor_of_nothing_is_refused_however_large_its_other_sizes() {
    let header = format!(
        r#"{{"x":{{"dtype":"F32","shape":[{},0,4],"data_offsets":[0,0]}}}}"#,
        1u64 << 60
    );
    let file = open(with_header(&header, 0)).unwrap();
    insta::assert_snapshot!(file.matrices("x").unwrap_err(), @"some.file: x has shape (1152921504606846976, 0, 4): it holds nothing");
}

#[test]
fn what_is_no_file_of_tensors_is_refused_with_its_numbers() {
    insta::assert_snapshot!(refused(""), @"some.file: no safetensors file: it has 0 bytes, and one begins with 8 that give the length of its header");
    insta::assert_snapshot!(refused("a text, and a short one"), @"some.file: no safetensors file, or a truncated one: its first 8 bytes announce a header of 2318355968635969633 bytes, and 15 bytes follow");
    insta::assert_snapshot!(refused(with_header("[1, 2]", 0)), @"some.file: no safetensors file: its header of 6 bytes makes no sense: invalid type: sequence, expected struct HashMetadata at line 1 column 0");
    insta::assert_snapshot!(refused(with_header("\u{1}", 0)), @"some.file: no safetensors file: its header of 1 bytes makes no sense: expected value at line 1 column 1");
    insta::assert_snapshot!(refused(small().split_last().unwrap().1), @"some.file: truncated: its header describes 48 bytes of numbers, and 47 follow");
    insta::assert_snapshot!(refused([small(), vec![0]].concat()), @"some.file: bytes are left over: its header describes 48 bytes of numbers, and 49 follow");
    let overlapping = r#"{"x":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}}"#;
    insta::assert_snapshot!(refused(with_header(overlapping, 3)), @"some.file: no safetensors file: its header of 53 bytes makes no sense: invalid offset for tensor `x`");
    let wrong_size = r#"{"x":{"dtype":"F32","shape":[2,3],"data_offsets":[0,20]}}"#;
    insta::assert_snapshot!(refused(with_header(wrong_size, 20)), @"some.file: no safetensors file: its header of 57 bytes makes no sense: invalid shape, data type, or offset for tensor");
}

#[test]
fn a_missing_file_is_an_error_with_its_path() {
    let error = TensorFile::open("no/such.file").unwrap_err();
    insta::assert_snapshot!(error, @"cannot read no/such.file");
    assert!(matches!(error, Error::Read { .. }));
}

#[test]
fn no_bytes_make_it_panic() {
    use attention::random_matrix;
    let rng = &mut Rng::seed_from_u64(1);
    let whole = small();
    for n in 0..whole.len() {
        assert!(open(&whole[..n]).is_err(), "{n} bytes of {}", whole.len());
    }
    // Any one byte changed, and random bytes after a plausible length.
    for i in 0..whole.len() {
        for byte in [0, b'9', b'"', b'}', 0xff] {
            let mut bytes = whole.clone();
            bytes[i] = byte;
            let _ = open(bytes).and_then(|file| file.matrices("x"));
        }
    }
    for n in 0..200 {
        let noise: Matrix = random_matrix(1, n, 60.0, rng);
        let mut bytes = (n as u64 / 2).to_le_bytes().to_vec();
        bytes.extend(noise.iter().map(|x| (x + 128.0) as u8));
        assert!(open(bytes).is_err());
    }
    for length in [u64::MAX, u64::MAX - 7, 1 << 63, 1 << 32, 100_000_001] {
        assert!(open([&length.to_le_bytes()[..], b"{}"].concat()).is_err());
    }
    // Eight tensors that together reach the end of what 64 bits count.
    let size = (1u64 << 61) - 1;
    let tensors = (0..8).map(|i| {
        let (from, to) = (i * size, (i + 1) * size);
        format!(r#""{i}":{{"dtype":"U8","shape":[{size}],"data_offsets":[{from},{to}]}}"#)
    });
    let header = format!("{{{}}}", tensors.collect::<Vec<_>>().join(","));
    insta::assert_snapshot!(refused(with_header(&header, 0)), @"some.file: truncated: its header describes 18446744073709551608 bytes of numbers, and 0 follow");
}

#[test]
fn two_tensors_of_one_name_are_refused() {
    // The same bytes for both, or the format itself has something to say.
    let one = r#"{"dtype":"U8","shape":[1],"data_offsets":[0,1]}"#;
    let twice = |a, b| with_header(&format!(r#"{{"{a}":{one},"{b}":{one}}}"#), 1);
    insta::assert_snapshot!(refused(twice("x", "x")), @"some.file: two tensors have the name x");
    insta::assert_snapshot!(refused(twice("x", r"\u0078")), @"some.file: two tensors have the name x");
}

#[test]
fn names_do_not_reach_the_terminal_as_they_are() {
    let header =
        r#"{"\u001b[2J\u202e\né it's":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}"#;
    let file = open(with_header(header, 1)).unwrap();
    insta::assert_snapshot!(file.tensor("y\u{7}").unwrap_err(), @r"some.file: no tensor y\u{7}; there is \u{1b}[2J\u{202e}\né it's");
    let names = file.names();
    let error = file.matrix(&names[0]).unwrap_err();
    insta::assert_snapshot!(error, @r"some.file: \u{1b}[2J\u{202e}\né it's has shape (1), expected two dimensions");
    let kind = r#"{"x":{"dtype":"\u001b[2J","shape":[1],"data_offsets":[0,1]}}"#;
    assert!(!refused(with_header(kind, 1)).contains('\u{1b}'));
    let gap = r#"{"\u001b[2J":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}"#;
    assert!(!refused(with_header(gap, 2)).contains('\u{1b}'));
    let one = r#"{"dtype":"U8","shape":[1],"data_offsets":[0,1]}"#;
    let long = with_header(&format!(r#"{{"{}":{one}}}"#, "x".repeat(10_000)), 1);
    let error = open(long).unwrap().tensor("y").unwrap_err().to_string();
    assert!(error.len() < 300, "{error}");
}

#[test]
fn of_two_million_sizes_the_first_are_told() {
    let sizes = vec!["1"; 2_000_000].join(",");
    let header =
        format!(r#"{{"x":{{"dtype":"U8","shape":[{sizes}],"data_offsets":[0,1]}}}}"#);
    let file = open(with_header(&header, 1)).unwrap();
    insta::assert_snapshot!(file.matrix("x").unwrap_err(), @"some.file: x has shape (1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, and 1999988 more), expected two dimensions");
}

#[test]
#[cfg(unix)]
fn a_pipe_is_refused_and_not_waited_for() {
    let path = std::env::temp_dir().join(format!("pipe-{}", std::process::id()));
    let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
    assert!(made.success());
    let error = TensorFile::open(&path).unwrap_err();
    std::fs::remove_file(&path).unwrap();
    let source = std::error::Error::source(&error).unwrap().to_string();
    assert_eq!(source, "it is not a regular file");
}

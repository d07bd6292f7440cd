use tensors::TensorFile;

use super::*;

const KINDS: [(Kind, u32); 11] = [
    (Kind::F32, 0),
    (Kind::F16, 1),
    (Kind::Q4_0, 2),
    (Kind::Q4_1, 3),
    (Kind::Q5_0, 6),
    (Kind::Q5_1, 7),
    (Kind::Q8_0, 8),
    (Kind::Q4_K, 12),
    (Kind::Q5_K, 13),
    (Kind::Q6_K, 14),
    (Kind::BF16, 30),
];

#[test]
fn every_kind_gives_the_numbers_of_the_reference_bit_for_bit() {
    let path = "../../../tests/data/models/gguf/blocks.safetensors";
    let file = TensorFile::open(path).unwrap();
    for (kind, _) in KINDS {
        let [bytes, numbers] =
            ["bytes", "numbers"].map(|part| format!("{kind:?}.{part}"));
        let bytes = file.tensor(&bytes).unwrap().integers().unwrap();
        let bytes = bytes.into_iter().map(|byte| byte as u8);
        let expected: Vec<f32> = file.tensor(&numbers).unwrap().numbers_as().unwrap();
        let found: Vec<f32> = kind.numbers(&bytes.collect::<Vec<_>>());
        assert_eq!(found.len(), expected.len(), "{kind:?}");
        for (i, (a, b)) in found.into_iter().zip(expected).enumerate() {
            let alike = a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
            assert!(alike, "{kind:?}, number {i}: {a:e}, expected {b:e}");
        }
    }
}

#[test]
fn every_kind_has_its_code_its_name_and_whole_blocks() {
    for (kind, code) in KINDS {
        assert_eq!(Kind::of(code), Some(kind));
        assert_eq!(name(code), format!("{kind:?}"));
        assert!(Kind::NAMES.contains(&name(code)));
        let (per_block, n_bytes) = kind.block();
        assert_eq!(kind.numbers::<f64>(&vec![0; 3 * n_bytes]).len(), 3 * per_block);
    }
    let read = (0..64).filter(|code| Kind::of(*code).is_some()).count();
    assert_eq!(read, KINDS.len());
    assert_eq!(
        [name(4), name(10), name(99)],
        ["numbers of kind 4", "Q2_K", "numbers of kind 99"]
    );
}

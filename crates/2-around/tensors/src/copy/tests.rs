use attention::{Matrix, Rng, SeedableRng, random_matrix};

use safetensors::{Dtype, View};

use super::*;
use crate::to_bytes;

fn open(tensors: &[NewTensor]) -> Result<TensorFile> {
    TensorFile::from_bytes("some.file", to_bytes(tensors).unwrap())
}

/// A file with `w`, 24 by 40 and with a row of zeros, and `b`, which is small.
fn floats_of(rng: &mut Rng) -> TensorFile {
    let mut w: Matrix<f32> = random_matrix(24, 40, 0.3, rng);
    w.row_mut(5).fill(0.0);
    let b: Matrix<f32> = random_matrix(1, 40, 0.3, rng);
    let w = NewTensor::new("w", &[24, 40], [&w]).unwrap();
    open(&[w, NewTensor::new("b", &[40], [&b]).unwrap()]).unwrap()
}

/// Each entry is off by half a step at most, and by less than that where it counts: a step is
/// the block's farthest entry over 128 or 8.
#[test]
fn a_round_trip_is_off_by_half_a_step() {
    let before = floats_of(&mut Rng::seed_from_u64(1));
    let w: Vec<f32> = before.tensor("w").unwrap().numbers_as().unwrap();
    for (bits, n_steps, n_bytes) in [(Bits::Eight, 126., 40), (Bits::Four, 6., 20)] {
        let tensors = in_bits(&before, bits).unwrap();
        let n_packed: usize = tensors.iter().map(|it| it.data_len()).sum();
        // Two blocks a row, each with a scale of two bytes, and `b` in f32.
        assert_eq!(n_packed, 24 * (n_bytes + 4) + 160);
        let after = open(&tensors).unwrap();
        assert_eq!((after.names(), after.n_entries()), (before.names(), 1000));
        let tensor = after.tensor("w").unwrap();
        assert_eq!(tensor.shape(), [24, 40]);
        let found: Vec<f32> = tensor.numbers_as().unwrap();
        let wide = tensor.numbers().unwrap();
        assert!(found.iter().zip(wide).all(|(&a, b)| a == b as f32));
        for (before, after) in w.chunks(40).zip(found.chunks(40)) {
            for (before, after) in before.chunks(32).zip(after.chunks(32)) {
                let farthest = before.iter().fold(0f32, |most, x| most.max(x.abs()));
                let apart = before.iter().zip(after).map(|(a, b)| (a - b).abs());
                let largest = apart.fold(0f32, f32::max);
                assert!(largest <= farthest / n_steps, "{largest} of {farthest}");
            }
        }
        let b = |file: &TensorFile| file.tensor("b").unwrap().numbers().unwrap();
        assert_eq!(b(&after), b(&before));
    }
}

/// What is a multiple of a scale comes back as it was, whichever block it is in.
#[test]
fn what_fits_is_exact() {
    let w = Matrix::from_fn(16, 64, |i, j| {
        let scale = [0.5f32, 0.0078125][j / 32];
        let integer = ((3 * i + j) % 16) as f32 - 8.0;
        integer * scale
    });
    let before = open(&[NewTensor::new("w", &[16, 64], [&w]).unwrap()]).unwrap();
    let after = open(&in_bits(&before, Bits::Four).unwrap()).unwrap();
    assert_eq!(after.matrix("w").unwrap(), w.map(f64::from));
    assert_eq!(after.tensor("w").unwrap().dtype(), "F32 in 4 bits");
    let error = after.tensor("w").unwrap().integers().unwrap_err();
    insta::assert_snapshot!(error, @"some.file: w holds F32 in 4 bits, expected I64, I32, I16, I8, U64, U32, U16, U8 or BOOL");
}

#[test]
fn what_is_no_number_stays_none() {
    let w = Matrix::from_fn(16, 32, |i, j| if (i, j) == (1, 2) { f32::NAN } else { 1.0 });
    let before = open(&[NewTensor::new("w", &[16, 32], [&w]).unwrap()]).unwrap();
    let after = open(&in_bits(&before, Bits::Eight).unwrap()).unwrap();
    let after = after.matrix("w").unwrap();
    assert!(after[(1, 2)].is_nan() && (after[(0, 2)] - 1.0).abs() < 0.01);
}

#[test]
fn integers_without_scales_that_fit_are_refused_as_floats() {
    let file = floats_of(&mut Rng::seed_from_u64(2));
    let [w, scales] = [0, 1].map(|i| in_bits(&file, Bits::Four).unwrap()[1 + i].clone());
    let alone = open(std::slice::from_ref(&w)).unwrap();
    let error = alone.matrix("w").unwrap_err();
    insta::assert_snapshot!(error, @"some.file: w holds U8, expected F64, F32, F16 or BF16");
    let tensor = |shape: &[usize], dtype, n: usize| {
        let bytes = vec![0; n * dtype_bytes(dtype)];
        NewTensor::of_bytes("w.scales".to_owned(), shape, dtype, bytes, n).unwrap()
    };
    let short = tensor(&[24, 1], Dtype::F32, 24);
    let error = open(&[w.clone(), short]).unwrap_err();
    insta::assert_snapshot!(error, @"some.file: w.scales has shape (24, 1), expected (24, 2)");
    let integers = tensor(&[24, 2], Dtype::U8, 48);
    let error = open(&[w, integers]).unwrap_err();
    insta::assert_snapshot!(error, @"some.file: w.scales holds U8, expected F64, F32, F16 or BF16");
    let cube = NewTensor::bytes("w", &[24, 2, 10], vec![0; 480]).unwrap();
    let error = open(&[cube, scales.clone()]).unwrap_err();
    insta::assert_snapshot!(error, @"some.file: w has shape (24, 2, 10), expected two dimensions");
    // Scales beside floats, or beside nothing, are a tensor like others.
    let floats =
        NewTensor::new("w", &[1, 1], [&Matrix::from_element(1, 1, 1f32)]).unwrap();
    assert_eq!(open(&[floats, scales.clone()]).unwrap().names(), ["w", "w.scales"]);
    assert_eq!(open(&[scales]).unwrap().names(), ["w.scales"]);
}

fn dtype_bytes(dtype: Dtype) -> usize {
    dtype.bitsize() / 8
}

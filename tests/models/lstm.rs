//! PyTorch's LSTM gives the same numbers.

use attention::{Matrix, Real, max_abs_diff};
use sensors::{Case, LstmOutput};
use tensors::TensorFile;
use workshop::paths;

use stages::cases::assert_close;

const FILES: [&str; 3] = ["one-way", "both-ways", "source-003"];

fn open(name: &str) -> TensorFile {
    let folder = paths::workspace().join("tests/data/lstm-vectors");
    TensorFile::open(folder.join(name).with_extension("safetensors")).unwrap()
}

fn compare<T: Real>(name: &str, tolerance: f64) {
    let file = open(name);
    let reads = Case::<T>::read(&file, None).unwrap().run().unwrap();
    let output = file.matrices("output").unwrap();
    assert_eq!(output.len(), reads.len(), "{name}");
    // [layers · directions, batch, hidden] in the file, one matrix a sequence here.
    let state = |name: &str, s: usize| {
        let rows = file.matrices(name).unwrap();
        Matrix::from_rows(&rows.iter().map(|m| m.row(s).into_owned()).collect::<Vec<_>>())
    };
    for (s, LstmOutput { output: found, h_n, c_n }) in reads.iter().enumerate() {
        let pairs = [
            ("output", &output[s], found),
            ("h_n", &state("h_n", s), h_n),
            ("c_n", &state("c_n", s), c_n),
        ];
        for (what, expected, found) in pairs {
            let diff = max_abs_diff(expected, &found.map(T::to_f64)).unwrap();
            let precision = std::any::type_name::<T>();
            println!("{name}, sequence {s}, {what}, {precision}: max |Δ| = {diff:.1e}");
            assert_close(format!("{name}, sequence {s}, {what}"), diff, tolerance);
        }
    }
}

#[test]
fn every_reference_vector_is_met() {
    for name in FILES {
        compare::<f64>(name, 1e-10);
        compare::<f32>(name, 1e-5);
    }
}

#[test]
fn every_reference_vector_is_tested() {
    let folder = paths::workspace().join("tests/data/lstm-vectors");
    let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let found = names.filter(|path| path.extension().is_some_and(|e| e == "safetensors"));
    assert_eq!(found.count(), FILES.len());
}

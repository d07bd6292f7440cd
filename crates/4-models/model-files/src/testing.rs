//! Files for tests.

use attention::Matrix;

use tensors::{NewTensor, TensorFile, to_bytes_with};

/// A GGUF file of some settings and tensors, as its description says to write it.
#[derive(Debug, Default)]
pub struct GgufWriter {
    n_settings: u64,
    settings: Vec<u8>,
    n_tensors: u64,
    tensors: Vec<u8>,
    numbers: Vec<u8>,
}

/// A text as GGUF stores it: its length, and its bytes.
pub fn text(text: &str) -> Vec<u8> {
    [&(text.len() as u64).to_le_bytes(), text.as_bytes()].concat()
}

impl GgufWriter {
    /// With a setting of this kind, as its bytes are stored.
    pub fn setting(mut self, key: &str, kind: u32, value: &[u8]) -> Self {
        self.n_settings += 1;
        self.settings.extend([&text(key), &kind.to_le_bytes()[..], value].concat());
        self
    }

    /// With a whole number.
    pub fn whole(self, key: &str, value: u32) -> Self {
        self.setting(key, 4, &value.to_le_bytes())
    }

    /// With a float.
    pub fn float(self, key: &str, value: f32) -> Self {
        self.setting(key, 6, &value.to_le_bytes())
    }

    /// With a list of texts.
    pub fn texts(self, key: &str, values: &[&str]) -> Self {
        let mut list = 8_u32.to_le_bytes().to_vec();
        list.extend((values.len() as u64).to_le_bytes());
        list.extend(values.iter().flat_map(|value| text(value)));
        self.setting(key, 9, &list)
    }

    /// With a list of whole numbers.
    pub fn wholes(self, key: &str, values: &[i32]) -> Self {
        let mut list = 5_u32.to_le_bytes().to_vec();
        list.extend((values.len() as u64).to_le_bytes());
        list.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        self.setting(key, 9, &list)
    }

    /// With a tensor of this kind; `shape` has its rows first.
    pub fn tensor(mut self, name: &str, shape: &[u64], kind: u32, bytes: &[u8]) -> Self {
        self.n_tensors += 1;
        self.numbers.resize(self.numbers.len().next_multiple_of(32), 0);
        self.tensors.extend(text(name));
        self.tensors.extend((shape.len() as u32).to_le_bytes());
        self.tensors.extend(shape.iter().rev().flat_map(|size| size.to_le_bytes()));
        self.tensors.extend(kind.to_le_bytes());
        self.tensors.extend((self.numbers.len() as u64).to_le_bytes());
        self.numbers.extend(bytes);
        self
    }

    /// With a tensor of floats; `shape` has its rows first.
    pub fn floats(self, name: &str, shape: &[u64], numbers: &[f64]) -> Self {
        let bytes: Vec<u8> =
            numbers.iter().flat_map(|number| (*number as f32).to_le_bytes()).collect();
        self.tensor(name, shape, 0, &bytes)
    }

    /// The file.
    pub fn bytes(self) -> Vec<u8> {
        let mut bytes = b"GGUF".to_vec();
        bytes.extend(3_u32.to_le_bytes());
        bytes.extend(self.n_tensors.to_le_bytes());
        bytes.extend(self.n_settings.to_le_bytes());
        bytes.extend([self.settings, self.tensors].concat());
        bytes.resize(bytes.len().next_multiple_of(32), 0);
        bytes.extend(self.numbers);
        bytes
    }
}

/// A safetensors file of these tensors, all of 0.5 in F64, with these texts of metadata.
pub fn tensor_file(tensors: &[(&str, &[usize])], texts: &[(&str, &str)]) -> TensorFile {
    let numbers = |shape: &[usize]| vec![0.5; shape.iter().product()];
    let tensors: Vec<_> =
        tensors.iter().map(|&(name, shape)| (name, shape, numbers(shape))).collect();
    number_file(&tensors, texts)
}

/// A safetensors file of these tensors in F64, with these texts of metadata.
#[allow(clippy::missing_panics_doc)] // a test's own file makes sense
pub fn number_file(
    tensors: &[(&str, &[usize], Vec<f64>)],
    texts: &[(&str, &str)],
) -> TensorFile {
    let new = |(name, shape, numbers): &(&str, &[usize], Vec<f64>)| {
        let row: Matrix = Matrix::from_row_slice(1, numbers.len(), numbers);
        NewTensor::new(*name, shape, [&row]).expect("as many numbers as the shape says")
    };
    let tensors: Vec<NewTensor> = tensors.iter().map(new).collect();
    let bytes = to_bytes_with(&tensors, texts).expect("a file of tensors");
    TensorFile::from_bytes("some.file", bytes).expect("a file of tensors")
}

/// A safetensors file of one tensor of flags, whose shape is written as in the header.
#[allow(clippy::missing_panics_doc)] // a test's own file makes sense
pub fn flag_file(name: &str, shape: &str, flags: &[u8]) -> TensorFile {
    let offsets = format!("[0,{}]", flags.len());
    let header = format!(
        r#"{{"{name}":{{"dtype":"BOOL","shape":{shape},"data_offsets":{offsets}}}}}"#
    );
    let length = (header.len() as u64).to_le_bytes();
    let bytes = [&length, header.as_bytes(), flags].concat();
    TensorFile::from_bytes("some.file", bytes).expect("a file of flags")
}

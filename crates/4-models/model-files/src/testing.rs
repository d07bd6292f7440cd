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

    /// With the sizes and the tensors of a decoder of two layers, each of 4 heads on 2; `tables`
    /// are those of tokens, and `matrix` gives the kind and the bytes of a matrix by its name
    /// and its shape, its rows first.
    pub fn decoder(
        mut self,
        architecture: &str,
        [width, n_vocabulary]: [usize; 2],
        tables: &[&str],
        mut matrix: impl FnMut(&str, [usize; 2]) -> (u32, Vec<u8>),
    ) -> Self {
        self =
            self.float(&format!("{architecture}.attention.layer_norm_rms_epsilon"), 1e-5);
        for (name, size) in [
            ("embedding_length", width),
            ("attention.head_count", 4),
            ("attention.head_count_kv", 2),
            ("block_count", 2),
            ("feed_forward_length", 2 * width),
            ("context_length", 64),
            ("vocab_size", n_vocabulary),
        ] {
            self = self.whole(&format!("{architecture}.{name}"), size as u32);
        }
        let mut with = |writer: Self, before: &str, name: &str, shape: [usize; 2]| {
            let ((kind, bytes), name) =
                (matrix(name, shape), format!("{before}{name}.weight"));
            writer.tensor(&name, &shape.map(|size| size as u64), kind, &bytes)
        };
        for name in tables {
            self = with(self, "", name, [n_vocabulary, width]);
        }
        let norm = |writer: Self, name: &str| {
            writer.floats(&format!("{name}.weight"), &[width as u64], &vec![1.0; width])
        };
        for block in ["blk.0.", "blk.1."] {
            for (name, shape) in [
                ("attn_q", [width, width]),
                ("attn_k", [width / 2, width]),
                ("attn_v", [width / 2, width]),
                ("attn_output", [width, width]),
                ("ffn_gate", [2 * width, width]),
                ("ffn_up", [2 * width, width]),
                ("ffn_down", [width, 2 * width]),
            ] {
                self = with(self, block, name, shape);
            }
            self = norm(self, &format!("{block}attn_norm"));
            self = norm(self, &format!("{block}ffn_norm"));
        }
        norm(self, "output_norm")
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

//! A tiny model that writes, as a GGUF file: random weights in four bits, and a vocabulary of
//! all bytes.

use model_files::testing::{GgufWriter, text};

const WIDTH: usize = 32;
const N_VOCABULARY: usize = 256;

/// Q4_1: its code, how many numbers a block has, and how many bytes.
const KIND: (u32, usize, usize) = (3, 32, 20);

/// Bytes as byte-level vocabularies write them.
fn tokens() -> Vec<String> {
    let printed = |byte: u32| match byte {
        33..=126 | 161..=172 | 174..=255 => byte,
        0..=32 => 256 + byte,
        127..=160 => 256 + 33 + byte - 127,
        _ => 256 + 67,
    };
    let tokens = (0..256).map(|byte| char::from_u32(printed(byte)).unwrap().to_string());
    tokens.collect()
}

/// Random blocks of numbers up to about 1/2, or 1/8.
fn blocks(n_numbers: usize, is_small: bool, state: &mut u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    for _ in 0..n_numbers / KIND.1 {
        let mut block = [0; KIND.2];
        for byte in &mut block {
            *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            *byte = (*state >> 33) as u8;
        }
        // Scale and offset as float16: 2⁻⁴ or 2⁻⁶ and a bit, and −8 times as much.
        let high = if is_small { [0x24, 0xb0] } else { [0x2c, 0xb8] };
        (block[1], block[2], block[3]) = (high[0], block[0], high[1]);
        bytes.extend(block);
    }
    bytes
}

/// The file of a model of this architecture.
pub fn gguf(architecture: &str) -> Vec<u8> {
    gguf_of_kind(architecture, KIND.0)
}

/// The same that calls its matrices' kind of number another.
pub fn gguf_of_kind(architecture: &str, kind: u32) -> Vec<u8> {
    let tokens = tokens();
    let tokens: Vec<&str> = tokens.iter().map(String::as_str).collect();
    let writer = GgufWriter::default()
        .setting("general.architecture", 8, &text(architecture))
        .setting("tokenizer.ggml.model", 8, &text("gpt2"))
        .setting("tokenizer.ggml.pre", 8, &text("smollm"))
        .texts("tokenizer.ggml.tokens", &tokens)
        .wholes("tokenizer.ggml.token_type", &[1; N_VOCABULARY])
        .texts("tokenizer.ggml.merges", &[])
        .setting("tokenizer.ggml.add_bos_token", 7, &[0]);
    let state = &mut 5;
    let (sizes, tables) = ([WIDTH, N_VOCABULARY], ["token_embd"]);
    let matrix = |name: &str, [rows, width]: [usize; 2]| {
        (kind, blocks(rows * width, name == tables[0], state))
    };
    writer.decoder(architecture, sizes, &tables, matrix).bytes()
}

//! Files in few bits: the fast model computes with what they hold.

use attention::{Rng, SeedableRng};
use model_files::Gguf;
use model_files::testing::{GgufWriter, text};
use rand::RngExt;
use tiles::Instructions;
use tiles::bytes::Bytes;

use super::*;
use crate::decoders::Files;

/// A kind of block: its code, how many numbers it has, its bytes, and which of them are the
/// upper halves of float16 scales.
#[derive(Clone, Copy)]
struct Blocks {
    code: u32,
    n_numbers: usize,
    n_bytes: usize,
    halves: &'static [usize],
}

const fn blocks(
    code: u32,
    [n_numbers, n_bytes]: [usize; 2],
    halves: &'static [usize],
) -> Blocks {
    Blocks { code, n_numbers, n_bytes, halves }
}

const Q4_0: Blocks = blocks(2, [32, 18], &[1]);
const Q4_1: Blocks = blocks(3, [32, 20], &[1, 3]);
const Q5_1: Blocks = blocks(7, [32, 24], &[1, 3]);
const Q8_0: Blocks = blocks(8, [32, 34], &[1]);
const Q4_K: Blocks = blocks(12, [256, 144], &[1, 3]);
const Q6_K: Blocks = blocks(14, [256, 210], &[209]);

impl Blocks {
    /// Random bytes, of scales near 0.01 or, under a large scale, 0.0001.
    fn random(self, n_numbers: usize, rng: &mut Rng) -> Vec<u8> {
        let mut bytes: Vec<u8> = (0..n_numbers / self.n_numbers * self.n_bytes)
            .map(|_| rng.random())
            .collect();
        let high = if self.n_numbers == 256 { 0x06 } else { 0x20 };
        for block in bytes.chunks_exact_mut(self.n_bytes) {
            self.halves.iter().for_each(|&at| block[at] = block[at] & 0x80 | high);
        }
        bytes
    }
}

/// A model of random blocks: `usual` in all matrices but W^V and the tables, of which the second
/// is the unembedding.
fn file(width: usize, usual: Blocks, w_v: Blocks, tables: &[Blocks]) -> Files {
    let rng = &mut Rng::seed_from_u64(11);
    let names = &["token_embd", "output"][..tables.len()];
    let writer = GgufWriter::default().setting("general.architecture", 8, &text("llama"));
    let writer = writer.decoder("llama", [width, 97], names, |name, [rows, width]| {
        let of = match name {
            "token_embd" => tables[0],
            "output" => tables[1],
            "attn_v" => w_v,
            _ => usual,
        };
        (of.code, of.random(rows * width, rng))
    });
    let file = Gguf::from_bytes("model.gguf", writer.bytes()).unwrap();
    Files::of_gguf("model.gguf".into(), file).unwrap()
}

/// How far logits may be off, of the largest, where tokens are rounded to 16 bits, and where
/// prompts are to 8: much, since the offsets of random blocks are as large as what stands
/// above them.
const ROUNDED: [f64; 2] = [1e-4, 3e-2];

#[test]
fn a_model_in_few_bits_is_the_model_of_their_numbers() {
    let ids = ids(23, 0);
    for (case, files) in [
        ("Q4_0", file(64, Q4_0, Q4_0, &[Q8_0])),
        ("Q4_1", file(64, Q4_1, Q4_1, &[Q8_0, Q4_1])),
        ("Q5_1 and Q8_0", file(64, Q5_1, Q8_0, &[Q5_1])),
        ("Q4_K and Q6_K", file(256, Q4_K, Q6_K, &[Q6_K])),
    ] {
        let expected = readable_logits(&Decoder::read(&files).unwrap(), &ids);
        let mut model = FastDecoder::read_files(&files).unwrap();
        let mut largest = 0.0f64;
        for cuts in [vec![23], vec![1; 23], vec![14, 1, 8]] {
            let (mut caches, mut first) = (model.caches(0), 0);
            let mut tolerance = ROUNDED[0];
            for n in cuts {
                if n > 8 && Bytes::with(Instructions::best()).is_some() {
                    tolerance = ROUNDED[1];
                }
                let logits = model.read(&ids[first..first + n], &mut caches).unwrap();
                first += n;
                let apart = difference(&logits, &expected, first - 1) / expected.amax();
                assert!(apart < tolerance, "{case}, {first}: {apart:e}");
                largest = largest.max(apart);
            }
        }
        println!("{case}: largest difference {largest:.1e} of the largest logit");
    }
}

#[test]
fn a_model_in_f32_rounds_no_token() {
    let ids = ids(23, 0);
    let files = file(64, Q5_1, Q8_0, &[Q5_1, Q5_1]);
    let expected = readable_logits(&Decoder::read(&files).unwrap(), &ids);
    let mut model = FastDecoder::read_files(&files).unwrap().in_f32();
    let logits = model.read(&ids, &mut model.caches(0)).unwrap();
    let apart = difference(&logits, &expected, 22) / expected.amax();
    assert!(apart < TOLERANCE, "{apart:e}");
}

/// What is read for a token is what the file has: no weight became an f32.
#[test]
fn weights_stay_as_small_as_the_file_has_them() {
    let files = file(64, Q4_1, Q4_1, &[Q8_0]);
    let bytes = FastDecoder::read_files(&files).unwrap().weight_bytes();
    let matrices = 64 * (64 + 32 + 32 + 64 + 3 * 128) * 2;
    let table = 64 * 104; // 97 tokens in panels of 8
    // Q8_0 keeps an offset here, which is −128 times its scale.
    assert_eq!(bytes, matrices / 32 * 20 + table / 32 * 36);
    let numbers =
        FastDecoder::new(Decoder::read(&files).unwrap()).unwrap().weight_bytes();
    assert!(numbers > 5 * bytes, "{numbers} and {bytes}");
}

//! What a model of remaining life is made of, before it has any weights.

use std::fmt;

use attention::{thousands, write_table};

use crate::Result;

/// How readings become tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reader {
    /// An LSTM that reads both ways, this wide each way.
    BiLstm {
        /// The width of one direction.
        hidden: usize,
    },
    /// One linear map per reading, and sinusoidal positions: no reading knows of another.
    Linear {
        /// The width of a token.
        width: usize,
    },
}

/// How thirty tokens become one vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pool {
    /// Their mean.
    Mean,
    /// Where each direction of the LSTM ends: forward at the last reading, backward at the
    /// first.
    Ends,
}

/// The parts of a model: a reader, perhaps attention with residual and norm, a pool, and
/// a linear map to one number.
///
/// ```
/// use sensors::Architecture;
///
/// println!("{}", Architecture::SOURCE.ledger(14));
/// assert_eq!(Architecture::SOURCE.n_parameters(14), 411_393);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Architecture {
    /// How readings become tokens.
    pub reader: Reader,
    /// The number of heads, if there is attention.
    pub n_heads: Option<usize>,
    /// How tokens become one vector.
    pub pool: Pool,
}

/// A tensor of a state dict: its part, its name, its shape in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slot {
    /// The part of the model that it belongs to.
    pub part: &'static str,
    /// PyTorch's name.
    pub name: &'static str,
    /// PyTorch's shape, `[out, in]` for a weight.
    pub shape: Vec<usize>,
}

impl Architecture {
    /// Source 003's: 128 each way, eight heads on 256.
    pub const SOURCE: Self = Self {
        reader: Reader::BiLstm { hidden: 128 },
        n_heads: Some(8),
        pool: Pool::Mean,
    };

    /// What the source's is compared with, and itself: the name, and the parts. The
    /// wide one has attention's parameters in its LSTM instead.
    pub const VARIANTS: [(&str, Self); 6] = {
        const fn lstm(hidden: usize, n_heads: Option<usize>, pool: Pool) -> Architecture {
            Architecture { reader: Reader::BiLstm { hidden }, n_heads, pool }
        }
        [
            ("BiLSTM", lstm(128, None, Pool::Ends)),
            ("BiLSTM, mean", lstm(128, None, Pool::Mean)),
            ("one head", lstm(128, Some(1), Pool::Mean)),
            ("eight heads", Self::SOURCE),
            (
                "no BiLSTM",
                Self {
                    reader: Reader::Linear { width: 256 },
                    n_heads: Some(8),
                    pool: Pool::Mean,
                },
            ),
            ("BiLSTM, mean, wide", lstm(218, None, Pool::Mean)),
        ]
    };

    /// The width of a token behind the reader.
    pub fn width(&self) -> usize {
        match self.reader {
            Reader::BiLstm { hidden } => 2 * hidden,
            Reader::Linear { width } => width,
        }
    }

    /// All tensors that are learned, for so many sensors.
    pub fn slots(&self, d_in: usize) -> Vec<Slot> {
        let d = self.width();
        let mut slots = Vec::new();
        let mut put = |part, name, shape: &[usize]| {
            slots.push(Slot { part, name, shape: shape.to_vec() });
        };
        match self.reader {
            Reader::BiLstm { hidden } => {
                for (part, [w_ih, w_hh, b_ih, b_hh]) in LSTM {
                    put(part, w_ih, &[4 * hidden, d_in]);
                    put(part, w_hh, &[4 * hidden, hidden]);
                    put(part, b_ih, &[4 * hidden]);
                    put(part, b_hh, &[4 * hidden]);
                }
            }
            Reader::Linear { width } => {
                put("linear", "linear.weight", &[width, d_in]);
                put("linear", "linear.bias", &[width]);
            }
        }
        if self.n_heads.is_some() {
            put("attention", "attention.in_proj_weight", &[3 * d, d]);
            put("attention", "attention.in_proj_bias", &[3 * d]);
            put("attention", "attention.out_proj.weight", &[d, d]);
            put("attention", "attention.out_proj.bias", &[d]);
            put("norm", "norm.weight", &[d]);
            put("norm", "norm.bias", &[d]);
        }
        put("head", "head.weight", &[1, d]);
        put("head", "head.bias", &[1]);
        slots
    }

    /// How many numbers are learned, for so many sensors.
    pub fn n_parameters(&self, d_in: usize) -> usize {
        self.slots(d_in).iter().map(|slot| slot.shape.iter().product::<usize>()).sum()
    }

    /// What each part costs, for so many sensors.
    pub fn ledger(&self, d_in: usize) -> Ledger {
        let mut parts: Vec<(&'static str, usize)> = Vec::new();
        for slot in self.slots(d_in) {
            let n = slot.shape.iter().product::<usize>();
            match parts.last_mut().filter(|(part, _)| *part == slot.part) {
                Some((_, all)) => *all += n,
                None => parts.push((slot.part, n)),
            }
        }
        Ledger { parts }
    }

    /// What `n_heads`, `reader` and `pool` of a file's metadata say.
    pub(crate) fn of_texts(
        reader: &str,
        width: usize,
        heads: usize,
        pool: &str,
    ) -> Result<Self> {
        attention::Error::expect_positive("the width of a model", width)?;
        let reader = match reader {
            "linear" => Reader::Linear { width },
            _ => Reader::BiLstm { hidden: width / 2 },
        };
        let pool = if pool == "ends" { Pool::Ends } else { Pool::Mean };
        Ok(Self { reader, n_heads: (heads > 0).then_some(heads), pool })
    }

    /// The same as texts for a file's metadata.
    pub fn texts(&self) -> [(&'static str, String); 4] {
        let reader = match self.reader {
            Reader::BiLstm { .. } => "bilstm",
            Reader::Linear { .. } => "linear",
        };
        let pool = if self.pool == Pool::Ends { "ends" } else { "mean" };
        [
            ("reader", reader.into()),
            ("width", self.width().to_string()),
            ("n_heads", self.n_heads.unwrap_or(0).to_string()),
            ("pool", pool.into()),
        ]
    }
}

/// PyTorch's names in each direction.
const LSTM: [(&str, [&str; 4]); 2] = [
    (
        "LSTM, forward",
        ["lstm.weight_ih_l0", "lstm.weight_hh_l0", "lstm.bias_ih_l0", "lstm.bias_hh_l0"],
    ),
    (
        "LSTM, backward",
        [
            "lstm.weight_ih_l0_reverse",
            "lstm.weight_hh_l0_reverse",
            "lstm.bias_ih_l0_reverse",
            "lstm.bias_hh_l0_reverse",
        ],
    ),
];

/// The parts of a model with their parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ledger {
    /// The parts, in the order of the pass.
    pub parts: Vec<(&'static str, usize)>,
}

impl Ledger {
    /// The parameters in all.
    pub fn total(&self) -> usize {
        self.parts.iter().map(|(_, n)| n).sum()
    }
}

impl fmt::Display for Ledger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let total = self.total();
        let share = |n: usize| format!("{:.1} %", 100.0 * n as f64 / total.max(1) as f64);
        let row =
            |part: &str, share: String, n: usize| vec![part.into(), share, thousands(n)];
        let mut rows = vec![["part", "share", "parameters"].map(String::from).to_vec()];
        rows.extend(self.parts.iter().map(|(part, n)| row(part, share(*n), *n)));
        rows.push(row("total", String::new(), total));
        write_table(f, &rows)
    }
}

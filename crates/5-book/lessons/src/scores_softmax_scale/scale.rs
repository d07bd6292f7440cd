//! A row of products q · k, divided by √d_k and by a temperature: live.

use anyhow::Result;
use attention::{Matrix, softmax_rows};
use figures::{WeightRow, average};

use crate::live::{Control, Kind, Live, LiveView, Question, Settings};
use crate::numbers::entropy;

/// Draws the row at what its reader sets.
pub const LIVE: Live = Live {
    name: "scale-and-temperature",
    questions: &[
        Question {
            ask: "Which temperature makes the divided row as sharp as the undivided one?",
            is_answered: |_, view| {
                Ok((view.number(BITS)? - view.number(BITS + 2)?).abs() < 0.02)
            },
            answer: &[("temperature", "0.1768")],
            found: "A temperature of 1/√d_k takes the division back: both are one factor.",
        },
        Question {
            ask: "The products stay as they are. How wide must the head be for the divided \
                  row to give no word more than 0.3?",
            is_answered: |_, view| {
                let shares = (WORDS.len()..2 * WORDS.len()).map(|at| view.number(at));
                let shares: Vec<f64> = shares.collect::<Result<_>>()?;
                Ok(shares.iter().all(|&share| share <= 0.3))
            },
            answer: &[("d_k", "512")],
            found: "√d_k only suits products that grow with it: those that do not are made \
                    even.",
        },
    ],
    weights: None,
    controls,
    draw,
    training: None,
};

/// Where the numbers hold the bits of the three rows, after their shares.
const BITS: usize = 3 * WORDS.len();

/// The keys.
pub const WORDS: [&str; 5] = ["pilot", "flew", "plane", "to", "paris"];
/// What the query has as products with them first.
pub const PRODUCTS: [f64; 5] = [12.0, 3.0, 8.0, -4.0, 6.0];

fn controls() -> Vec<Control> {
    let products = Kind::Matrix {
        rows: vec!["q · k".to_owned()],
        columns: WORDS.map(str::to_owned).to_vec(),
        most: 1000.0,
        first: Matrix::from_row_slice(1, PRODUCTS.len(), &PRODUCTS),
    };
    let temperature = Kind::Number { range: [0.1, 10.0], step: 0.1, first: 2.0 };
    vec![
        Control::new("products", "Products", products),
        Control::new("d_k", "d_k", Kind::Count { range: [1, 4096], first: 32 }),
        Control::new("temperature", "Temperature", temperature),
    ]
}

fn draw(settings: &Settings) -> Result<LiveView> {
    let products = settings.matrix("products")?;
    let (d_k, temperature) = (settings.count("d_k")?, settings.number("temperature")?);
    let scores = products / (d_k as f64).sqrt();
    let rows = [products.clone(), scores.clone(), scores / temperature].map(softmax_rows);
    let names = [
        "not divided".to_owned(),
        format!("divided by √{d_k}"),
        format!("and by a temperature of {temperature}"),
    ];
    let bars = names
        .into_iter()
        .zip(&rows)
        .map(|(name, row)| WeightRow { name, shares: row.iter().copied().collect() });
    let bits = rows.each_ref().map(|row| entropy(row.iter().copied()));
    let title = "The same products: undivided, divided by √d_k, and by a temperature too";
    let figure = average(title, &WORDS, &bars.collect::<Vec<_>>())?;
    let largest = rows[2]
        .iter()
        .copied()
        .zip(WORDS)
        .fold((0.0, ""), |a, b| if b.0 > a.0 { b } else { a });
    let words = format!(
        "Undivided the row has {:.2} bits of entropy, divided by √{d_k} {:.2}, and with the \
         temperature {:.2}: {} gets {:.3}.",
        bits[0], bits[1], bits[2], largest.1, largest.0
    );
    let numbers = rows.iter().flat_map(|row| row.iter().copied()).chain(bits).collect();
    Ok(LiveView { figure, words, numbers })
}

//! A row of products q · k, divided by √d_k and by a temperature: live.

use anyhow::Result;
use attention::{Matrix, softmax_rows};
use figures::{WeightRow, average};

use crate::live::{LiveFigure, LiveView, Question, live};
use crate::numbers::entropy;

/// Draws the row at what its reader sets.
pub(crate) const LIVE: LiveFigure<Set, Facts> =
    LiveFigure::new("scale-and-temperature", draw, QUESTIONS);

const QUESTIONS: &[Question<Set, Facts>] = &[
    Question {
        ask: "Which temperature makes the divided row as sharp as the undivided one?",
        is_answered: |_, it| (it.bits[0] - it.bits[2]).abs() < 0.02,
        answer: |set| set.temperature = 0.1768,
        found: "A temperature of 1/√d_k takes the division back: both are one factor.",
    },
    Question {
        ask: "The products stay as they are. How wide must the head be for the divided \
              row to give no word more than 0.3?",
        is_answered: |_, it| it.shares[1].iter().all(|&share| share <= 0.3),
        answer: |set| set.d_k = 512,
        found: "√d_k only suits products that grow with it: those that do not are made \
                even.",
    },
];

/// The keys.
pub const WORDS: [&str; 5] = ["pilot", "flew", "plane", "to", "paris"];
/// What the query has as products with them first.
pub const PRODUCTS: [f64; 5] = [12.0, 3.0, 8.0, -4.0, 6.0];

live! {
    struct Set {
        products: Matrix = "Products", matrix(
            ["q · k"], WORDS, 1000.0, Matrix::from_row_slice(1, PRODUCTS.len(), &PRODUCTS),
        );
        d_k: usize = "d_k", count([1, 4096], 32);
        temperature: f64 = "Temperature", number([0.1, 10.0], 0.1, 2.0);
    }

    /// Of the row that is not divided, that which is divided, and that with the temperature.
    struct Facts { shares: [Vec<f64>; 3], bits: [f64; 3] }
}

fn draw(Set { products, d_k, temperature }: &Set) -> Result<LiveView<Facts>> {
    let scores = products / (*d_k as f64).sqrt();
    let rows =
        [products.clone(), scores.clone(), scores / *temperature].map(softmax_rows);
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
    let shares = rows.map(|row| row.iter().copied().collect());
    Ok(LiveView { figure, words, facts: Facts { shares, bits } })
}

//! A row of products q · k, divided by √d_k and by a temperature: live.

use anyhow::Result;
use attention::{Matrix, softmax_rows};
use figures::{WeightRow, average};

use crate::live::{Control, Kind, Live, LiveView, Settings};
use crate::numbers::entropy;

/// Draws the row at what its reader sets.
pub const LIVE: Live = Live {
    name: "scale-and-temperature",
    ask: "What if one product were much larger than the others? What if d_k were 512? \
          Which temperature makes the divided row as sharp as the undivided one?",
    weights: None,
    controls,
    draw,
    training: None,
};

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

//! What a row of shares blends to, beside another row.

use figures::{
    Axis, Chart, Figure, Grouping, Mark, Panel, Result, Table, all_rounded, escaped,
    legend_room, palette, share,
};

/// A row of shares and the average that it makes.
pub(super) struct Blend {
    /// What tells it from the other rows.
    pub(super) name: String,
    /// One share a token.
    pub(super) shares: Vec<f64>,
    /// The average of the values, with these shares: one amount a feature.
    pub(super) out: Vec<f64>,
}

/// The shares of some rows in one panel, what they blend to in another, one colour a row.
/// Both scales reach from 0 to 1 at least, whatever the rows hold.
///
/// # Shapes
/// Each row has `tokens.len()` shares and `features.len()` amounts.
pub(super) fn figure(
    title: &str,
    tokens: &[String],
    features: &[String],
    rows: &[Blend],
) -> Result<Figure> {
    let names: Vec<String> = rows.iter().map(|row| row.name.clone()).collect();
    let amounts = || rows.iter().flat_map(|row| &row.out).copied();
    let (least, most) = (amounts().fold(0.0, f64::min), amounts().fold(1.0, f64::max));
    let panel = |title: &str, names: &[String], ends: [f64; 2]| {
        let y = Axis::between(ends.map(|end| end * 1.05));
        Panel::new(title, Axis::across(names, 12), y, 150.0)
    };
    let bars = rows.iter().enumerate();
    Chart::new(title)
        .panels([
            panel("attention weights", tokens, [0.0, 1.0]),
            panel("what they blend to", features, [least, most]),
        ])
        .marks(bars.flat_map(|(nth, row)| bars_of(nth, row, [tokens, features])))
        .columns(2)
        .below(22.0)
        .above(legend_room(names.iter().map(String::as_str), 8.0))
        .grouped(Grouping::Beside)
        .bar_gap(0.35)
        .tables([
            Table::grid("Attention weights", "token", tokens, &names, |at, row| {
                share(rows[row].shares[at])
            }),
            Table::grid("Blend", "feature", features, &names, |at, row| {
                share(rows[row].out[at])
            }),
        ])
        .says(sentence(tokens, features, rows))
        .figure()
}

/// The bars of one row, in both panels; its name stands in the legend once.
fn bars_of(nth: usize, row: &Blend, names: [&[String]; 2]) -> [Mark; 2] {
    [(0, &row.shares), (1, &row.out)].map(|(panel, numbers)| {
        let told = names[panel].iter().zip(numbers).map(|(name, &of)| {
            format!("{}<br>{} {}", escaped(&row.name), escaped(name), share(of))
        });
        Mark::bars(all_rounded(numbers))
            .on(panel)
            .named(&row.name)
            .of_group(nth.to_string(), panel == 0)
            .coloured(palette::head(nth))
            .hover(told)
    })
}

fn sentence(tokens: &[String], features: &[String], rows: &[Blend]) -> String {
    let listed = |numbers: &[f64]| {
        numbers.iter().map(|&it| share(it)).collect::<Vec<_>>().join(", ")
    };
    let row = |row: &Blend| {
        let (shares, blend) = (listed(&row.shares), listed(&row.out));
        format!("{}, attention weights {shares}, blend {blend}", row.name)
    };
    let rows: Vec<String> = rows.iter().map(row).collect();
    format!(
        "Bars of the attention weights of {}, and of the amounts of {} that they blend \
         to. {}.",
        tokens.join(", "),
        features.join(", "),
        rows.join("; ")
    )
}

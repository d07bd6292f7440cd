//! What a row of shares blends to, beside another row.

use figures::{
    Axis, Chart, Figure, Grouping, Mark, NEUTRAL, Panel, Result, Table, all_rounded,
    legend_room, palette, rounded, share,
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

/// A token's name, where its value lies in the plane, and how far above it its name stands.
pub(super) type Place = (&'static str, [f64; 2], f64);

/// The amounts of a row and the shares that they become in one panel, and in the other where
/// its output lies among the values: each pulls at it as hard as its share is large. The
/// other row has an output too.
///
/// # Shapes
/// There is an amount, a place and a share a token, and an entry of an output a feature.
pub(super) fn figure(
    title: &str,
    tokens: &[Place; 4],
    features: &[String],
    amounts: [f64; 4],
    rows: &[Blend; 2],
) -> Result<Figure> {
    let names: Vec<String> = rows.iter().map(|row| row.name.clone()).collect();
    let words = tokens.map(|(token, ..)| token.to_owned());
    let x = Axis::across(&words, 13);
    let bars = Panel::new("drag an amount up or down", x, Axis::numbers(1.12), 200.0);
    let [x, y] = [Axis::hidden([-0.25, 1.25]), Axis::hidden([-0.2, 1.2])];
    let plane = Panel::new("where the output lies among the values", x, y, 200.0);
    let legend = ["amount", "attention weight", "output", "output of crew alone"];
    Chart::new(title)
        .panel(bars, bars_of(&words, amounts, &rows[0]))
        .panel(plane, pulled(tokens, rows))
        .columns(2)
        .below(24.0)
        .above(legend_room(legend.into_iter(), 8.0))
        .grouped(Grouping::Beside)
        .bar_gap(0.3)
        .tables([
            Table::grid("Attention weights", "token", &words, &names, |at, row| {
                share(rows[row].shares[at])
            }),
            Table::grid("Blend", "feature", features, &names, |at, row| {
                share(rows[row].out[at])
            }),
        ])
        .says(sentence(&words, features, rows))
        .figure()
}

/// What is dragged, and the shares beside it.
fn bars_of(words: &[String], amounts: [f64; 4], row: &Blend) -> Vec<Mark> {
    let written = row.shares.iter().map(|&of| share(of));
    vec![
        Mark::bars(all_rounded(&amounts))
            .named("amount")
            .coloured("rgba(118,118,118,0.45)")
            .dragged_along_y(words.iter().cloned()),
        Mark::bars(all_rounded(&row.shares))
            .named("attention weight")
            .coloured(palette::head(0))
            .written(written, "outside"),
    ]
}

/// The values in their plane, each as large as its share, with a line to the output.
fn pulled(tokens: &[Place; 4], [row, other]: &[Blend; 2]) -> Vec<Mark> {
    let at = |shares: &[f64]| {
        [0, 1].map(|axis| {
            let parts =
                tokens.iter().zip(shares).map(|((_, at, _), share)| at[axis] * share);
            parts.sum::<f64>()
        })
    };
    let [out, target] = [row, other].map(|row| at(&row.shares));
    let corners = [0, 1, 2, 0].map(|nth| tokens[nth].1);
    let edges = Mark::lines(corners.map(|it| it[0]), corners.map(|it| it[1]));
    let mut marks = vec![edges.line(NEUTRAL, 1.0).in_legend(false).silent()];
    for ((_, place, _), share) in tokens.iter().zip(&row.shares) {
        let pull = Mark::lines([place[0], out[0]], [place[1], out[1]]).opacity(0.4);
        let pull = pull.line(palette::head(0), 10.0 * share).in_legend(false).silent();
        marks.extend((*share > 0.0).then_some(pull));
    }
    for ((name, [x, y], side), share) in tokens.iter().zip(&row.shares) {
        let size = (8.0 + 28.0 * share.sqrt()).round() as usize;
        let disc = Mark::points([*x], [*y]).sized(size).coloured(palette::head(0));
        marks.push(disc.mark_opacity(0.4).in_legend(false).unclipped().silent());
        let name = Mark::texts([*x], [y + side], [*name]).text_size(13);
        marks.push(name.in_legend(false).unclipped().silent());
    }
    let dot = |[x, y]: [f64; 2], name: &str| {
        let name = name.to_owned();
        Mark::points([rounded(x)], [rounded(y)]).named(&name).hover([name]).unclipped()
    };
    let ring = dot(target, "output of crew alone").marked("circle-open", 20);
    marks.push(ring.coloured(palette::head(1)));
    marks.push(
        dot(out, "output").sized(13).coloured(palette::head(0)).outlined("#fff", 2),
    );
    marks
}

fn sentence(tokens: &[String], features: &[String], rows: &[Blend; 2]) -> String {
    let listed = |numbers: &[f64]| {
        numbers.iter().map(|&it| share(it)).collect::<Vec<_>>().join(", ")
    };
    let row = |row: &Blend| {
        let (shares, blend) = (listed(&row.shares), listed(&row.out));
        format!("{}, attention weights {shares}, blend {blend}", row.name)
    };
    let rows: Vec<String> = rows.iter().map(row).collect();
    format!(
        "Bars of the attention weights of {}, and the point between their values that they \
         blend to, by its amounts of {}. {}.",
        tokens.join(", "),
        features.join(", "),
        rows.join("; ")
    )
}

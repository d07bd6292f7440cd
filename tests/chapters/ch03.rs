//! What chapter 3 quotes.

use std::fmt::Write;

use attention::{HeadParameters, Linear, Mask, Matrix, max_abs_diff};
use single_head::{HeadPass, attend, attend_in_loops};

pub const WORDS: [&str; 3] = ["river", "banks", "overflowed"];

/// Three words: how much each has to do with water, with money, whether it is a plural
/// noun and whether it is a verb. The numbers are set by hand.
#[rustfmt::skip]
pub fn words() -> Matrix {
    Matrix::from_row_slice(3, 4, &[
        2.0, 0.0, 0.0, 0.0,
        1.0, 1.0, 1.0, 0.0,
        1.0, 0.0, 0.0, 1.0,
    ])
}

/// A projection set by hand, `[4, 2]`, without a bias.
pub fn by_hand(rows: [f64; 8]) -> Linear {
    Linear::new(Matrix::from_row_slice(4, 2, &rows), None).unwrap()
}

/// Verbs ask for a plural noun, `verb_asks` times over; water asks for water.
#[rustfmt::skip]
fn head(verb_asks: f64) -> HeadParameters {
    HeadParameters {
        w_q: by_hand([0.0, 1.0,  0.0, 0.0,  0.0, 0.0,  verb_asks, 0.0]),
        w_k: by_hand([0.0, 1.0,  0.0, 0.0,  1.0, 0.0,  0.0, 0.0]),
        w_v: by_hand([1.0, 0.0,  0.0, 1.0,  0.0, 0.0,  0.0, 0.0]),
    }
}

/// A matrix with a name for each row, every entry as wide as the widest.
pub fn table(
    name: &str,
    rows: &[impl AsRef<str>],
    matrix: &Matrix,
    digits: usize,
) -> String {
    let entry = |x: f64| format!("{x:.digits$}");
    let width = matrix.iter().map(|&x| entry(x).len()).max().unwrap();
    let label = rows.iter().map(|row| row.as_ref().chars().count()).max().unwrap();
    let mut text = format!("{name}\n");
    for (word, row) in rows.iter().zip(matrix.row_iter()) {
        write!(text, "  {:<label$}", word.as_ref()).unwrap();
        for &x in row.iter() {
            write!(text, "  {:>width$}", entry(x)).unwrap();
        }
        text.push('\n');
    }
    text
}

fn both(head: &HeadParameters, x: &Matrix) -> [HeadPass; 2] {
    let mask = &Mask::None;
    [attend_in_loops(head, x, x, x, mask).unwrap(), attend(head, x, x, x, mask).unwrap()]
}

#[test]
fn one_query_by_hand() {
    let x = words();
    let [pass, _] = both(&head(2.0), &x);
    let query = 2;
    let (q, largest) = (pass.q.row(query), pass.scores.row(query).max());
    let exp = |key: usize| (pass.scores[(query, key)] - largest).exp();
    let mut text = format!(
        "query of {}: ({}, {})\n\n{:<10}  {:<15}  {:>6}  {:>10}  {:>9}\n",
        WORDS[query], q[0], q[1], "key", "q · k", "score", "exponential", "attention"
    );
    for (j, word) in WORDS.iter().enumerate() {
        let k = pass.k.row(j);
        let dot = q.dot(&k);
        assert!((dot / 2f64.sqrt() - pass.scores[(query, j)]).abs() < 1e-15);
        let product = format!("{}·{} + {}·{} = {dot}", q[0], k[0], q[1], k[1]);
        let score = pass.scores[(query, j)];
        let share = pass.attn[(query, j)];
        writeln!(
            text,
            "{word:<10}  {product:<15}  {score:>6.3}  {:>11.3}  {share:>9.3}",
            exp(j)
        )
        .unwrap();
    }
    let sum: f64 = (0..3).map(exp).sum();
    let shares = pass.attn.row(query).sum();
    writeln!(text, "{:<10}  {:<15}  {:>6}  {sum:>11.3}  {shares:>9.3}", "sum", "", "")
        .unwrap();
    let terms: Vec<String> = (0..3)
        .map(|j| {
            let (share, v) = (pass.attn[(query, j)], pass.v.row(j));
            format!("{share:.3} · ({}, {})", v[0], v[1])
        })
        .collect();
    let out = pass.out.row(query);
    write!(text, "\noutput: {} = ({:.3}, {:.3})", terms.join(" + "), out[0], out[1])
        .unwrap();
    insta::assert_snapshot!("ch03_by_hand", text);
}

#[test]
fn the_matrices_set_by_hand() {
    let features = ["water", "money", "plural noun", "verb"];
    let head = head(2.0);
    let text = head.projections().map(|(name, linear)| {
        let shape = linear.weight.shape();
        table(&format!("{name}  {shape:?}"), &features, &linear.weight, 0)
    });
    insta::assert_snapshot!("ch03_weights", text.join("\n"));
}

#[test]
fn the_six_matrices() {
    let x = words();
    let [pass, _] = both(&head(2.0), &x);
    let steps = pass.steps().map(|(name, matrix)| {
        let digits = if ["q", "k", "v"].contains(&name) { 0 } else { 3 };
        table(&format!("{name}  {:?}", matrix.shape()), &WORDS, matrix, digits)
    });
    let text = [table("x  (3, 4)", &WORDS, &x, 0), steps.join("\n")].join("\n");
    insta::assert_snapshot!("ch03_matrices", text);
}

#[test]
fn loops_and_matrices_draw_the_same_map() {
    let [loops, matrices] = both(&head(2.0), &words());
    assert_eq!(loops, matrices, "three words, to the last digit");

    let layer = pretrained::minilm().unwrap();
    let sentence = layer.sentence("river_banks").unwrap();
    let mut largest = [0.0; 6];
    for head in layer.parameters.heads() {
        let [loops, matrices] = both(head, &sentence.input);
        for (nth, ((_, a), (_, b))) in
            loops.steps().into_iter().zip(matrices.steps()).enumerate()
        {
            largest[nth] = f64::max(largest[nth], max_abs_diff(a, b).unwrap());
        }
    }
    let [pass, _] = both(&layer.parameters.heads()[9], &sentence.input);
    let mut text =
        format!("{:<7}  {:<8}  largest difference, heads 0 to 11\n", "", "shape");
    for ((name, matrix), largest) in pass.steps().into_iter().zip(largest) {
        println!("{name}: {largest:.1e}");
        assert!(largest <= 1e-12, "{name}: {largest:.1e}");
        let shape = format!("{:?}", matrix.shape());
        writeln!(text, "{name:<7}  {shape:<8}  below 1e-12").unwrap();
    }
    insta::assert_snapshot!("ch03_agreement", text.trim_end());
}

#[test]
fn values() {
    let x = words();
    let [pass, _] = both(&head(2.0), &x);
    let [deaf, _] = both(&head(0.0), &x);
    let swapped = Matrix::from_fn(3, 4, |i, j| x[([1, 0, 2][i], j)]);
    let [other, _] = both(&head(2.0), &swapped);
    let moved = max_abs_diff(
        &pass.out.rows(2, 1).into_owned(),
        &other.out.rows(2, 1).into_owned(),
    )
    .unwrap();
    assert!(moved <= 1e-12, "order changes the output by {moved:.1e}");

    let layer = pretrained::minilm().unwrap();
    let sentence = layer.sentence("river_banks").unwrap();
    let [trained, _] = both(&layer.parameters.heads()[9], &sentence.input);
    assert_eq!(sentence.tokens[3..7], ["banks", "over", "##flow", "##ed"]);
    let pieces: Vec<f64> =
        (0..9).map(|query| trained.attn.view((query, 4), (1, 3)).sum()).collect();
    let others: f64 = (0..9).filter(|&query| query != 3).map(|query| pieces[query]).sum();
    let values = [
        ("overflowed_banks", pass.attn[(2, 1)]),
        ("overflowed_river", pass.attn[(2, 0)]),
        ("overflowed_itself", pass.attn[(2, 2)]),
        ("banks_river", pass.attn[(1, 0)]),
        ("river_banks", pass.attn[(0, 1)]),
        ("out_water", pass.out[(2, 0)]),
        ("out_money", pass.out[(2, 1)]),
        ("sqrt_2", 2f64.sqrt()),
        ("deaf_banks", deaf.attn[(2, 1)]),
        ("deaf_river", deaf.attn[(2, 0)]),
        ("trained_pieces", pieces[3]),
        ("trained_over", trained.attn[(3, 4)]),
        ("trained_cls", trained.attn[(3, 0)]),
        ("trained_others", others / 8.0),
    ];
    let mut text: String =
        values.iter().map(|(name, value)| format!("{name}: {value:.3}\n")).collect();
    let width = layer.parameters.dims();
    write!(
        text,
        "d_model: {}\nd_k: {}\nn_heads: {}\nn_tokens: {}\ntolerance: 1e-12",
        width.d_model(),
        width.d_k(),
        width.n_heads(),
        sentence.tokens.len(),
    )
    .unwrap();
    insta::assert_snapshot!("ch03_values", text);
}

#[test]
fn the_figure_draws_the_same_words() {
    let [pass, _] = both(&head(2.0), &words());
    let figure = lessons::draw("one-head-words", &lessons::Args::default()).unwrap();
    for (row, shares) in figure.tables()[0].rows.iter().zip(pass.attn.row_iter()) {
        for (cell, share) in row[1..].iter().zip(shares.iter()) {
            assert_eq!(cell.parse::<f64>().unwrap(), (share * 1e3).round() / 1e3);
        }
    }
}

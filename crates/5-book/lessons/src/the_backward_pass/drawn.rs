//! A row back through the softmax, the gradients of all scores of a head, and what the
//! check says of wrong backward passes.

use anyhow::Result;
use attention::{Matrix, MultiHeadAttention};
use figures::{
    Axis, Chart, Figure, Grouping, Mark, Panel, by_cell, formula, matrix_maps, palette,
    rounded,
};
use gradients::{linear_backward, softmax_rows_backward};

use super::Wish;
use super::ways::{Way, back, by_differences, compared};
use crate::args::Args;
use crate::learning::{START, Task, fresh_layer};
use crate::numbers::{apart, written};

/// The head whose gradients are shown, and the query: *approved*.
pub const SHOWN: [usize; 2] = [6, 3];

/// A head's attention weights in the trained pass, their gradients, and those of the
/// scores, `[n, n]` each.
pub struct HeadGradients {
    /// The attention weights.
    pub attn: Matrix,
    /// Their gradients.
    pub d_attn: Matrix,
    /// The gradients of the scores.
    pub d_scores: Matrix,
}

impl HeadGradients {
    /// Of the head that is shown.
    ///
    /// # Errors
    /// None; the layer and the sentence are parts of the program.
    pub fn new(wish: &Wish) -> Result<Self> {
        let layer = wish.layer();
        let (pass, loss) = wish.pass(&layer)?;
        let p = layer.parameters();
        let d_concat = linear_backward(p.w_o(), pass.concat(), &loss.gradient)?.d_x;
        let (v, d_v) = (p.w_v().forward(&wish.x)?, layer.dims().d_v());
        let columns = |m: &Matrix| m.columns(SHOWN[0] * d_v, d_v).into_owned();
        let d_attn = columns(&d_concat) * columns(&v).transpose();
        let attn = pass.attn()[0][SHOWN[0]].clone();
        let d_scores = softmax_rows_backward(&attn, d_attn.clone())?;
        Ok(Self { attn, d_attn, d_scores })
    }
}

const MILLIONTHS: f64 = 1e6;

pub(super) fn softmax_row(_: &Args) -> Result<Figure> {
    let wish = Wish::new()?;
    let HeadGradients { attn, d_attn, d_scores } = HeadGradients::new(&wish)?;
    let [_, query] = SHOWN;
    let keys = &wish.tokens[..=query]; // the mask is causal
    let of = |m: &Matrix| -> Vec<f64> {
        (0..=query).map(|key| rounded(MILLIONTHS * m[(query, key)])).collect()
    };
    let (d_a, d_s) = (of(&d_attn), of(&d_scores));
    let dot = MILLIONTHS * attn.row(query).dot(&d_attn.row(query));
    let a: Vec<f64> = (0..=query).map(|key| rounded(attn[(query, key)])).collect();
    let diagonal = a.iter().zip(&d_a).map(|(a, d_a)| rounded(a * (1.0 - a) * d_a));
    let diagonal: Vec<f64> = diagonal.collect();

    let bars = |heights: &[f64], nth: usize, decimals: i32| {
        let told = heights.iter().zip(keys);
        let told = told.map(|(x, key)| format!("{key}: {}", written(*x, decimals)));
        Mark::bars(heights.to_vec()).on(nth).coloured(palette::head(0)).hover(told)
    };
    let mean = Mark::lines([-0.5, query as f64 + 0.5], [rounded(dot); 2]).on(1);
    let x = Axis::across(keys, 11).level();
    let sum = |of: &[f64]| written(of.iter().sum(), 1);
    let marks = [
        bars(&a, 0, 3).named("a").in_legend(false),
        bars(&d_a, 1, 1).named("da").in_legend(false),
        mean.named("their mean, weighted by a")
            .line(figures::NEUTRAL, 2.0)
            .dashed("dash"),
        bars(&d_s, 2, 1).named(&format!("ds, sum {}", sum(&d_s))),
        bars(&diagonal, 2, 1)
            .named(&format!("a (1 − a) da, sum {}", sum(&diagonal)))
            .coloured(palette::wrong())
            .hatched(true),
    ];
    let panels = [
        Panel::new("attention weights a", x.clone(), Axis::numbers(0.8), 180.0),
        Panel::new("da, in millionths", x.clone(), Axis::between([-700.0, 100.0]), 180.0),
        Panel::new("ds, in millionths", x, Axis::between([-120.0, 120.0]), 180.0),
    ];
    let title = "A score's gradient compares its da with the mean of the row; the diagonal \
                 alone does not";
    let chart = Chart::new(title).panels(panels).marks(marks).columns(3).left(42.0);
    Ok(chart.grouped(Grouping::Beside).above([40.0, 60.0]).figure()?)
}

pub(super) fn score_gradients(_: &Args) -> Result<Figure> {
    let wish = Wish::new()?;
    let d_scores = HeadGradients::new(&wish)?.d_scores * MILLIONTHS;
    let whole = d_scores.map(f64::round);
    let name = format!("dS of head {}, in millionths", SHOWN[0]);
    let title = "Blocked scores get no gradient, nor does a row with a single key";
    Ok(matrix_maps(title, &wish.tokens, &wish.tokens, &[(&name, &whole)])?)
}

/// What the check compares, nearest to the loss first.
pub const CHECKED: [&str; 6] = ["W^O", "W^V", "W^Q", "W^K", "biases", "x"];

/// The relative errors of each way's gradients against central differences, `[8, 6]`: the
/// ways of [`Way::ALL`] down, [`CHECKED`] across.
///
/// # Errors
/// None; the sizes fit.
pub fn errors() -> Result<Matrix> {
    let (task, start) = (Task::new(1)?, fresh_layer(START)?);
    let differences = by_differences(&start, &task)?;
    let mut errors = Matrix::zeros(Way::ALL.len(), CHECKED.len());
    for (row, (way, _)) in Way::ALL.into_iter().enumerate() {
        let computed = compared(&back(&start, &task, way)?)?;
        for (column, which) in [3, 2, 0, 1, 4, 5].into_iter().enumerate() {
            errors[(row, column)] = apart(&computed[which], &differences[which]);
        }
    }
    Ok(errors)
}

pub(super) fn wrong_backward(_: &Args) -> Result<Figure> {
    let errors = errors()?;
    let rows = Way::ALL.map(|(_, name)| name.to_owned());
    let n_columns = CHECKED.len() as f64;
    let x = Axis::names(&[], 12).at(0..CHECKED.len(), CHECKED.map(formula));
    let y = Axis::names(&[], 12).at(0..rows.len(), rows.each_ref().map(|it| formula(it)));
    let text = |i: usize, j: usize| match errors[(i, j)] {
        right if right < 1e-7 => String::new(),
        wrong => format!("{wrong:.2}"),
    };
    let shape = errors.shape();
    let orange = vec![(0.0, palette::NOTHING), (1.0, palette::wrong())];
    let cells = Mark::cells(by_cell(shape, |i, j| rounded(errors[(i, j)])), 1)
        .named("relative error")
        .scaled(orange, [0, 2])
        .lettered(by_cell(shape, text))
        .tells("{row}, {column}: {text}");
    let columns = CHECKED.map(str::to_owned);
    let cell = |i: usize, j: usize| match text(i, j) {
        right if right.is_empty() => "right".to_owned(),
        wrong => wrong,
    };
    let table = figures::Table::grid("Relative errors", "", &rows, &columns, cell);
    let (x, y) =
        (x.range([-0.5, n_columns - 0.5]), y.range([rows.len() as f64 - 0.5, -0.5]));
    let panel = Panel::new("relative error of the gradient of", x, y, 208.0);
    let title = "Each mistake spoils some gradients, but none that is nearer to the loss";
    Ok(Chart::new(title).panel(panel, [cells]).left(170.0).tables([table]).figure()?)
}

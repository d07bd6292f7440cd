//! Two optimisers on two slopes, and the loss of a class.

use anyhow::Result;
use attention::{Matrix, softmax_rows};
use figures::{Axis, Chart, FAINT, Figure, Grouping, Mark, Panel, palette, rounded};
use gradients::{Adam, Optimiser, Sgd};

use crate::args::Args;
use crate::numbers::written;

/// How steep the loss (x² + 20 y²) / 2 is along each of its parameters.
const STEEP: [f64; 2] = [1.0, 20.0];
/// Where both begin, and how many steps they take.
const FROM: [f64; 2] = [-4.0, 1.0];
const STEPS: usize = 30;

/// The parameters before the first step and after each.
fn path(optimiser: &mut dyn Optimiser) -> Result<Vec<[f64; 2]>> {
    let mut theta = FROM;
    let mut path = vec![theta];
    for _ in 0..STEPS {
        let d_theta = [0, 1].map(|at| STEEP[at] * theta[at]);
        optimiser.update(&mut [(&mut theta[..], &d_theta[..])])?;
        path.push(theta);
    }
    Ok(path)
}

pub(super) fn two_slopes(_: &Args) -> Result<Figure> {
    let optimisers: [(&str, Box<dyn Optimiser>); 2] = [
        ("gradient descent, rate 0.04", Box::new(Sgd { lr: 0.04 })),
        ("Adam, rate 0.2", Box::new(Adam::new(0.2))),
    ];
    // Lines of equal loss.
    let ring = |loss: f64| {
        let turn = (0..=72).map(|at| f64::from(at) * std::f64::consts::TAU / 72.0);
        let point = |at: usize| (2.0 * loss / STEEP[at]).sqrt();
        let (x, y): (Vec<f64>, Vec<f64>) = turn
            .map(|angle| {
                (rounded(point(0) * angle.cos()), rounded(point(1) * angle.sin()))
            })
            .unzip();
        Mark::lines(x, y).line(FAINT, 1.5).in_legend(false).silent()
    };
    let mut marks: Vec<Mark> = [0.5, 2.0, 6.0, 12.0, 18.0].map(ring).into();
    for (nth, (name, mut optimiser)) in optimisers.into_iter().enumerate() {
        let path = path(&mut *optimiser)?;
        let each = |at: usize| path.iter().map(move |theta| rounded(theta[at]));
        let told = path.iter().enumerate().map(|(step, [x, y])| {
            format!("{name}<br>after {step} steps: {x:.2}, {y:.2}")
        });
        let symbol = ["circle", "diamond"][nth];
        marks.push(
            Mark::lines_and_marks(each(0), each(1))
                .named(name)
                .marked(symbol, 6)
                .line(palette::head([0, 5][nth]), 1.5)
                .coloured(palette::head([0, 5][nth]))
                .hover(told),
        );
    }
    let x = Axis::between([-4.6, 1.6]).titled("a parameter with small gradients");
    let panel = Panel::new(
        "a parameter with gradients 20 times as large",
        x,
        Axis::between([-1.4, 1.4]),
        240.0,
    );
    let title =
        "In the same 30 steps, Adam crosses the flat slope that descent creeps along";
    Ok(Chart::new(title).panel(panel, marks).above([34.0, 54.0]).figure()?)
}

/// The logits of three classes, and which of them is right.
pub const LOGITS: [f64; 3] = [2.0, 1.0, -1.0];
/// The right class.
pub const RIGHT: usize = 1;

pub(super) fn cross_entropy(_: &Args) -> Result<Figure> {
    let logits = Matrix::from_row_slice(1, 3, &LOGITS);
    let loss = gradients::cross_entropy(&logits, &[RIGHT])?;
    let p = softmax_rows(logits);
    let class =
        |at: usize| format!("class {at}{}", if at == RIGHT { ", right" } else { "" });
    let classes: Vec<String> = (0..3).map(class).collect();
    let bars = |name: &str, m: &Matrix, nth: usize| {
        let each = || m.iter().map(|&x| written(x, 3));
        Mark::bars(m.iter().map(|&x| rounded(x)))
            .on(1)
            .named(name)
            .coloured(palette::head(nth))
            .written(each(), "outside")
            .hover(each())
    };
    let curve: Vec<[f64; 2]> =
        (1..=100).map(|at| f64::from(at) / 100.0).map(|p| [p, -p.ln()]).collect();
    let [at, value] = [p[RIGHT], loss.value];
    let point = Mark::points([rounded(at)], [rounded(value)])
        .named("here")
        .written([format!("−ln {at:.3} = {value:.3}")], "middle right")
        .marked("circle", 9)
        .coloured(palette::head(0))
        .in_legend(false);
    let marks = [
        Mark::curve(&curve).named("loss").line(palette::head(0), 2.0).in_legend(false),
        point,
        bars("p", &p, 0),
        bars("gradient", &loss.gradient, 2).hatched(true),
    ];
    let panels = [
        Panel::new(
            "loss",
            Axis::numbers(1.0).titled("p of the right class"),
            Axis::numbers(5.0),
            200.0,
        ),
        Panel::new(
            "p and the gradient of the logits",
            Axis::across(&classes, 11),
            Axis::between([-1.0, 1.0]),
            200.0,
        ),
    ];
    let title = "Cross-entropy: only the right class has a negative gradient, p − 1";
    let chart = Chart::new(title).panels(panels).marks(marks).columns(2);
    Ok(chart.grouped(Grouping::Beside).above([34.0; 2]).figure()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the title says, and that descent is no faster with a rate that is too large.
    #[test]
    fn adam_is_done_where_descent_creeps() {
        let left = |optimiser: &mut dyn Optimiser| {
            let [x, y] = path(optimiser).unwrap()[STEPS];
            [x.abs(), y.abs()]
        };
        let [adam, _] = left(&mut Adam::new(0.2));
        let [descent, _] = left(&mut Sgd { lr: 0.04 });
        assert!(adam < 0.5 && descent > 1.0, "{adam}, {descent}");
        assert!(left(&mut Sgd { lr: 0.11 })[1] > 10.0, "the steep slope explodes");
    }
}

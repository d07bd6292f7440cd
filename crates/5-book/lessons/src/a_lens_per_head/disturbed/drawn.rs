//! The drawing of a head that is disturbed: which head, where it reaches, and how far.

use figures::{
    Axis, Chart, FAINT, Figure, Mark, Panel, Result, Table, formula, palette, rounded,
    significant,
};

use super::{FAR, moved};

/// What is drawn.
pub(super) struct Change<'a> {
    pub(super) head: usize,
    pub(super) factor: f64,
    pub(super) is_mixed: bool,
    /// How far each column moves before W^O, and after it.
    pub(super) concat: &'a [f64],
    pub(super) out: &'a [f64],
    /// How far a column moves at most without each head.
    pub(super) reach: Vec<f64>,
}

/// How many columns a cell of a strip stands for.
const A_CELL: usize = 4;
/// From the bottom of the first strip to the top of the second, in rows.
const BETWEEN: [f64; 2] = [0.52, 1.48];

/// A bar per head, which is clicked; the columns before W^O and after it, as strips; and how
/// far the output moves by the factor, which is dragged.
pub(super) fn figure(title: String, change: &Change) -> Result<Figure> {
    let n = change.reach.len();
    let most = 3.15 * change.reach.iter().copied().fold(0.0, f64::max);
    let names: Vec<String> = (0..n).map(|head| head.to_string()).collect();
    let heads = Panel::new(
        "largest move of the output, by head: click one",
        Axis::across(&names, 12),
        Axis::numbers(most),
        92.0,
    );
    let n_cells = change.concat.len() / A_CELL;
    let strips = Panel::new(
        format!(
            "which columns move: {} of {} before W^O, {} after it",
            moved(change.concat),
            change.concat.len(),
            moved(change.out)
        ),
        Axis::hidden([-0.5, n_cells as f64 - 0.5]),
        Axis::down(&rows_of(change), 12),
        96.0,
    );
    let x = Axis::between([-2.0, 2.0]).titled("factor");
    let name = format!("the same for head {}, by the factor: drag the dot", change.head);
    let factor = Panel::new(name, x, Axis::numbers(most), 92.0);
    let rows = (0..change.concat.len()).map(|column| {
        let of =
            |of: &[f64]| of.get(column).map_or(String::new(), |it| format!("{it:.4}"));
        let head = column * n / change.concat.len();
        [column.to_string(), head.to_string(), of(change.concat), of(change.out)]
    });
    let columns = ["column", "before W^O of head", "moves by", "of the output by"];
    Chart::new(title)
        .panel(
            heads,
            [bars(change, &names), Mark::rule([[-0.5, FAR], [n as f64 - 0.5, FAR]])],
        )
        .panel(strips, columns_of(change, n_cells))
        .panel(factor, by_factor(change))
        .left(50.0)
        .below(34.0)
        .bar_gap(0.2)
        .says(says(change))
        .sketch(says(change))
        .tables([Table::new("How far each column moves", columns, rows)])
        .figure()
}

/// Of the strips, and of what leads from one to the other.
fn rows_of(change: &Change) -> [String; 3] {
    let out = if change.is_mixed { "output" } else { "as it is" };
    ["before".to_owned(), format!("head {}", change.head), out.to_owned()]
}

fn says(change: &Change) -> String {
    let largest = change.out.iter().copied().fold(0.0, f64::max);
    format!(
        "Head {} times {}: {} of {} columns move before W^O, and {} of the output, by at \
         most {largest:.3}.",
        change.head,
        change.factor,
        moved(change.concat),
        change.concat.len(),
        moved(change.out)
    )
}

/// How far a head moves the output at this factor: the layer is linear in its values.
fn bars(change: &Change, names: &[String]) -> Mark {
    let apart = (change.factor - 1.0).abs();
    let heights: Vec<f64> = change.reach.iter().map(|it| it * apart).collect();
    let colours = (0..names.len()).map(|head| match head == change.head {
        true => palette::head(head),
        false => "rgba(118,118,118,0.5)",
    });
    let written = heights.iter().map(|it| format!("{it:.2}"));
    Mark::bars(heights.iter().map(|&it| rounded(it)))
        .coloured_each(colours)
        .written(written, "outside")
        .hover(
            names.iter().zip(&heights).map(|(name, it)| format!("head {name}: {it:.3}")),
        )
        .picks("head={nth}")
}

/// The strips, and lines from the head's columns to all that move because of it.
fn columns_of(change: &Change, n_cells: usize) -> Vec<Mark> {
    let colour = palette::head(change.head);
    let cells = |of: &[f64]| -> Vec<f64> {
        of.chunks(A_CELL)
            .map(|it| significant(it.iter().copied().fold(0.0, f64::max)))
            .collect()
    };
    let strip = |row: usize, of: &[f64]| {
        let row_of = cells(of);
        let most = row_of.iter().copied().fold(0.0, f64::max);
        let ends = [0.0, if most > 0.0 { most } else { 1.0 }];
        let blank = vec![None; n_cells];
        let mut rows = vec![blank; row];
        rows.push(row_of.into_iter().map(Some).collect());
        let scale = vec![(0.0, palette::NOTHING), (1.0, colour)];
        Mark::cells(rows, 0).scaled(scale, ends).with_gaps().silent()
    };
    let a_head = n_cells / change.reach.len();
    let own = |cell: usize| change.head * a_head + cell;
    let (mut x, mut y) = (Vec::new(), Vec::new());
    for cell in 0..if moved(change.out) > 0 { n_cells } else { 0 } {
        let from = match change.is_mixed {
            true => own(cell * a_head / n_cells),
            false if cell / a_head == change.head => cell,
            false => continue,
        };
        x.extend([Some(from as f64), Some(cell as f64), None]);
        y.extend([Some(BETWEEN[0]), Some(BETWEEN[1]), None]);
    }
    let fan = Mark::lines(x, y).with_gaps().line(colour, 1.0).opacity(0.45).silent();
    let mut marks = vec![strip(0, change.concat), strip(2, change.out)];
    marks.extend((moved(change.out) > 0).then_some(fan));
    marks.extend(touched(change, a_head));
    marks
}

/// A place in each strip that a press finds: a head before W^O, and after it the switch.
fn touched(change: &Change, a_head: usize) -> [Mark; 2] {
    let n = change.reach.len();
    let middles = || (0..n).map(|head| (head as f64 + 0.5) * a_head as f64 - 0.5);
    let unseen = |y: f64| Mark::points(middles(), vec![y; n]).sized(1).mark_opacity(0.0);
    let (text, to) = match change.is_mixed {
        true => (formula("click: leave W^O out"), "off"),
        false => (formula("click: with W^O"), "on"),
    };
    [
        unseen(0.0).hover((0..n).map(|head| format!("head {head}"))).picks("head={nth}"),
        unseen(2.0).hover(vec![text; n]).picks(format!("mix={to}")),
    ]
}

/// The output's largest move at every factor, with the level of a factor of 0.
fn by_factor(change: &Change) -> Vec<Mark> {
    let reach = change.reach[change.head];
    let at = |factor: f64| [factor, (factor - 1.0).abs() * reach];
    let colour = palette::head(change.head);
    vec![
        Mark::rule([[-2.0, reach], [2.0, reach]]),
        Mark::texts([-2.0], [reach], [format!("without it: {reach:.2}")])
            .placed("top right")
            .silent(),
        Mark::curve(&[-2.0, 1.0, 2.0].map(at)).line(colour, 2.0).silent(),
        Mark::points([0.0], [reach]).sized(9).coloured(FAINT).silent(),
        Mark::points([change.factor], [at(change.factor)[1]])
            .sized(15)
            .coloured(colour)
            .outlined("#fff", 2)
            .dragged_along_x("factor")
            .unclipped(),
    ]
}

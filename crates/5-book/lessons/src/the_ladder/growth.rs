//! Time and memory against the number of tokens: a power of n is a straight line.

use attention::thousands;
use figures::{
    Axis, Chart, Figure, Mark, Panel, Result, Table, ends, escaped, legend_room,
    log_axis, palette, rounded, significant,
};
use runs::Point;

/// One implementation in one run, at rising lengths.
pub(super) struct Line<'a> {
    pub(super) name: String,
    /// Counted from 0; each has its own dash.
    pub(super) run: usize,
    pub(super) points: Vec<&'a Point>,
    /// The fitted powers of n by which time and memory grow.
    pub(super) slopes: [Option<f64>; 2],
}

/// What a panel shows.
#[derive(Clone, Copy, PartialEq)]
enum Measured {
    Time,
    Memory,
}

use Measured::{Memory, Time};

impl Measured {
    /// The number, if it was measured and can be drawn on a logarithmic axis.
    fn of(self, point: &Point) -> Option<f64> {
        match self {
            Time => Some(point.median_ms),
            Memory => point.peak_bytes.filter(|&n| n > 0).map(|n| n as f64),
        }
    }

    fn written(self, number: f64) -> String {
        if self == Time { log_axis::time(number) } else { log_axis::bytes(number) }
    }
}

pub(super) fn figure(title: String, lines: &[Line]) -> Result<Figure> {
    let marks = lines.iter().enumerate();
    let marks =
        marks.flat_map(|(nth, line)| [Time, Memory].map(|it| mark(nth, line, it)));
    Chart::new(title)
        .panels([Time, Memory].map(|it| panel(lines, it)))
        .marks(marks)
        .columns(2)
        .left(52.0)
        .above(legend_room(lines.iter().map(|line| line.name.as_str()), 14.0))
        .tables([slopes(lines), table(lines, Time), table(lines, Memory)])
        .captioned()
        .says(sentence(lines))
        .figure()
}

/// One a run.
const DASHES: [&str; 3] = ["solid", "dot", "dash"];

fn mark(nth: usize, line: &Line, it: Measured) -> Mark {
    let drawn = || line.points.iter().filter_map(|p| Some((p.tokens, it.of(p)?)));
    let told = drawn().map(|(tokens, number)| {
        let (name, n) = (escaped(&line.name), thousands(tokens));
        format!("{name}<br>{n} tokens: {}", it.written(number))
    });
    let tokens = drawn().map(|(tokens, _)| tokens);
    Mark::lines_and_marks(tokens, drawn().map(|(_, number)| significant(number)))
        .on(it as usize)
        .named(&line.name)
        .of_group(nth.to_string(), it == Time)
        .line(palette::head(nth), 2.0)
        .dashed(DASHES[line.run])
        .coloured(palette::head(nth))
        .sized(6)
        .hover(told)
}

fn panel(lines: &[Line], it: Measured) -> Panel {
    let points = || lines.iter().flat_map(|line| &line.points);
    let [least, most] = ends(points().map(|point| point.tokens as f64));
    // Every other doubling has a line.
    let lengths = (0..).map(|nth| (least as usize) << (2 * nth));
    let lengths: Vec<usize> = lengths.take_while(|&n| n <= most as usize).collect();
    let names = lengths.iter().map(|&n| thousands(n));
    let range = [least * 0.85, most * 1.18].map(|n| rounded(n.log10()));
    let tokens = Axis::factors(lengths.iter().map(|&n| n as f64), names).range(range);
    let [least, most] = ends(points().filter_map(|point| it.of(point)));
    // Where nothing was measured there is still an axis.
    let ends = if least <= most { [least, most] } else { [1e6, 1e9] };
    let numbers = match it {
        Time => Axis::decades(ends, log_axis::time_of_ten),
        Memory => Axis::decades(ends, log_axis::bytes_of_ten),
    };
    Panel::new(
        ["time", "peak memory"][it as usize],
        tokens.titled("tokens"),
        numbers,
        230.0,
    )
}

fn slopes(lines: &[Line]) -> Table {
    let power = |slope: Option<f64>| match slope {
        Some(slope) => format!("n^{slope:.2}"),
        None => "–".to_owned(),
    };
    let row = |line: &Line| {
        let [time, memory] = line.slopes.map(power);
        [line.name.clone(), time, memory]
    };
    let columns = ["", "time grows as", "memory grows as"];
    Table::new("Fitted slopes", columns, lines.iter().map(row))
}

fn table(lines: &[Line], it: Measured) -> Table {
    let points = lines.iter().flat_map(|line| &line.points);
    let mut lengths: Vec<usize> = points.map(|point| point.tokens).collect();
    lengths.sort_unstable();
    lengths.dedup();
    let cell = |row: usize, at: usize| {
        let point = lines[at].points.iter().find(|point| point.tokens == lengths[row]);
        let number = point.and_then(|point| it.of(point));
        number.map_or("–".to_owned(), |number| it.written(number))
    };
    let rows: Vec<String> = lengths.iter().map(|&tokens| thousands(tokens)).collect();
    let names: Vec<String> = lines.iter().map(|line| line.name.clone()).collect();
    Table::grid(["Time", "Peak memory"][it as usize], "tokens", &rows, &names, cell)
}

fn sentence(lines: &[Line]) -> String {
    let one = |line: &Line| {
        let [first, last] = [line.points[0], line.points[line.points.len() - 1]]
            .map(|point| (log_axis::time(point.median_ms), thousands(point.tokens)));
        let name = &line.name;
        format!(" {name}: {} at {} tokens, {} at {}.", first.0, first.1, last.0, last.1)
    };
    let each: String = lines.iter().map(one).collect();
    format!(
        "Two charts against the number of tokens, all logarithmic: time, memory.{each}"
    )
}

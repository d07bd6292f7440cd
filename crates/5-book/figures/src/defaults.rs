//! What a chart says without being drawn, as far as its marks say it themselves.

use crate::Table;
use crate::marks::Mark;
use crate::panels::Panel;

/// How many places of a line a table shows, about.
const SHOWN: usize = 8;

/// A table a panel, with a column a mark; a map is a table of its own.
pub(crate) fn tables(panels: &[Panel], marks: &[Mark]) -> Vec<Table> {
    let mut tables = Vec::new();
    for (nth, panel) in panels.iter().enumerate() {
        let marks: Vec<&Mark> = marks_on(marks, nth).collect();
        tables.extend(marks.iter().filter_map(|mark| map(panel, mark)));
        let lists: Vec<&Mark> =
            marks.into_iter().filter(|mark| mark.rows().is_none()).collect();
        if !lists.is_empty() {
            tables.push(list(panel, &lists));
        }
    }
    tables
}

/// Of each panel, from where to where each of its marks goes.
pub(crate) fn sentence(panels: &[Panel], marks: &[Mark]) -> String {
    let panel = |(nth, panel): (usize, &Panel)| {
        let names = panel.x.tick_names().or_else(|| panel.y.tick_names());
        let marks: Vec<String> =
            marks_on(marks, nth).map(|mark| ends(mark, names)).collect();
        let scale = if panel.y.is_log() { ", on a logarithmic axis" } else { "" };
        let against = match panel.x.title() {
            "" => String::new(),
            x => format!(" against {x}"),
        };
        format!("{}{against}{scale}: {}.", panel.title, marks.join("; "))
    };
    panels.iter().enumerate().map(panel).collect::<Vec<_>>().join(" ")
}

fn marks_on(marks: &[Mark], nth: usize) -> impl Iterator<Item = &Mark> {
    marks.iter().filter(move |mark| mark.panel() == nth && mark.measures())
}

/// `Adam goes from 1 to 0.1`; where places have names, the largest and its name; of a map,
/// the least and the most that it holds.
fn ends(mark: &Mark, names: Option<&[String]>) -> String {
    let name = mark.plain_name();
    if let Some(rows) = mark.rows() {
        let [least, most] = crate::ends(rows.into_iter().flatten().flatten());
        return format!("{name} holds {} to {}", number(least), number(most));
    }
    let values: Vec<f64> = mark.places().into_iter().filter_map(|[_, y]| y).collect();
    let largest = values.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
    match (largest, names) {
        (None, _) => format!("{name} shows nothing"),
        (Some((at, &most)), Some(names)) => {
            let place = names.get(at).map_or("", String::as_str);
            format!("the largest of {name} is {}, at {place}", number(most))
        }
        (Some(_), None) => {
            let [first, last] = [values[0], values[values.len() - 1]].map(number);
            format!("{name} goes from {first} to {last}")
        }
    }
}

/// Some of the places of the longest line, the first and the last among them; of bars, all.
fn list(panel: &Panel, marks: &[&Mark]) -> Table {
    let lists: Vec<Vec<[Option<f64>; 2]>> =
        marks.iter().map(|mark| mark.places()).collect();
    let names = panel.x.tick_names().or_else(|| panel.y.tick_names());
    let longest = lists.iter().max_by_key(|list| list.len());
    let longest: Vec<f64> =
        longest.into_iter().flatten().filter_map(|[x, _]| *x).collect();
    let last = longest.len().saturating_sub(1);
    let mut shown: Vec<usize> = match names {
        Some(_) => (0..longest.len()).collect(),
        None => (0..=SHOWN).map(|nth| (last * nth + SHOWN / 2) / SHOWN).collect(),
    };
    shown.dedup();
    let cell = |row: usize, at: usize| {
        let x = longest.get(shown[row]).copied();
        let same = lists[at].iter().find(|place| place[0] == x);
        same.and_then(|place| place[1]).map_or("–".to_owned(), number)
    };
    let rows = shown.iter().map(|&at| match names {
        Some(names) => names.get(at).cloned().unwrap_or_default(),
        None => longest.get(at).map_or(String::new(), |&x| number(x)),
    });
    let rows: Vec<String> = rows.collect();
    let columns: Vec<String> =
        marks.iter().map(|mark| mark.plain_name().to_owned()).collect();
    Table::grid(panel.title.clone(), panel.x.title(), &rows, &columns, cell)
}

fn map(panel: &Panel, mark: &Mark) -> Option<Table> {
    let cells = mark.rows()?;
    let names = |axis: &crate::Axis, n: usize| {
        let numbers = || (0..n).map(|at| at.to_string()).collect();
        axis.tick_names().map_or_else(numbers, <[String]>::to_vec)
    };
    let n_columns = cells.first().map_or(0, Vec::len);
    let (rows, columns) = (names(&panel.y, cells.len()), names(&panel.x, n_columns));
    let cell = |i: usize, j: usize| {
        cells.get(i).and_then(|row| *row.get(j)?).map_or("–".to_owned(), number)
    };
    Some(Table::grid(panel.title.clone(), "", &rows, &columns, cell))
}

/// To three decimals; by a power of ten where that says too little.
pub(crate) fn number(number: f64) -> String {
    let written = match number.abs() {
        0.0 => "0".to_owned(),
        1e-2..1e4 => ((number * 1e3).round() / 1e3 + 0.0).to_string(),
        _ => format!("{number:.1e}"),
    };
    written.replace('-', "−")
}

//! The boxes and arrows in text.

use super::nodes::{Arrow, Nodes, written};

/// Boxes as two lines of text, arrows as one between rows.
pub(super) fn boxes(nodes: &Nodes, arrows: &[Arrow]) -> String {
    const COLUMN: f64 = 24.0;
    let mut lines: Vec<String> = Vec::new();
    let mut write = |row: usize, at: f64, text: &str| {
        while lines.len() <= row {
            lines.push(String::new());
        }
        let width = text.chars().count();
        let from = ((at + 0.5) * COLUMN) as usize - width / 2;
        let line = &mut lines[row];
        let missing = from.saturating_sub(line.chars().count());
        line.push_str(&" ".repeat(missing));
        line.push_str(text);
    };
    for node in nodes.all() {
        let row = node.place[1] as usize * 3;
        write(row, node.place[0], &format!("{} {}", node.name, node.shape));
        write(row + 1, node.place[0], &written(node.norm));
    }
    let mut up: Vec<(usize, f64, String)> = arrows
        .iter()
        .map(|arrow| {
            let (from, to) = (arrow.from.place, arrow.to.place);
            let norm = if arrow.has_label { written(arrow.norm) } else { String::new() };
            let text = format!("↑ {norm}");
            // An arrow over several rows stands under its end.
            let at = if from[1] - to[1] > 1.0 { to[0] } else { (from[0] + to[0]) / 2.0 };
            (to[1] as usize * 3 + 2, at, text.trim_end().to_owned())
        })
        .collect();
    up.sort_by(|a, b| (a.0, a.1).partial_cmp(&(b.0, b.1)).unwrap_or(a.0.cmp(&b.0)));
    for (row, at, text) in up {
        write(row, at, &text);
    }
    lines.join("\n")
}

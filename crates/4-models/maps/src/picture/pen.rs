//! Shapes and texts, written as SVG.

use std::fmt::Write;

use super::cells::colour;

/// The first that there is.
const FONTS: &str = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif";

/// A drawing in points, so far.
pub(super) struct Pen(String);

// Writing to a String cannot fail.
impl Pen {
    pub(super) fn new() -> Self {
        Self(String::new())
    }

    pub(super) fn text(&mut self, [x, y]: [f64; 2], size: f64, anchor: &str, text: &str) {
        let text = escaped(text);
        let _ = writeln!(
            self.0,
            "<text x=\"{x:.2}\" y=\"{y:.2}\" font-size=\"{size}\" text-anchor=\"{anchor}\">{text}</text>"
        );
    }

    pub(super) fn upward(&mut self, [x, y]: [f64; 2], size: f64, text: &str) {
        let text = escaped(text);
        let _ = writeln!(
            self.0,
            "<text transform=\"translate({x:.2} {y:.2}) rotate(-90)\" font-size=\"{size}\">{text}</text>"
        );
    }

    /// A hair from a name to its row.
    pub(super) fn lead(&mut self, from: [f64; 2], to: [f64; 2]) {
        let _ = writeln!(
            self.0,
            "<path d=\"M{:.2} {:.2}L{:.2} {:.2}\" stroke=\"#b0b7bf\" stroke-width=\".25\"/>",
            from[0], from[1], to[0], to[1]
        );
    }

    pub(super) fn rect(&mut self, [x, y]: [f64; 2], [w, h]: [f64; 2], fill: &str) {
        let _ = writeln!(
            self.0,
            "<rect x=\"{x:.2}\" y=\"{y:.2}\" width=\"{w:.2}\" height=\"{h:.2}\" fill=\"{fill}\"/>"
        );
    }

    pub(super) fn frame(&mut self, [x, y]: [f64; 2], [w, h]: [f64; 2]) {
        let _ = writeln!(
            self.0,
            "<rect x=\"{x:.2}\" y=\"{y:.2}\" width=\"{w:.2}\" height=\"{h:.2}\" fill=\"none\" \
             stroke=\"#59636e\" stroke-width=\".4\"/>"
        );
    }

    /// Cells of a map, shade by shade, whose size is `cell`.
    pub(super) fn shades(
        &mut self,
        [x, y]: [f64; 2],
        [w, h]: [f64; 2],
        shades: &[Vec<[usize; 2]>],
    ) {
        let _ = writeln!(
            self.0,
            "<g transform=\"translate({x:.2} {y:.2}) scale({w:.4} {h:.4})\" \
             shape-rendering=\"crispEdges\">"
        );
        for (nth, cells) in shades.iter().enumerate().filter(|(_, it)| !it.is_empty()) {
            let _ = write!(self.0, "<path fill=\"{}\" d=\"", colour(nth + 1));
            for [column, row] in cells {
                let _ = write!(self.0, "M{column} {row}h1v1h-1z");
            }
            self.0 += "\"/>\n";
        }
        self.0 += "</g>\n";
    }

    /// The file, whose width is `mm` millimetres.
    pub(super) fn svg(self, [width, height]: [f64; 2], mm: f64, name: &str) -> String {
        let (body, tall) = (self.0, mm * height / width);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{mm}mm\" height=\"{tall:.2}mm\" \
             viewBox=\"0 0 {width:.2} {height:.2}\" role=\"img\" font-family=\"{FONTS}\" \
             fill=\"#1b1f24\">\n<title>{name}</title>\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n{body}</svg>\n"
        )
    }
}

/// Without markup, and without what XML has no place for.
fn escaped(text: &str) -> String {
    let mut safe = String::new();
    for c in text.chars() {
        match c {
            '&' => safe += "&amp;",
            '<' => safe += "&lt;",
            '>' => safe += "&gt;",
            '"' => safe += "&quot;",
            '\u{fffe}' | '\u{ffff}' => {}
            c if c.is_control() => {}
            c => safe.push(c),
        }
    }
    safe
}

//! Boxes, arrows and texts, written as SVG.

use std::collections::BTreeMap;

use attention::Matrix;

use super::markup::{short, tspans, width};
use crate::palette;

mod ink;
mod key;
mod rect;

pub(super) use ink::Ink;
pub(super) use key::{Key, Product};
pub(super) use rect::Rect;

/// Letters of a box's name, and of what stands under it.
const NAME: f64 = 13.0;
const NOTE: f64 = 11.0;
/// Of the number in a cell of an attention map.
const SHARE: f64 = 12.0;
/// Smaller letters are not read.
const LEAST: f64 = 8.5;

/// How many shades a map of shares has.
const SHADES: f64 = 12.0;

/// What a text is to what it names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// A drawing of this size, so far.
pub(super) struct Canvas {
    size: [f64; 2],
    /// An attribute that says where points lie, for those who drag them.
    plane: String,
    body: String,
}

impl Canvas {
    pub(super) fn new(width: f64, height: f64) -> Self {
        Self { size: [width, height], plane: String::new(), body: String::new() }
    }

    pub(super) fn width(&self) -> f64 {
        self.size[0]
    }

    /// Says where a plane's middle lies, and how long a 1 is.
    pub(super) fn plane(&mut self, [x, y]: [f64; 2], unit: f64) {
        let [x, y, unit] = [x, y, unit].map(short);
        self.plane = format!(" data-plane=\"{x} {y} {unit}\"");
    }

    /// The drawing as one line of SVG. Grey, for a notebook that does not say how light it
    /// is; a page's style sheet puts its own colour there.
    pub(super) fn into_svg(self, class: &str) -> String {
        let [width, height] = self.size.map(short);
        let ratio = self.size[0] / self.size[1];
        format!(
            "<svg class=\"{class}\" xmlns=\"http://www.w3.org/2000/svg\" \
             viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
             style=\"--ratio:{ratio:.2}\" color=\"#767676\" \
             font-family=\"system-ui, sans-serif\"{}>{}</svg>",
            self.plane, self.body
        )
    }

    /// What is drawn here is one thing, by this name: where a page changes the drawing, a
    /// thing glides to the place that it has then. One that was not there begins at `from`,
    /// the name of another thing, if it comes from there.
    pub(super) fn keyed(&mut self, key: &Key, draw: impl FnOnce(&mut Self)) {
        let Key { name, from, pick, product } = key;
        let mut marks = vec![("key", name.clone())];
        for (attribute, value) in [("from", from), ("pick", pick)] {
            marks.extend(value.iter().map(|value| (attribute, value.clone())));
        }
        if let Some(Product { name, left, right, over }) = product {
            marks.extend([("of", name.clone())]);
            marks.extend([("left", left.join(" ")), ("right", right.join(" "))]);
            marks.extend(over.iter().map(|over| ("over", over.clone())));
        }
        self.marked(&marks, draw);
    }

    /// What is drawn here is one thing, of which a page's scripts know this: pairs of a
    /// `data-` attribute and its value.
    pub(super) fn marked(
        &mut self,
        marks: &[(&str, String)],
        draw: impl FnOnce(&mut Self),
    ) {
        self.body += "<g";
        for (name, value) in marks {
            self.body += &format!(" data-{name}=\"{}\"", crate::escaped(value));
        }
        self.body += ">";
        draw(self);
        self.body += "</g>";
    }

    /// A box with round corners.
    pub(super) fn rect(&mut self, rect: &Rect, ink: Ink) {
        self.outline(rect, ink, "rx=\"4\"");
    }

    /// A box that may be left out.
    pub(super) fn dashed(&mut self, rect: &Rect, ink: Ink) {
        self.outline(rect, ink, "rx=\"4\" stroke-dasharray=\"5 3\"");
    }

    /// A cell of a matrix: square corners, so that cells meet.
    pub(super) fn cell(&mut self, rect: &Rect, ink: Ink) {
        self.outline(rect, ink, "");
    }

    /// Where two arrows are added: a circle with a plus in it.
    pub(super) fn sum(&mut self, [x, y]: [f64; 2], radius: f64, ink: Ink) {
        self.circle([x, y], radius, ink);
        let reach = radius * 0.55;
        self.line([x - reach, y], [x + reach, y], ink);
        self.line([x, y - reach], [x, y + reach], ink);
    }

    pub(super) fn circle(&mut self, [x, y]: [f64; 2], radius: f64, ink: Ink) {
        let [cx, cy, r] = [x, y, radius].map(short);
        let (fill, stroke) = (ink.fill(), ink.stroke());
        self.body +=
            &format!("<circle cx=\"{cx}\" cy=\"{cy}\" r=\"{r}\" {fill} {stroke}/>");
    }

    /// A line through points.
    pub(super) fn curve(&mut self, through: &[[f64; 2]], ink: Ink) {
        let (points, stroke) = (points(through), ink.stroke());
        self.body += &format!(
            "<polyline points=\"{points}\" fill=\"none\" stroke-width=\"2\" {stroke}/>"
        );
    }

    /// The edge of a cell, round what is drawn already.
    pub(super) fn framed(&mut self, rect: &Rect, ink: Ink) {
        self.boxed(rect, &format!("fill=\"none\" {}", ink.stroke()));
    }

    fn outline(&mut self, rect: &Rect, ink: Ink, more: &str) {
        self.boxed(rect, &format!("{} {} {more}", ink.fill(), ink.stroke()));
    }

    /// A box with these attributes.
    fn boxed(&mut self, rect: &Rect, attributes: &str) {
        let [x, y, w, h] = [rect.x, rect.y, rect.w, rect.h].map(short);
        self.body += &format!(
            "<rect x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" {attributes}/>"
        );
    }

    /// What a hand takes hold of in a live figure, and drags up and down, or to the sides.
    pub(super) fn knob(&mut self, [x, y]: [f64; 2], goes_up: bool) {
        let at = [x, y].map(short).join(" ");
        let across = if goes_up { "" } else { " rotate(90)" };
        let look = "fill=\"none\" stroke=\"currentColor\"";
        self.body += &format!(
            "<g transform=\"translate({at}){across}\" {look}>\
             <circle r=\"9\" class=\"figure-grip\"/>\
             <path d=\"M-3 -1.8l3 -3.2l3 3.2M-3 1.8l3 3.2l3 -3.2\" \
             class=\"figure-grip-tips\"/></g>"
        );
    }

    /// A surface without a line.
    pub(super) fn filled(&mut self, corners: &[[f64; 2]], ink: Ink) {
        let (points, colour) = (points(corners), ink.colour());
        let opacity = match ink {
            Ink::Plain => ".12",
            Ink::Faint => ".06",
            _ => ".4",
        };
        self.body += &format!(
            "<polygon points=\"{points}\" fill=\"{colour}\" fill-opacity=\"{opacity}\"/>"
        );
    }

    /// A bar, whose length may change.
    pub(super) fn bar(&mut self, rect: &Rect, ink: Ink) {
        self.boxed(rect, &format!("fill=\"{}\"", ink.colour()));
    }

    pub(super) fn line(&mut self, from: [f64; 2], to: [f64; 2], ink: Ink) {
        let ([x1, y1], [x2, y2]) = (from.map(short), to.map(short));
        let stroke = ink.stroke();
        self.body +=
            &format!("<line x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\" {stroke}/>");
    }

    pub(super) fn dashes(&mut self, [x1, y1]: [f64; 2], to: [f64; 2], ink: Ink) {
        let [x1, y1, x2, y2] = [x1, y1, to[0], to[1]].map(short);
        self.body += &format!(
            "<path d=\"M{x1} {y1}L{x2} {y2}\" stroke-dasharray=\"3 4\" {}/>",
            ink.stroke()
        );
    }

    /// An arrow, whose head needs no definition that another drawing could have too.
    pub(super) fn arrow(&mut self, from: [f64; 2], to: [f64; 2], ink: Ink) {
        let along = [to[0] - from[0], to[1] - from[1]];
        let length = along[0].hypot(along[1]).max(1e-9);
        let [dx, dy] = along.map(|part| part / length);
        let size: f64 = if matches!(ink, Ink::Lit | Ink::Head(_)) { 8.0 } else { 6.5 };
        let size = size.min(length); // a short arrow begins where it should
        let neck = [to[0] - dx * size, to[1] - dy * size];
        let side = size * 0.45;
        let corners = [
            to,
            [neck[0] - dy * side, neck[1] + dx * side],
            [neck[0] + dy * side, neck[1] - dx * side],
        ];
        self.line(from, neck, ink);
        let (points, colour) = (points(&corners), ink.colour());
        let (class, opacity) = match ink {
            Ink::Lit => ("class=\"lit-text\" ", "1"),
            Ink::Plain => ("", ".75"),
            Ink::Muted => ("", ".35"),
            _ => ("", "1"),
        };
        self.body += &format!(
            "<polygon {class}points=\"{points}\" fill=\"{colour}\" fill-opacity=\"{opacity}\"/>"
        );
    }

    /// An arrow that is what the drawing is about, with a shaft of 3.
    pub(super) fn bold_arrow(&mut self, from: [f64; 2], to: [f64; 2], ink: Ink) {
        let along = [to[0] - from[0], to[1] - from[1]];
        let length = along[0].hypot(along[1]).max(1e-9);
        let [dx, dy] = along.map(|part| part / length);
        let neck = [0, 1].map(|i| to[i] - [dx, dy][i] * length.min(13.0));
        let beside = |[x, y]: [f64; 2], by: f64| [x - dy * by, y + dx * by];
        let corners = [(from, 1.5), (neck, 1.5), (neck, 5.5), (to, 0.0)];
        let back = corners.iter().rev().map(|&(at, by)| beside(at, -by));
        let all: Vec<[f64; 2]> =
            corners.iter().map(|&(at, by)| beside(at, by)).chain(back).collect();
        let class = if ink == Ink::Lit { "class=\"lit-text\" " } else { "" };
        let (points, colour) = (points(&all), ink.colour());
        self.body += &format!("<polygon {class}points=\"{points}\" fill=\"{colour}\"/>");
    }

    /// A text whose letters' middle is at this height; smaller if it has no room.
    pub(super) fn text(&mut self, plain: &str, at: [f64; 2], anchor: Anchor, look: Look) {
        let bold = if look.is_bold { 1.12 } else { 1.0 };
        let needed = width(plain, look.size) * bold;
        let size = look.size * (look.room / needed.max(1e-9)).min(1.0);
        let size = size.max(LEAST.min(look.size));
        let [x, y] = [at[0], at[1] + 0.35 * size].map(short);
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let weight = if look.is_bold { " font-weight=\"600\"" } else { "" };
        let fill = match look.ink {
            Ink::Lit => format!("class=\"lit-text\" fill=\"{}\"", palette::head(0)),
            Ink::Muted => "fill=\"currentColor\" fill-opacity=\".7\"".to_owned(),
            _ => "fill=\"currentColor\"".to_owned(),
        };
        self.body += &format!(
            "<text x=\"{x}\" y=\"{y}\" font-size=\"{}\"{anchor}{weight} {fill}>{}</text>",
            short(size),
            tspans(plain, size)
        );
    }

    /// A text that reads upwards from here, in letters of this size.
    pub(super) fn upright(&mut self, plain: &str, [x, y]: [f64; 2], letters: f64) {
        let (x, y, size) = (short(x + 0.35 * letters), short(y), short(letters));
        self.body += &format!(
            "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" fill=\"currentColor\" \
             transform=\"rotate(-90 {x} {y})\">{}</text>",
            tspans(plain, letters)
        );
    }

    /// A map of shares as cells, in full colour at `most`: the root of a share as opacity,
    /// so that small ones are seen. Cells of one shade are one path, a unit each.
    pub(super) fn shades(&mut self, rect: &Rect, map: &Matrix, most: f64) {
        let mut paths: BTreeMap<usize, String> = BTreeMap::new();
        for (i, j) in (0..map.nrows()).flat_map(|i| (0..map.ncols()).map(move |j| (i, j)))
        {
            let part = (map[(i, j)] / most.max(1e-9)).clamp(0.0, 1.0).sqrt();
            let shade = (part * SHADES).round() as usize;
            if shade > 0 {
                *paths.entry(shade).or_default() += &format!("M{j} {i}h1v1h-1z");
            }
        }
        let hundredth = |number: f64| (number * 100.0).round() / 100.0;
        let [w, h] =
            [rect.w / map.ncols() as f64, rect.h / map.nrows() as f64].map(hundredth);
        self.body += &format!(
            "<g class=\"lit-text\" fill=\"{}\" transform=\"translate({} {}) scale({w} {h})\">",
            palette::head(0),
            short(rect.x),
            short(rect.y)
        );
        for (shade, path) in paths {
            let opacity = hundredth(shade as f64 / SHADES);
            self.body += &format!("<path fill-opacity=\"{opacity}\" d=\"{path}\"/>");
        }
        self.body += "</g>";
    }

    /// A cell of an attention map, on the scale of all of them, with its number.
    pub(super) fn share(&mut self, rect: &Rect, share: f64, number: &str) {
        let [ground, full] = palette::ends_of_shares();
        let opacity = (share * 100.0).round() / 100.0;
        for (colour, opacity) in [(ground, 1.0), (full, opacity)] {
            self.boxed(rect, &format!("fill=\"{colour}\" fill-opacity=\"{opacity}\""));
        }
        let ink = palette::on_share(share);
        let [x, y] = [rect.middle()[0], rect.middle()[1] + 0.35 * SHARE].map(short);
        self.body += &format!(
            "<text x=\"{x}\" y=\"{y}\" font-size=\"{}\" text-anchor=\"middle\" \
             fill=\"{ink}\">{number}</text>",
            short(SHARE)
        );
    }

    /// A name and the lines under it, in the middle of a box.
    pub(super) fn label(&mut self, rect: &Rect, name: &str, notes: &[String], ink: Ink) {
        let names = if name.is_empty() { 0.0 } else { 17.0 };
        let height = names + notes.len() as f64 * 15.0;
        let [x, y] = rect.middle();
        let (room, ink) = (rect.w - 6.0, if ink == Ink::Lit { Ink::Plain } else { ink });
        let mut top = y - height / 2.0;
        if !name.is_empty() {
            let look = Look { room, ink, ..Look::name() };
            self.text(name, [x, top + 8.5], Anchor::Middle, look);
            top += 17.0;
        }
        for (nth, note) in notes.iter().enumerate() {
            let at = [x, top + 7.5 + nth as f64 * 15.0];
            self.text(note, at, Anchor::Middle, Look { room, ink, ..Look::note() });
        }
    }
}

/// How a text looks, and how wide it may be.
#[derive(Debug, Clone, Copy)]
pub(super) struct Look {
    pub(super) size: f64,
    pub(super) is_bold: bool,
    pub(super) ink: Ink,
    pub(super) room: f64,
}

impl Look {
    pub(super) fn name() -> Self {
        Self { size: NAME, is_bold: true, ..Self::note() }
    }

    /// Of a drawing that is looked at beside controls.
    pub(super) fn text() -> Self {
        Self { size: NAME, ..Self::note() }
    }

    pub(super) fn note() -> Self {
        Self { size: NOTE, is_bold: false, ink: Ink::Plain, room: f64::INFINITY }
    }
}

fn points(corners: &[[f64; 2]]) -> String {
    let pairs = corners.iter().map(|corner| corner.map(short).join(","));
    pairs.collect::<Vec<_>>().join(" ")
}

//! The Transformer, one block or all of it, from the tokens at the bottom upwards.

use super::canvas::{Anchor, Canvas, Ink, Look, Rect};
use super::figure;
use crate::chart::Text;
use crate::{Error, Figure, Result, Table};

/// Models of one kind: which of the two columns they have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// Reads: BERT.
    Encoder,
    /// Writes: GPT.
    Decoder,
    /// Reads one text and writes another: the Transformer of 2017.
    EncoderDecoder,
}

impl Family {
    const NAMED: [(&str, Self); 3] = [
        ("encoder", Self::Encoder),
        ("decoder", Self::Decoder),
        ("encoder-decoder", Self::EncoderDecoder),
    ];

    /// The family of this name: `encoder`, `decoder` or `encoder-decoder`.
    ///
    /// # Errors
    /// [`Error::NoSuchPart`] for another name.
    pub fn named(name: &str) -> Result<Self> {
        Error::find_part(name, &Self::NAMED)
    }

    fn has(self, part: &Part) -> bool {
        match self {
            Self::Encoder => part.column == Column::Encoder,
            Self::Decoder => part.column == Column::Decoder && part.name != CROSS,
            Self::EncoderDecoder => true,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    Encoder,
    Decoder,
}

/// How a part is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// What comes in or goes out: a text.
    End,
    Plain,
    /// With a norm before it and a residual around it, in each of the blocks.
    SubLayer,
}

struct Part {
    name: &'static str,
    does: &'static str,
    column: Column,
    kind: Kind,
}

const CROSS: &str = "cross-attention";

const fn part(
    column: Column,
    kind: Kind,
    name: &'static str,
    does: &'static str,
) -> Part {
    Part { name, does, column, kind }
}

/// From the bottom upwards.
const PARTS: [Part; 14] = {
    use Column::{Decoder, Encoder};
    use Kind::{End, Plain, SubLayer};
    [
        part(Encoder, End, "text to read", "ids of tokens"),
        part(Encoder, Plain, "embedding", "token + position"),
        part(Encoder, SubLayer, "attention", "sees all tokens"),
        part(Encoder, SubLayer, "feed-forward", "each token alone"),
        part(Encoder, Plain, "norm", "the scale of 1 again"),
        part(Encoder, End, "memory", "a row per token"),
        part(Decoder, End, "text so far", "ids of tokens"),
        part(Decoder, Plain, "embedding", "token + position"),
        part(Decoder, SubLayer, "causal attention", "sees what is before"),
        part(Decoder, SubLayer, CROSS, "sees the memory"),
        part(Decoder, SubLayer, "feed-forward", "each token alone"),
        part(Decoder, Plain, "norm", "the scale of 1 again"),
        part(Decoder, Plain, "unembedding", "a logit per token"),
        part(Decoder, End, "the next token", "its probabilities, by softmax"),
    ]
};

/// The whole Transformer. The parts of one family may be lit, and the others are muted then.
pub fn transformer_diagram(title: impl Into<String>, lit: Option<Family>) -> Figure {
    let tick =
        |family: Family, part: &Part| if family.has(part) { "✓" } else { "–" }.to_owned();
    let row = |part: &Part| {
        let families = Family::NAMED.map(|(_, family)| tick(family, part));
        let [encoder, decoder, both] = families;
        [part.name.to_owned(), part.does.to_owned(), encoder, decoder, both]
    };
    let caption = "The Transformer, part by part, from the bottom upwards";
    let columns =
        ["part", "what it does", "encoder only", "decoder only", "encoder–decoder"];
    let [encoder, decoder] = [Column::Encoder, Column::Decoder].map(in_words);
    let highlighted = Family::NAMED.iter().find(|(_, family)| Some(*family) == lit);
    let highlighted = highlighted
        .map_or(String::new(), |(name, _)| format!(" Highlighted: the {name}."));
    let text = Text {
        alternative: format!(
            "Two columns of boxes, read upwards. The encoder: {encoder}. The decoder: \
             {decoder}. The memory feeds the cross-attention. A residual passes each \
             sub-layer and its norm.{highlighted}"
        ),
        sketch: format!("encoder  {encoder}\ndecoder  {decoder}"),
        tables: vec![Table::new(caption, columns, PARTS.iter().map(row))],
    };
    figure(title, text, [Sizes::WIDE, Sizes::NARROW].map(|sizes| whole(sizes, lit)))
}

/// One block, which every stack repeats, each part with what it does.
pub fn block_diagram(title: impl Into<String>) -> Figure {
    let sub_layers: Vec<&Part> = block().collect();
    let row = |part: &&Part| {
        let does = format!("{}; its output is added to its input", part.does);
        [part.name.to_owned(), does]
    };
    let rows = sub_layers.iter().map(row);
    let words = in_words(Column::Encoder);
    let block = words.split(['[', ']']).nth(1).unwrap_or_default().to_owned();
    let text = Text {
        alternative: format!(
            "One block, read upwards: {block}. A residual passes each sub-layer and its norm."
        ),
        sketch: format!("x → {block} → the next block"),
        tables: vec![Table::new(
            "The sub-layers of a block",
            ["part", "what it does"],
            rows,
        )],
    };
    figure(title, text, [Sizes::WIDE, Sizes::NARROW].map(one_block))
}

/// The sub-layers of an encoder's block.
fn block() -> impl Iterator<Item = &'static Part> {
    let is_of_block =
        |part: &&Part| (part.column, part.kind) == (Column::Encoder, Kind::SubLayer);
    PARTS.iter().filter(is_of_block)
}

/// `tokens → embedding → N × [norm → attention → +, norm → feed-forward → +] → norm`.
fn in_words(column: Column) -> String {
    let of = |kind| PARTS.iter().filter(move |it| (it.column, it.kind) == (column, kind));
    let sub_layers = of(Kind::SubLayer).map(|part| format!("norm → {} → +", part.name));
    let block = format!("N × [{}]", sub_layers.collect::<Vec<_>>().join(", "));
    let mut names: Vec<&str> = of(Kind::Plain).map(|part| part.name).collect();
    names.insert(1, &block); // behind the embedding
    names.join(" → ")
}

/// How large boxes are, and how far apart.
#[derive(Clone, Copy)]
struct Sizes {
    width: f64,
    box_width: f64,
    /// From the edge of the drawing to a box: room for the residual and the frame.
    side: f64,
}

impl Sizes {
    const WIDE: Self = Self { width: 600.0, box_width: 200.0, side: 44.0 };
    const NARROW: Self = Self { width: super::NARROW, box_width: 118.0, side: 26.0 };
}

const BOX: f64 = 38.0;
const NORM: f64 = 22.0;
const END: f64 = 20.0;
const GAP: f64 = 15.0;
/// Across the sign of a sum.
const PLUS: f64 = 16.0;

/// From the bottom of a part to its top, the gap below it too.
fn height(part: &Part) -> f64 {
    GAP + match part.kind {
        Kind::End => END,
        Kind::Plain if part.name == "norm" => NORM,
        Kind::Plain => BOX,
        Kind::SubLayer => NORM + GAP + BOX + GAP + PLUS,
    }
}

/// A column as it is drawn upwards.
struct Stack {
    canvas: Canvas,
    sizes: Sizes,
    /// The left edge of its boxes.
    left: f64,
    /// On which side residuals pass: −1 is left.
    outward: f64,
    /// How far it has come.
    y: f64,
}

impl Stack {
    fn middle(&self) -> f64 {
        self.left + self.sizes.box_width / 2.0
    }

    /// Where residuals pass.
    fn aside(&self) -> f64 {
        self.middle()
            + self.outward * (self.sizes.box_width / 2.0 + self.sizes.side * 0.3)
    }

    /// An arrow into what stands next, which is so high.
    fn rect(&mut self, height: f64, ink: Ink) -> Rect {
        let (x, from) = (self.middle(), self.y);
        self.canvas.arrow([x, from - 1.5], [x, from - GAP + 1.5], ink);
        self.y -= GAP + height;
        Rect { x: self.left, y: self.y, w: self.sizes.box_width, h: height }
    }

    fn boxed(&mut self, part: &Part, height: f64, ink: Ink) -> Rect {
        let rect = self.rect(height, ink);
        self.canvas.rect(&rect, ink);
        let notes = if height < BOX { vec![] } else { vec![part.does.to_owned()] };
        self.canvas.label(&rect, part.name, &notes, ink);
        rect
    }

    /// A part, and its box.
    fn push(&mut self, part: &Part, is_first: bool, ink: Ink) -> Rect {
        match part.kind {
            Kind::End => {
                let rect = match is_first {
                    true => {
                        self.y -= END;
                        Rect { x: self.left, y: self.y, w: self.sizes.box_width, h: END }
                    }
                    false => self.rect(END, ink),
                };
                self.canvas.label(&rect, part.name, &[], ink);
                rect
            }
            Kind::Plain => self.boxed(part, height(part) - GAP, ink),
            Kind::SubLayer => self.sub_layer(part, ink),
        }
    }

    /// A norm, the part, and the sum to which the residual leads around both.
    fn sub_layer(&mut self, part: &Part, ink: Ink) -> Rect {
        let (x, aside, fork) = (self.middle(), self.aside(), self.y - GAP * 0.55);
        let norm = Part { name: "norm", ..*part };
        self.boxed(&norm, NORM, ink);
        let rect = self.boxed(part, BOX, ink);
        let plus = self.rect(PLUS, ink);
        let sum = [x, plus.middle()[1]];
        self.canvas.sum(sum, PLUS / 2.0, ink);
        self.canvas.line([x, fork], [aside, fork], ink);
        self.canvas.line([aside, fork], [aside, sum[1]], ink);
        let edge = [x + self.outward * (PLUS / 2.0 + 1.5), sum[1]];
        self.canvas.arrow([aside, sum[1]], edge, ink);
        rect
    }

    /// A frame around what was drawn since `bottom`, with how often it stands there.
    fn frame(&mut self, bottom: f64, ink: Ink) {
        let out = self.sizes.side * 0.55;
        let (top, bottom) = (self.y - GAP * 0.35, bottom - GAP * 0.3);
        let rect = Rect {
            x: self.left - out,
            y: top,
            w: self.sizes.box_width + 2.0 * out,
            h: bottom - top,
        };
        self.canvas.dashed(&rect, ink);
        let (x, anchor) = match self.outward < 0.0 {
            true => (rect.right() - 6.0, Anchor::End),
            false => (rect.x + 6.0, Anchor::Start),
        };
        self.canvas.text(
            "N blocks",
            [x, top + 12.0],
            anchor,
            Look { ink, ..Look::note() },
        );
    }
}

fn whole(sizes: Sizes, lit: Option<Family>) -> Canvas {
    let ink = |part: &Part| Ink::of(lit.is_some_and(|lit| lit.has(part)), lit.is_some());
    let of = |column| PARTS.iter().filter(move |part| part.column == column);
    let total = of(Column::Decoder).map(height).sum::<f64>();
    let mut stack = Stack {
        canvas: Canvas::new(sizes.width, total),
        sizes,
        left: sizes.side,
        outward: -1.0,
        y: total - 2.0,
    };
    let mut memory = [0.0; 2];
    for column in [Column::Encoder, Column::Decoder] {
        if column == Column::Decoder {
            stack.left = sizes.width - sizes.side - sizes.box_width;
            (stack.outward, stack.y) = (1.0, total - 2.0);
        }
        let (mut bottom, mut frame_ink) = (None, Ink::Plain);
        for (nth, part) in of(column).enumerate() {
            if part.kind == Kind::SubLayer {
                bottom = bottom.or(Some(stack.y));
                frame_ink = if bottom == Some(stack.y) { ink(part) } else { frame_ink };
            } else if let Some(bottom) = bottom.take() {
                stack.frame(
                    bottom,
                    if frame_ink == Ink::Lit { Ink::Plain } else { frame_ink },
                );
            }
            let rect = stack.push(part, nth == 0, ink(part));
            if part.name == "memory" {
                memory = [rect.middle()[0] + 34.0, rect.middle()[1]];
            }
            if part.name == CROSS {
                let (between, at) = (sizes.width / 2.0, rect.middle()[1]);
                stack.canvas.line(memory, [between, memory[1]], ink(part));
                stack.canvas.line([between, memory[1]], [between, at], ink(part));
                stack.canvas.arrow([between, at], [rect.x - 2.0, at], ink(part));
            }
        }
    }
    stack.canvas
}

fn one_block(sizes: Sizes) -> Canvas {
    let total = block().map(height).sum::<f64>() + 2.0 * (END + GAP);
    let mut stack = Stack {
        canvas: Canvas::new(sizes.box_width + 2.0 * sizes.side, total),
        sizes,
        left: sizes.side,
        outward: -1.0,
        y: total - 2.0,
    };
    let end = |name| part(Column::Encoder, Kind::End, name, "");
    stack.push(&end("x, a row per token"), true, Ink::Plain);
    for part in block() {
        stack.push(part, false, Ink::Plain);
    }
    stack.push(&end("the next block"), false, Ink::Plain);
    stack.canvas
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_diagram;

    #[test]
    fn the_decoder_is_lit() {
        assert_diagram!(transformer_diagram("A GPT", Some(Family::Decoder)));
    }

    #[test]
    fn one_block_of_two_sub_layers() {
        for drawing in block_diagram("A block").drawings().unwrap() {
            assert_eq!(drawing.matches("<circle").count(), 2);
            for part in block() {
                assert!(drawing.contains(part.does), "{drawing}");
            }
        }
    }

    /// A GPT has no encoder and no cross-attention, and a BERT nothing that writes.
    #[test]
    fn families_have_their_parts() {
        let names = |family: Family| {
            let parts = PARTS.iter().filter(|part| family.has(part));
            parts.map(|part| part.name).collect::<Vec<_>>()
        };
        let [encoder, decoder, both] = Family::NAMED.map(|(_, family)| names(family));
        assert_eq!((encoder.len(), decoder.len(), both.len()), (6, 7, 14));
        assert!(!decoder.contains(&CROSS) && both.contains(&CROSS));
        assert!(!encoder.contains(&"unembedding"));
        let error = Family::named("writer").unwrap_err();
        insta::assert_snapshot!(error, @"there is no part writer in this diagram, only encoder, decoder, encoder-decoder");
    }
}

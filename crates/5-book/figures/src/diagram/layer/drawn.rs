//! The boxes of a layer, from the top down.

use attention::Dims;

use super::{HEADS, IN_A_CARD, LayerForm, LayerPart, Step};
use crate::diagram::canvas::{Anchor, Canvas, Ink, Look, Rect};

/// A layer as it is drawn.
pub(super) struct Layer {
    pub(super) form: LayerForm,
    pub(super) dims: Option<Dims>,
    pub(super) lit: Option<LayerPart>,
}

/// One line in a card.
const LINE: f64 = 21.0;
/// For an arrow.
const GAP: f64 = 24.0;
const EDGE: f64 = 2.0;
/// Between two cards.
const BETWEEN: f64 = 6.0;
/// Between an arrow and a box.
const APART: f64 = 2.5;

impl Layer {
    /// The whole drawing, for a page of this width.
    pub(super) fn canvas(&self, width: f64) -> Canvas {
        let more = if self.dims.is_some() { 15.0 } else { 0.0 };
        let bar = 40.0 + more;
        let lines = self.card_steps().len() as f64;
        let card = 20.0 + LINE * lines + 24.0 + more;
        let bars = [Step::Concat, Step::Mix, Step::Output];
        let above: &[Step] = match self.form {
            LayerForm::PerHead => &[Step::Input],
            LayerForm::Fused => &[Step::Input, Step::Weights, Step::Columns],
        };
        let n_bars = (above.len() + bars.len()) as f64;
        // The blocks of a matrix that is cut have a line of their own.
        let cut = |step: Step| if is_cut(step, self.form) { 22.0 } else { 0.0 };
        let cuts: f64 = above.iter().chain(&bars).map(|&step| cut(step)).sum();
        let height = n_bars * (bar + GAP) + cuts + card + 2.0 * EDGE;
        let mut canvas = Canvas::new(width, height);

        let mut top = EDGE;
        let draw = |canvas: &mut Canvas, top: &mut f64, steps: &[Step]| {
            let mut before: Option<Step> = None;
            for &step in steps {
                self.arrows(canvas, width, *top, [before, Some(step)]);
                let rect = self.rect(step, width, *top, bar + cut(step));
                self.bar(canvas, step, &rect);
                *top = rect.bottom() + GAP;
                before = Some(step);
            }
        };
        draw(&mut canvas, &mut top, above);
        self.arrows(&mut canvas, width, top, [above.last().copied(), None]);
        for (nth, head) in HEADS.into_iter().enumerate() {
            let column = column(width, nth);
            let rect = Rect { y: top, h: card, ..column };
            self.card(&mut canvas, head, nth, &rect);
        }
        top += card + GAP;
        draw(&mut canvas, &mut top, &bars);
        canvas
    }

    fn card_steps(&self) -> Vec<Step> {
        let own: &[Step] =
            if self.form == LayerForm::PerHead { &[Step::Weights] } else { &[] };
        [own, &IN_A_CARD].concat()
    }

    fn ink(&self, step: Step) -> Ink {
        Ink::of(step.is_lit(self.lit), self.lit.is_some())
    }

    /// The tokens and the matrices of all heads are as wide as all cards; the others are
    /// narrower.
    fn rect(&self, step: Step, width: f64, top: f64, height: f64) -> Rect {
        let whole = Rect { x: EDGE, y: top, w: width - 2.0 * EDGE, h: height };
        if step == Step::Input || is_cut(step, self.form) {
            return whole;
        }
        let w = 0.46 * whole.w;
        Rect { x: (width - w) / 2.0, w, ..whole }
    }

    fn bar(&self, canvas: &mut Canvas, step: Step, rect: &Rect) {
        let ink = self.ink(step);
        canvas.rect(rect, ink);
        let (name, lines) =
            (step.name(self.form, ""), step.shape(self.form).lines(self.dims));
        if !is_cut(step, self.form) {
            canvas.label(rect, &name, &lines, ink);
            return;
        }
        let text = Rect { h: rect.h - 22.0, ..*rect };
        canvas.label(&text, &name, &lines, ink);
        for (nth, head) in HEADS.into_iter().enumerate() {
            // A block reaches to the middle between two cards.
            let column = column(rect.w + 2.0 * EDGE, nth);
            let [left, right] =
                [column.x - BETWEEN / 2.0, column.right() + BETWEEN / 2.0];
            let (left, right) = (left.max(rect.x + 3.0), right.min(rect.right() - 3.0));
            let y = rect.bottom() - 23.0;
            let block = Rect { x: left, y, w: right - left, h: 20.0 };
            canvas.cell(&block, self.head_ink(nth, step.is_lit(self.lit)));
            let description =
                if head == "…" { head.to_owned() } else { format!("head {head}") };
            let ink = if ink == Ink::Muted { ink } else { Ink::Plain };
            let look = Look { room: block.w - 4.0, ink, ..Look::note() };
            canvas.text(&description, block.middle(), Anchor::Middle, look);
        }
    }

    /// A head's own colour, where it does not draw the eye from what is lit; none for the
    /// heads that are left out.
    fn head_ink(&self, nth: usize, is_lit: bool) -> Ink {
        match self.lit {
            Some(_) if !is_lit => Ink::Muted,
            _ if HEADS[nth] == "…" => Ink::Plain,
            _ => Ink::Head(nth),
        }
    }

    /// What one head does.
    fn card(&self, canvas: &mut Canvas, head: &str, nth: usize, rect: &Rect) {
        let is_plain = self.lit.is_none_or(|lit| lit == LayerPart::Heads);
        let ink = if is_plain { Ink::Plain } else { Ink::Muted };
        if head == "…" {
            let look = Look { size: 20.0, ink, ..Look::name() };
            canvas.text(head, rect.middle(), Anchor::Middle, look);
            return;
        }
        canvas.cell(rect, self.head_ink(nth, self.lit == Some(LayerPart::Heads)));
        let (x, mut y) = (rect.middle()[0], rect.y + 11.0);
        let look = Look { room: rect.w - 6.0, ink, ..Look::name() };
        canvas.text(&format!("head {head}"), [x, y], Anchor::Middle, look);
        y = rect.y + 20.0;
        for step in self.card_steps() {
            let ink = self.ink(step);
            let line = Rect { x: rect.x + 3.0, y, w: rect.w - 6.0, h: LINE - 2.0 };
            match step {
                Step::Mask => canvas.dashed(&line, ink),
                _ => canvas.rect(&line, ink),
            }
            canvas.label(&line, "", &[step.name(self.form, head)], ink);
            y += LINE;
        }
        let mut lines = Step::Average.shape(self.form).lines(self.dims);
        if self.lit == Some(LayerPart::Tiles) {
            lines[0] += ", in tiles";
        }
        let below = Rect { y, h: rect.bottom() - y, ..*rect };
        canvas.label(&below, "", &lines, ink);
    }

    /// From one row to the next, whose top is here; `None` is the row of cards.
    fn arrows(
        &self,
        canvas: &mut Canvas,
        width: f64,
        top: f64,
        [from, to]: [Option<Step>; 2],
    ) {
        if to == Some(Step::Input) {
            return;
        }
        let ink = match to {
            Some(step) => self.ink(step),
            None => Ink::of(self.card_steps()[0].is_lit(self.lit), self.lit.is_some()),
        };
        let ends = [top - GAP + APART, top - APART];
        if from.is_some() && to.is_some() {
            let x = width / 2.0;
            canvas.arrow([x, ends[0]], [x, ends[1]], ink);
            return;
        }
        for nth in (0..HEADS.len()).filter(|&nth| HEADS[nth] != "…") {
            let x = column(width, nth).middle()[0];
            canvas.arrow([x, ends[0]], [x, ends[1]], ink);
        }
    }
}

/// Whether the matrix has a block of columns per head.
fn is_cut(step: Step, form: LayerForm) -> bool {
    match step {
        Step::Weights | Step::Columns => form == LayerForm::Fused,
        Step::Concat => true,
        _ => false,
    }
}

/// The place of a card: the one that is left out is narrow.
fn column(width: f64, nth: usize) -> Rect {
    let (gap, dots) = (BETWEEN, 24.0);
    let w = (width - 2.0 * EDGE - dots - 3.0 * gap) / 3.0;
    let x = EDGE + nth.min(2) as f64 * (w + gap);
    match nth {
        2 => Rect { x, y: 0.0, w: dots, h: 0.0 },
        3 => Rect { x: x + dots + gap, y: 0.0, w, h: 0.0 },
        _ => Rect { x, y: 0.0, w, h: 0.0 },
    }
}

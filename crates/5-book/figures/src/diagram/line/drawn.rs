//! The drawing of [`line`](super::line()).

use super::places::{Lane, Places};
use super::{
    Anchor, Canvas, HEAD_WIDTH, HEADS, Ink, Key, LINE_WORDS, Line, LineHead, LineStep,
    Look, Product, Rect, Station, WIDTH, entry, row_of, share, sums,
};

/// Of the bar under a share.
const BAR: f64 = 4.0;
/// Between the lines of sums.
const LINE: f64 = 20.0;
/// Of entries and names.
const LETTERS: f64 = 12.5;

/// The names of things of one kind.
fn each(name: &dyn Fn(usize) -> String, n: usize) -> Vec<String> {
    (0..n).map(name).collect()
}

/// One drawing under way.
struct Drawing<'a> {
    canvas: Canvas,
    line: &'a Line<'a>,
    step: LineStep,
    lit: usize,
    at: Places,
}

pub(super) fn drawn(line: &Line, step: LineStep, lit: usize, is_wide: bool) -> Canvas {
    let at = Places::of(is_wide);
    let canvas = Canvas::new(at.size[0], at.size[1]);
    let mut drawing = Drawing { canvas, line, step, lit, at };
    drawing.words();
    drawing.ways(is_wide);
    drawing.mask();
    for nth in 0..line.heads.len() {
        drawing.head(nth);
    }
    drawing.output();
    drawing.sums();
    drawing.canvas
}

impl Drawing<'_> {
    fn is_at(&self, step: LineStep) -> bool {
        self.step >= step
    }

    fn of_word(&self, word: usize, lit: Ink) -> Ink {
        if word == self.lit { lit } else { Ink::Muted }
    }

    /// Where a matrix will stand, and its name, which is lit at its station.
    fn frame(&mut self, rect: &Rect, name: &str, at: [f64; 2], station: Station) {
        self.empty(rect, station);
        let is_lit = self.step.station() == station;
        let ink = if is_lit { Ink::Lit } else { Ink::Muted };
        self.canvas.text(
            name,
            at,
            Anchor::Start,
            Look { ink, size: LETTERS, ..Look::note() },
        );
    }

    /// Where entries will stand; a click goes to the last step at its station.
    fn empty(&mut self, rect: &Rect, station: Station) {
        let step = LineStep::ALL.iter().rposition(|it| it.station() == station);
        let pick = [("pick", format!("step={}", step.unwrap_or_default()))];
        self.canvas.marked(&pick, |canvas| {
            canvas.cell(rect, Ink::Nothing);
            canvas.cell(rect, Ink::Muted);
        });
    }

    /// Numbers in a row, or in a column, as one thing.
    fn numbers(&mut self, key: &Key, rect: &Rect, texts: &[String], ink: Ink) {
        let n = texts.len();
        let is_column = rect.h > rect.w;
        self.canvas.keyed(key, |canvas| {
            canvas.cell(rect, ink);
            for (nth, text) in texts.iter().enumerate() {
                let cell = if is_column { rect.row(nth, n) } else { rect.column(nth, n) };
                let look = Look { room: cell.w - 2.0, size: LETTERS, ..Look::note() };
                canvas.text(text, cell.middle(), Anchor::Middle, look);
            }
        });
    }

    fn words(&mut self) {
        let x = self.at.x;
        self.frame(&x, "X", [x.x, x.y - 8.0], Station::Words);
        for (word, text) in self.line.words.iter().enumerate() {
            let row = x.row(word, LINE_WORDS);
            let picks = format!("word={word}");
            let key = Key::new(format!("word.{word}")).picks(&picks);
            let ink = if word == self.lit { Ink::Lit } else { Ink::Plain };
            self.canvas.keyed(&key, |canvas| {
                let look = Look { ink, room: x.x - 6.0, size: LETTERS, ..Look::note() };
                canvas.text(text, [x.x - 5.0, row.middle()[1]], Anchor::End, look);
            });
            if self.is_at(LineStep::Rows) {
                let key = Key::new(format!("x.{word}")).from(format!("word.{word}"));
                let texts: Vec<String> =
                    row_of(self.line.x, word).into_iter().map(entry).collect();
                let ink = self.of_word(word, Ink::Lit);
                self.numbers(&key.picks(picks), &row, &texts, ink);
            }
        }
    }

    /// A button that switches the mask.
    fn mask(&mut self) {
        let rect = self.at.mask;
        let is_on = self.line.heads[0].masked.iter().any(|it| it.is_infinite());
        let [text, to] = match is_on {
            true => ["causal mask: on", "off"],
            false => ["causal mask: off", "on"],
        };
        let key = Key::new("mask").picks(format!("causal={to}"));
        let look = Look { room: rect.w - 8.0, size: LETTERS, ..Look::note() };
        self.canvas.keyed(&key, |canvas| {
            canvas.rect(&rect, if is_on { Ink::Lit } else { Ink::Plain });
            canvas.text(text, rect.middle(), Anchor::Middle, look);
        });
    }

    /// From each part to the next.
    fn ways(&mut self, is_wide: bool) {
        let Places { x, lanes, concat, out, sum, .. } = self.at;
        for lane in &lanes {
            let (from, to) = match is_wide {
                true => (
                    [x.right() + 3.0, x.middle()[1]],
                    [lane.q.x - 4.0, lane.q.middle()[1]],
                ),
                false => {
                    let above = [lane.grid.x - 8.0, lane.name[1] - 8.0];
                    ([x.middle()[0], x.bottom() + 3.0], above)
                }
            };
            self.canvas.arrow(from, to, Ink::Muted);
            let (from, to) = match is_wide {
                true => {
                    let out = [lane.out.right() + 3.0, lane.out.middle()[1]];
                    (out, [concat.x - 4.0, concat.middle()[1]])
                }
                // Straight down: what stands between has no room for a line across it.
                false => {
                    let [x, y] = [lane.out.middle()[0], lane.out.bottom() + 3.0];
                    ([x, y], [x, y + 16.0])
                }
            };
            self.canvas.arrow(from, to, Ink::Muted);
        }
        let [from, to] = match is_wide {
            true => {
                [[out.middle()[0], out.bottom() + 20.0], [sum.middle()[0], sum.y - 20.0]]
            }
            false => {
                [[out.right() + 3.0, sum.middle()[1]], [sum.x - 4.0, sum.middle()[1]]]
            }
        };
        self.canvas.arrow(from, to, Ink::Muted);
    }

    fn head(&mut self, nth: usize) {
        let (line, lane) = (self.line, self.at.lanes[nth]);
        let head = &line.heads[nth];
        let name = format!("head {nth}");
        let look = Look { is_bold: true, size: LETTERS, ..Look::note() };
        self.canvas.text(&name, lane.name, Anchor::Start, look);
        let over = |rect: &Rect| [rect.x, rect.y - 8.0];
        let before = [lane.k.x - 24.0, lane.k.middle()[1]];
        self.frame(&lane.q, "Q", over(&lane.q), Station::Project);
        self.frame(&lane.k, "K^T", before, Station::Project);
        let before = [lane.v.x - 14.0, lane.v.y + 10.0];
        self.frame(&lane.v, "V", before, Station::Project);
        let blank = [
            (lane.grid, LINE_WORDS, Station::Softmax),
            (lane.out, HEAD_WIDTH, Station::Mix),
        ];
        for (rect, n_columns, station) in blank {
            self.empty(&rect, station);
            for column in 1..n_columns {
                let x = rect.column(column, n_columns).x;
                self.canvas.line([x, rect.y], [x, rect.bottom()], Ink::Muted);
            }
        }
        if self.is_at(LineStep::Project) {
            for word in 0..LINE_WORDS {
                self.projected(nth, head, &lane, word);
            }
        }
        for word in 0..self.step.n_rows() {
            self.scores(nth, head, &lane.grid, word);
        }
        if self.is_at(LineStep::Mix) {
            for word in 0..LINE_WORDS {
                self.mixed(nth, head, &lane, word);
            }
        }
    }

    /// A word's query, key and value, each a copy of its row through a lens.
    fn projected(&mut self, nth: usize, head: &LineHead, lane: &Lane, word: usize) {
        let places = [
            ("q", &head.q, lane.q.row(word, LINE_WORDS)),
            ("k", &head.k, lane.k.column(word, LINE_WORDS)),
            ("v", &head.v, lane.v.row(word, LINE_WORDS)),
        ];
        for (name, matrix, rect) in places {
            let key = Key::new(format!("{name}.{nth}.{word}")).from(format!("x.{word}"));
            let texts: Vec<String> =
                row_of(matrix, word).into_iter().map(entry).collect();
            let is_lit = name != "q" || word == self.lit;
            let ink = if is_lit { Ink::Head(nth) } else { Ink::Muted };
            self.numbers(&key.picks(format!("word={word}")), &rect, &texts, ink);
        }
    }

    /// A row of the grid: products, scores or shares, whichever it holds now.
    fn scores(&mut self, nth: usize, head: &LineHead, grid: &Rect, word: usize) {
        let (matrix, write): (_, fn(f64) -> String) = match self.step {
            it if it >= LineStep::Softmax => (&head.attn, share),
            LineStep::Exp => (&head.exps, share),
            LineStep::Mask => (&head.masked, entry),
            LineStep::Scale => (&head.scores, entry),
            _ => (&head.products, entry),
        };
        let ink = self.of_word(word, Ink::Head(nth));
        for key_word in 0..LINE_WORDS {
            let cell = grid.row(word, LINE_WORDS).column(key_word, LINE_WORDS);
            let key = Key::new(format!("s.{nth}.{word}.{key_word}"))
                .from(format!("q.{nth}.{word}"))
                .picks(format!("word={word}"));
            let key = match self.step {
                it if it < LineStep::Exp && matrix[(word, key_word)].is_finite() => key
                    .sums(Product {
                        name: "q · k".to_owned(),
                        left: vec![format!("q.{nth}.{word}")],
                        right: vec![format!("k.{nth}.{key_word}")],
                        over: self
                            .is_at(LineStep::Scale)
                            .then(|| format!("√{HEAD_WIDTH}")),
                    }),
                _ => key,
            };
            self.numbers(&key, &cell, &[write(matrix[(word, key_word)])], ink);
        }
        if self.is_at(LineStep::Exp) {
            self.bars(nth, head, &grid.row(word, LINE_WORDS), word);
        }
    }

    /// Of exponentials a bar in each cell; of shares, all in one bar as long as the row.
    fn bars(&mut self, nth: usize, head: &LineHead, row: &Rect, word: usize) {
        let mut end = row.x;
        for key_word in 0..LINE_WORDS {
            let cell = row.column(key_word, LINE_WORDS);
            let (x, w) = match self.step {
                LineStep::Exp => (cell.x, cell.w * head.exps[(word, key_word)]),
                _ => (end, row.w * head.attn[(word, key_word)]),
            };
            end = x + w;
            if w < 0.5 {
                continue;
            }
            let bar = Rect { x, y: row.bottom() - BAR, w: w - 0.5, h: BAR };
            let key = Key::new(format!("bar.{nth}.{word}.{key_word}"));
            self.canvas.keyed(&key, |canvas| canvas.bar(&bar, Ink::Head(nth)));
        }
    }

    /// A word's values, averaged: with its head, and then side by side with the other's.
    fn mixed(&mut self, nth: usize, head: &LineHead, lane: &Lane, word: usize) {
        let shares = row_of(&head.attn, word);
        let largest = (0..LINE_WORDS).max_by(|&a, &b| shares[a].total_cmp(&shares[b]));
        let key = Key::new(format!("o.{nth}.{word}"))
            .from(format!("v.{nth}.{}", largest.unwrap_or(word)))
            .picks(format!("word={word}"))
            .sums(Product {
                name: format!("head {nth}"),
                left: each(&|j| format!("s.{nth}.{word}.{j}"), LINE_WORDS),
                right: each(&|j| format!("v.{nth}.{j}"), LINE_WORDS),
                over: None,
            });
        let rect = match self.is_at(LineStep::Concat) {
            true => self.at.concat.row(word, LINE_WORDS).column(nth, 2),
            false => lane.out.row(word, LINE_WORDS),
        };
        let texts: Vec<String> = row_of(&head.out, word).into_iter().map(entry).collect();
        let ink = self.of_word(word, Ink::Head(nth));
        self.numbers(&key, &rect, &texts, ink);
    }

    fn output(&mut self) {
        let Places { concat, w_o, out, sum, onward, .. } = self.at;
        let over = |rect: &Rect| [rect.x, rect.y - 8.0];
        self.frame(&concat, "concat", over(&concat), Station::Concat);
        let before = [w_o.x - 30.0, w_o.y + 10.0];
        self.frame(&w_o, "W^O", before, Station::Output);
        self.frame(&out, "out", [out.x, out.bottom() + 10.0], Station::Output);
        self.frame(&sum, "X + out", over(&sum), Station::Out);
        for row in 0..WIDTH {
            let texts: Vec<String> =
                row_of(self.line.w_o, row).into_iter().map(entry).collect();
            let rect = w_o.row(row, WIDTH);
            self.numbers(&Key::new(format!("w.{row}")), &rect, &texts, Ink::Muted);
        }
        for word in 0..LINE_WORDS {
            let picks = format!("word={word}");
            if self.is_at(LineStep::Output) {
                let key = Key::new(format!("z.{word}")).from(format!("o.0.{word}"));
                let key = key.sums(Product {
                    name: "out".to_owned(),
                    left: each(&|head| format!("o.{head}.{word}"), HEADS),
                    right: each(&|row| format!("w.{row}"), WIDTH),
                    over: None,
                });
                let row = row_of(self.line.out, word);
                self.row_of_output(&key.picks(&picks), &out, word, &row);
            }
            if self.is_at(LineStep::Add) {
                let key = Key::new(format!("y.{word}")).from(format!("z.{word}"));
                let row = self.line.sum(word);
                self.row_of_output(&key.picks(&picks), &sum, word, &row);
            }
        }
        let is_out = self.is_at(LineStep::Add);
        let ink = if is_out { Ink::Lit } else { Ink::Muted };
        let [x, y, room] = onward;
        let look = Look { ink, room, size: LETTERS, ..Look::note() };
        let texts = ["feed-forward,", "next blocks,", "logits"];
        for (nth, text) in texts.iter().enumerate() {
            self.canvas.text(text, [x, y + 16.0 * nth as f64], Anchor::Middle, look);
        }
    }

    fn row_of_output(&mut self, key: &Key, rect: &Rect, word: usize, row: &[f64]) {
        let texts: Vec<String> = row.iter().map(|&number| entry(number)).collect();
        let ink = self.of_word(word, Ink::Lit);
        self.numbers(key, &rect.row(word, LINE_WORDS), &texts, ink);
    }

    fn sums(&mut self) {
        let [x, y] = self.at.sums;
        let room = self.at.size[0] - x - 2.0;
        let texts = sums::sums(self.line, self.step, self.lit);
        for (nth, text) in texts.iter().enumerate() {
            let at = [x, y + nth as f64 * LINE];
            let look = Look { room, size: LETTERS, ..Look::note() };
            self.canvas.text(text, at, Anchor::Start, look);
        }
        if self.step.n_rows() > 0 {
            let hint = "Point at a score, a mixture or an entry of out: its sum.";
            self.canvas.marked(&[("sum", String::new())], |canvas| {
                let look = Look { room, ink: Ink::Muted, size: LETTERS, ..Look::note() };
                canvas.text(hint, [x, y + 2.0 * LINE], Anchor::Start, look);
            });
        }
    }
}

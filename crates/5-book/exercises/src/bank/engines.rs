//! Engines that ran until they failed, one after the other in a file, and their windows.

use attention::Matrix;

use crate::Answer;

/// Some rows of one engine, and how long it runs on behind them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// The engine, counted from 0.
    pub engine: usize,
    /// The window's first row, counted from 0 over the whole file.
    pub first: usize,
    /// The engine's rows behind the window's last one, and at most 125.
    pub remaining: usize,
}

/// A row for each window, none of them nearly right.
impl Answer for Vec<Window> {
    const TOLERANCE: f64 = 0.0;
    const IS_LIST: bool = true;

    fn parts(&self) -> Vec<Matrix> {
        let row = |window: &Window| {
            let Window { engine, first, remaining } = *window;
            Matrix::from_row_slice(1, 3, &[engine, first, remaining].map(|x| x as f64))
        };
        self.iter().map(row).collect()
    }

    fn n_parts(&self) -> String {
        match self.len() {
            1 => "1 window".into(),
            n => format!("{n} windows"),
        }
    }
}

/// What remains is counted up to here.
pub const CAP: usize = 125;

/// How many rows each engine has, and how many a window.
pub struct Input {
    /// The rows of each engine.
    pub lengths: Vec<usize>,
    /// The rows of a window.
    pub n_steps: usize,
}

/// An engine of a file.
#[derive(Clone, Copy)]
pub struct Engine {
    /// Its place in the list.
    pub place: usize,
    /// The rows of the file before it.
    pub before: usize,
    /// Its own rows.
    pub length: usize,
}

impl Input {
    /// What is asked.
    pub fn right(&self) -> Vec<Window> {
        self.each(|engine, start| engine.window(start, self.n_steps))
    }

    /// `of(engine, start)` for every right window, `start` counted within the engine.
    pub fn each(&self, of: impl Fn(Engine, usize) -> Window) -> Vec<Window> {
        self.of_engines(|engine| {
            let n_windows = (engine.length + 1).saturating_sub(self.n_steps);
            (0..n_windows).map(|start| of(engine, start)).collect()
        })
    }

    /// What `of` makes of each engine, one after the other.
    pub fn of_engines(&self, of: impl Fn(Engine) -> Vec<Window>) -> Vec<Window> {
        self.engines().into_iter().flat_map(of).collect()
    }

    fn engines(&self) -> Vec<Engine> {
        let of = |(place, &length): (usize, &usize)| {
            let before = self.lengths[..place].iter().sum();
            Engine { place, before, length }
        };
        self.lengths.iter().enumerate().map(of).collect()
    }

    /// The right windows, but for what remains: `of(engine, start)`.
    pub fn remaining(&self, of: impl Fn(Engine, usize) -> usize) -> Vec<Window> {
        self.each(|engine, start| {
            let window = engine.window(start, self.n_steps);
            Window { remaining: of(engine, start), ..window }
        })
    }

    /// The right windows of each engine, of which `of` keeps some.
    pub fn kept(&self, of: impl Fn(Vec<Window>) -> Vec<Window>) -> Vec<Window> {
        let right = self.right();
        let engines = right.chunk_by(|a, b| a.engine == b.engine);
        engines.flat_map(|windows| of(windows.to_vec())).collect()
    }

    /// Every `n_steps` rows of the file, whichever engine they are of. From the engines of a
    /// window's first and last row, `of` chooses the one that it is said to be of, and the
    /// one whose end is counted down to.
    pub fn across(&self, of: fn([Engine; 2]) -> [Engine; 2]) -> Vec<Window> {
        let engines = self.engines();
        let at = |row: usize| {
            let is_there = |engine: &&Engine| row < engine.before + engine.length;
            *engines.iter().find(is_there).expect("a row of the file")
        };
        let n_rows: usize = self.lengths.iter().sum();
        let window = |first: usize| {
            let last = first + self.n_steps - 1;
            let [named, ending] = of([at(first), at(last)]);
            let left = (ending.before + ending.length).saturating_sub(last + 1);
            Window { engine: named.place, first, remaining: left.min(CAP) }
        };
        (0..(n_rows + 1).saturating_sub(self.n_steps)).map(window).collect()
    }

    /// The right windows as they are counted if short engines are left out of the places,
    /// or of the rows before.
    pub fn without_short(&self, places: bool, rows: bool) -> Vec<Window> {
        self.each(|engine, start| {
            let before = &self.lengths[..engine.place];
            let short = || before.iter().filter(|&&length| length < self.n_steps);
            let mut window = engine.window(start, self.n_steps);
            if places {
                window.engine -= short().count();
            }
            if rows {
                window.first -= short().sum::<usize>();
            }
            window
        })
    }
}

impl Engine {
    /// The window that begins `start` rows into the engine.
    pub fn window(&self, start: usize, n_steps: usize) -> Window {
        let left = self.length.saturating_sub(start + n_steps);
        let first = self.before + start;
        Window { engine: self.place, first, remaining: left.min(CAP) }
    }
}

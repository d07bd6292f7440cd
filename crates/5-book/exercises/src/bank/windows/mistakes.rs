//! What people write instead.

use crate::bank::engines::{CAP, Input, Window};

use super::WINDOWS;
use crate::{Mistake, Section};

const WEAR: Section = Section::new("sensors", "The remaining useful life of an engine");
const WRONG: Section = Section::new("sensors", "The remaining useful life of an engine");

/// All of them.
pub(super) const ALL: &[Mistake<Input, Vec<Window>>] = &[
    crosses(|input| input.across(|[first, _]| [first, first])),
    crosses(|input| input.across(|[_, last]| [last, last])),
    crosses(|input| input.across(|[first, last]| [first, last])),
    crosses(|input| {
        let n_rows: usize = input.lengths.iter().sum();
        let begins = |window: &Window| window.first + input.n_steps <= n_rows;
        let rows = Input { lengths: input.lengths.clone(), n_steps: 1 };
        rows.right().into_iter().filter(begins).collect()
    }),
    Mistake {
        name: "leaves out the last window of each engine",
        does: "It has n − n_steps windows of n rows, and the one that ends with the \
            failure, with nothing remaining, is missing",
        looks_right: "A range without its end is how most loops are written",
        read: WINDOWS,
        answer: |input| {
            input.kept(|mut windows| {
                windows.pop();
                windows
            })
        },
    },
    goes_past_the_end(|input| {
        input.of_engines(|engine| {
            let n_windows = (engine.length + 2).saturating_sub(input.n_steps);
            (0..n_windows).map(|start| engine.window(start, input.n_steps)).collect()
        })
    }),
    goes_past_the_end(|input| {
        input.of_engines(|engine| {
            let has_one = engine.length >= input.n_steps;
            let n_windows = if has_one { engine.length + 2 - input.n_steps } else { 0 };
            (0..n_windows).map(|start| engine.window(start, input.n_steps)).collect()
        })
    }),
    Mistake {
        name: "makes windows one row too long",
        does: "From `first` to the last row there are n_steps + 1 rows, so every engine \
            has one window less",
        looks_right: "The last row is first + n_steps − 1, and not first + n_steps",
        read: WINDOWS,
        answer: |input| {
            let longer =
                Input { lengths: input.lengths.clone(), n_steps: input.n_steps + 1 };
            longer.right()
        },
    },
    Mistake {
        name: "moves on by a whole window",
        does: "Its windows share no row, so most are missing, and often those that end \
            with the engine",
        looks_right: "Each of its windows is right, and no row is read twice",
        read: WINDOWS,
        answer: |input| {
            input.kept(|windows| windows.into_iter().step_by(input.n_steps).collect())
        },
    },
    Mistake {
        name: "keeps only the last window of each engine",
        does: "It is what a test asks, one question per engine. To learn from, each \
            engine has many more",
        looks_right: "Each window is right, and every engine has one",
        read: WINDOWS,
        answer: |input| input.kept(|mut windows| windows.split_off(windows.len() - 1)),
    },
    Mistake {
        name: "keeps engines that are shorter than a window",
        does: "An engine with too few rows has a window too, which runs on into the next \
            engine",
        looks_right: "`saturating_sub` takes the panic away, and leaves one window where \
            there is none",
        read: WINDOWS,
        answer: |input| {
            input.of_engines(|engine| {
                let last = engine.length.saturating_sub(input.n_steps);
                (0..=last).map(|start| engine.window(start, input.n_steps)).collect()
            })
        },
    },
    Mistake {
        name: "skips engines that are just as long as a window",
        does: "It asks for more rows than a window has, and an engine with as many has \
            one window",
        looks_right: "With longer engines it is right",
        read: WINDOWS,
        answer: |input| {
            input.of_engines(|engine| {
                let last = engine.length.checked_sub(input.n_steps).filter(|&it| it > 0);
                let starts = last.map_or(0..0, |last| 0..last + 1);
                starts.map(|start| engine.window(start, input.n_steps)).collect()
            })
        },
    },
    Mistake {
        name: "has a window that ends at each row",
        does: "An engine's first rows end windows of fewer rows than n_steps",
        looks_right: "There is a row for each row of the file, as a filter would have it",
        read: WINDOWS,
        answer: |input| {
            let rows = Input { lengths: input.lengths.clone(), n_steps: 1 };
            rows.each(|engine, start| {
                let first = (start + 1).saturating_sub(input.n_steps);
                Window { first: engine.before + first, ..engine.window(start, 1) }
            })
        },
    },
    Mistake {
        name: "begins with the latest window of each engine",
        does: "It has all windows, and those of an engine in the reverse order",
        looks_right: "What remains is counted up from 0, which is simple to write",
        read: WINDOWS,
        answer: |input| input.kept(|windows| windows.into_iter().rev().collect()),
    },
    Mistake {
        name: "drops windows with more than 125 remaining",
        does: "A model then never sees an engine that is well, and gives one too few \
            cycles. The cap keeps the window and changes the number",
        looks_right: "No number is above 125",
        read: WEAR,
        answer: |input| {
            let uncapped =
                input.remaining(|engine, start| engine.length - start - input.n_steps);
            uncapped.into_iter().filter(|window| window.remaining <= CAP).collect()
        },
    },
    Mistake {
        name: "does not cap what remains",
        does: "It asks a model to tell 300 cycles from 200, when nothing has begun to \
            wear and no reading can show the difference",
        looks_right: "It is the truth, and below 125 the two are the same",
        read: WEAR,
        answer: |input| {
            input.remaining(|engine, start| engine.length - start - input.n_steps)
        },
    },
    Mistake {
        name: "caps the length and not what remains",
        does: "It counts down from 125 as soon as an engine begins, so a long engine has \
            nothing left while it still runs",
        looks_right: "It begins at a cap, and falls by 1 per row",
        read: WEAR,
        answer: |input| {
            input.remaining(|engine, start| {
                engine.length.min(CAP).saturating_sub(start + input.n_steps)
            })
        },
    },
    from_the_first(|input| {
        input.remaining(|engine, start| (engine.length - start - 1).min(CAP))
    }),
    from_the_first(|input| {
        input.remaining(|engine, start| (engine.length - start).min(CAP))
    }),
    from_the_first(|input| input.remaining(|engine, start| engine.length - start - 1)),
    from_the_first(|input| input.remaining(|engine, start| engine.length - start)),
    Mistake {
        name: "counts the window's last row as remaining",
        does: "It gives 1 at an engine's last row, behind which nothing comes",
        looks_right: "One cycle too many, everywhere, is hard to see in an error of ten",
        read: WINDOWS,
        answer: |input| {
            input.remaining(|engine, start| {
                (engine.length - start - input.n_steps + 1).min(CAP)
            })
        },
    },
    Mistake {
        name: "counts what remains of the file",
        does: "It counts the rows of all engines behind the window, so only the file's \
            last engine has the right life",
        looks_right: "With one engine it is right",
        read: WINDOWS,
        answer: |input| {
            let n_rows: usize = input.lengths.iter().sum();
            input.remaining(|engine, start| {
                (n_rows - engine.before - start - input.n_steps).min(CAP)
            })
        },
    },
    Mistake {
        name: "counts the first row within its engine",
        does: "Row 0 is then every engine's first, and the readings of the first engine \
            are read for all of them",
        looks_right: "For the first engine it is right",
        read: WINDOWS,
        answer: |input| {
            input.each(|engine, start| Window {
                first: start,
                ..engine.window(start, input.n_steps)
            })
        },
    },
    Mistake {
        name: "gives a window's last row",
        does: "`first` is the row where the window ends, n_steps − 1 rows late",
        looks_right: "What remains is counted from there",
        read: WINDOWS,
        answer: |input| {
            input.each(|engine, start| {
                let window = engine.window(start, input.n_steps);
                Window { first: window.first + input.n_steps - 1, ..window }
            })
        },
    },
    Mistake {
        name: "counts rows from 1",
        does: "Every window begins a row late, and the last one ends behind its engine",
        looks_right: "Cycles in the file are counted from 1, and so are its lines",
        read: WINDOWS,
        answer: |input| {
            input.each(|engine, start| {
                let window = engine.window(start, input.n_steps);
                Window { first: window.first + 1, ..window }
            })
        },
    },
    Mistake {
        name: "counts engines from 1",
        does: "A window of engine 0 is said to be of engine 1",
        looks_right: "The engines of the file are counted from 1",
        read: WINDOWS,
        answer: |input| {
            input.each(|engine, start| Window {
                engine: engine.place + 1,
                ..engine.window(start, input.n_steps)
            })
        },
    },
    Mistake {
        name: "does not count the rows of a short engine",
        does: "It skips an engine without a window before it adds its rows, so all \
            windows behind it begin too early in the file",
        looks_right: "Up to the first short engine it is right, and the places of the \
            engines are",
        read: WINDOWS,
        answer: |input| input.without_short(false, true),
    },
    Mistake {
        name: "does not count short engines",
        does: "It numbers the engines that have a window, and `lengths` has others \
            between them",
        looks_right: "Up to the first short engine it is right, and all rows are",
        read: WINDOWS,
        answer: |input| input.without_short(true, false),
    },
    Mistake {
        name: "takes short engines out before it counts",
        does: "It filters the list first. Engines and rows are then counted in another \
            file, one without short engines",
        looks_right: "Short engines have no window, and up to the first of them it is \
            right",
        read: WINDOWS,
        answer: |input| input.without_short(true, true),
    },
    Mistake {
        name: "counts the rows of the engine before alone",
        does: "It writes `before = …` where `before += …` adds up, so first rows are right for two engines and then too early",
        looks_right: "With two engines it is right",
        read: WINDOWS,
        answer: |input| {
            let mut windows = input.right();
            for window in &mut windows {
                let all: usize = input.lengths[..window.engine].iter().sum();
                let last =
                    if window.engine == 0 { 0 } else { input.lengths[window.engine - 1] };
                window.first = window.first - all + last;
            }
            windows
        },
    },
];

/// Named after the engine of its first or its last row, and counted down to the end of either,
/// from its last row or its first.
const fn crosses(answer: fn(&Input) -> Vec<Window>) -> Mistake<Input, Vec<Window>> {
    Mistake {
        name: "lets windows cross from one engine to the next",
        does: "It cuts the file as if it were one series: some windows begin in an engine \
            that fails and end in a new one, and no remaining life is right for them",
        looks_right: "The rows do follow one another in the file, and with one engine it is \
            right",
        read: WRONG,
        answer,
    }
}

/// With a window for an engine that is one row too short, or without.
const fn goes_past_the_end(
    answer: fn(&Input) -> Vec<Window>,
) -> Mistake<Input, Vec<Window>> {
    Mistake {
        name: "has one window too many per engine",
        does: "The last window ends one row behind its engine: in the next one, or behind \
            the file",
        looks_right: "Of n rows there are n − n_steps + 1 windows, and ..= takes one more",
        read: WINDOWS,
        answer,
    }
}

/// With the first row itself or without, capped or not.
const fn from_the_first(
    answer: fn(&Input) -> Vec<Window>,
) -> Mistake<Input, Vec<Window>> {
    Mistake {
        name: "counts what remains from the window's first row",
        does: "It gives the life that remained when the window began. Its end is what a \
            model knows last, and what it is asked about",
        looks_right: "It falls by 1 from window to window, as it should",
        read: WINDOWS,
        answer,
    }
}

//! What models of today change.

use anyhow::Result;
use attention::Matrix;
use variants::{Cache, Groups, Window};

use super::super::answer::{Answer, Form};
use super::{Instance, Outcome, Question, Topic, of};

pub const TOPIC: Topic = Topic {
    name: "variants",
    questions: &[
        Question {
            id: "cached-numbers",
            title: "What a cache holds",
            section: "The KV cache",
            pose: |seed| {
                let sizes @ (heads, kv_heads, width, n) =
                    of(seed, [(8, 2, 64, 100), (12, 4, 32, 500), (16, 1, 128, 50)]);
                Instance::new(
                    format!(
                        "A layer has {heads} query heads on {kv_heads} of keys and values, each \
                         {width} wide. How many numbers has its cache after {n} tokens?"
                    ),
                    "Which of queries, keys and values are needed again?",
                    Form::Whole,
                    move || cached(sizes),
                )
            },
        },
        Question {
            id: "group-of-a-head",
            title: "Which keys a head reads",
            section: "Shared keys and values: MQA and GQA",
            pose: |seed| {
                let sizes @ (heads, kv_heads, head) =
                    of(seed, [(18, 3, 8), (20, 4, 12), (24, 4, 13)]);
                Instance::new(
                    format!(
                        "{heads} query heads share {kv_heads} heads of keys and values. Which \
                         of these does query head {head} read? All are counted from 0."
                    ),
                    "Neighbours share. How many query heads are in a group?",
                    Form::Whole,
                    move || group(sizes),
                )
            },
        },
        Question {
            id: "window-with-sinks",
            title: "Keys in a window with sinks",
            section: "Sliding windows and attention sinks",
            pose: |seed| {
                let sizes @ (window, sinks, n) =
                    of(seed, [(4, 2, 50), (8, 3, 90), (16, 4, 200)]);
                Instance::new(
                    format!(
                        "A model keeps the first {sinks} tokens of a text, and has a window of \
                         {window} that counts the new token itself. How many keys does the \
                         token behind {n} others see?"
                    ),
                    "Write down which places the window reaches, and whether the first tokens \
                     are among them.",
                    Form::Whole,
                    move || window_keys(sizes),
                )
            },
        },
    ],
};

fn cached((heads, kv_heads, width, n): (usize, usize, usize, usize)) -> Result<Outcome> {
    let of_heads = |heads: usize| -> Result<usize> {
        let mut cache: Cache<f32> = Cache::new([heads * width; 2]);
        let rows = Matrix::zeros(n, heads * width);
        cache.append(&rows, &rows)?;
        Ok(cache.keys().len() + cache.values().len())
    };
    let all = of_heads(kv_heads)?;
    let shown = format!(
        "keys     {n} x {}\nvalues   {n} x {}",
        kv_heads * width,
        kv_heads * width
    );
    let why = "A new token needs the keys and the values of all tokens before it, and nobody \
               asks an old query again. Query heads that share keys share their cache.";
    Ok(Outcome::new(Answer::Whole(all), shown, why)
        .slip(Answer::Whole(all / 2), "That is keys alone.")
        .slip(
            Answer::Whole(of_heads(heads)?),
            "That is a cache with keys and values for every query head.",
        )
        .slip(Answer::Whole(all / 2 * 3), "That has queries in it."))
}

fn group((heads, kv_heads, head): (usize, usize, usize)) -> Result<Outcome> {
    let groups = Groups::new(heads, kv_heads)?;
    let read = groups.kv_head(head);
    let mut shown = String::new();
    for kv_head in 0..kv_heads {
        let its: Vec<usize> =
            (0..heads).filter(|&it| groups.kv_head(it) == kv_head).collect();
        shown += &format!(
            "keys and values {kv_head}: query heads {} to {}\n",
            its[0],
            its[its.len() - 1]
        );
    }
    let why = "A group is heads / kv_heads query heads in a row. To repeat the keys in the \
               order 0, 1, 0, 1 gives the same shapes and another model.";
    Ok(Outcome::new(Answer::Whole(read), shown, why)
        .slip(
            Answer::Whole(head % kv_heads),
            "That deals heads out one by one, and neighbours share.",
        )
        .slip(
            Answer::Whole(head / kv_heads),
            "That divides by the number of groups, and not by the size of one.",
        ))
}

fn window_keys((window, sinks, n): (usize, usize, usize)) -> Result<Outcome> {
    let seen_by =
        |last: Window| (0..=n as i64).filter(|&key| last.sees(n as i64, key)).count();
    let last =
        |n_keys: usize| Window::last(n_keys).map(|it| Window { n_sinks: sinks, ..it });
    let seen = seen_by(last(window)?);
    let shown = format!("places 0 to {}, and {} to {n}", sinks - 1, n + 1 - window);
    let why = "The window is counted with the token itself, and the sinks stay beside it. So \
               what a token reads does not grow with the text.";
    Ok(Outcome::new(Answer::Whole(seen), shown, why)
        .slip(
            Answer::Whole(seen + 1),
            "That does not count the token itself in its window.",
        )
        .slip(Answer::Whole(window), "That forgets the first tokens.")
        .slip(Answer::Whole(n + 1), "That forgets nothing."))
}

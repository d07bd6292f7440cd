//! The questions in the order of the book.

use anyhow::{Result, ensure};
use questions::{Question, Topic};
use workshop::chapters::Chapter;

/// A question in the book.
#[derive(Debug, Clone, Copy)]
pub struct Entry<'a> {
    /// Where it is explained.
    pub chapter: &'a Chapter,
    /// What is asked.
    pub question: &'a Question,
}

/// Every question, in the order of the chapters.
pub fn all<'a>(topics: &'a [Topic], chapters: &'a [Chapter]) -> Vec<Entry<'a>> {
    let of = |chapter: &Chapter| {
        let topic = topics.iter().find(|topic| topic.name == chapter.topic());
        topic.map_or(&[][..], |topic| &topic.questions)
    };
    let entries =
        |chapter| of(chapter).iter().map(move |question| Entry { chapter, question });
    chapters.iter().flat_map(entries).collect()
}

/// The questions of one chapter.
///
/// # Errors
/// A chapter that has none, with those that have some.
pub fn of_chapter<'a>(
    topics: &'a [Topic],
    chapters: &'a [Chapter],
    number: u8,
) -> Result<Vec<Entry<'a>>> {
    let mut entries = all(topics, chapters);
    let mut known: Vec<u8> = entries.iter().map(|entry| entry.chapter.number).collect();
    known.dedup();
    let known = known.iter().map(u8::to_string).collect::<Vec<_>>().join(", ");
    entries.retain(|entry| entry.chapter.number == number);
    ensure!(
        !entries.is_empty(),
        "no question is about chapter {number}; there are some about {known}"
    );
    Ok(entries)
}

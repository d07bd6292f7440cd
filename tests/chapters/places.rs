//! A chapter's place is written once, in SUMMARY.md and the names of its files. All else
//! says it in links: two chapters that change places change these, and nothing more.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use workshop::chapters::{self, Chapter};
use workshop::paths;

/// What is written from the contents by a program, a reader's own, or another's.
const LEFT_OUT: [&str; 6] = [
    "chapters/assets/",
    "target",
    "snapshots",
    "figures/",
    "chapters/mistakes/",
    "axe.min.js",
];
/// Tests with contents of their own.
const OWN_CONTENTS: [&str; 5] = [
    "crates/5-book/catalogue/src/chapters.rs",
    "crates/tools/predict/src/tests.rs",
    "crates/tools/predict/src/tests/played.rs",
    "crates/tools/workshop/src/chapters.rs",
    "tests/chapters/places.rs",
];

/// The texts of this workspace, by their places in it.
pub type Texts = BTreeMap<String, String>;

pub fn texts() -> Texts {
    let root = paths::workspace();
    let mut texts = Texts::new();
    let mut left: Vec<PathBuf> =
        ["README.md", ".github", "chapters", "notebooks", "crates", "tests"]
            .map(|name| root.join(name))
            .into();
    while let Some(path) = left.pop() {
        let place =
            path.strip_prefix(&root).unwrap().to_string_lossy().replace('\\', "/");
        if LEFT_OUT.iter().any(|out| format!("{place}/").contains(out)) {
            continue;
        }
        if path.is_dir() {
            left.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if is_text(&path) {
            texts.insert(place, fs::read_to_string(&path).unwrap());
        }
    }
    texts
}

fn is_text(path: &Path) -> bool {
    let endings = ["md", "ipynb", "rs", "toml", "js", "py", "html", "css", "yml"];
    path.extension().is_some_and(|it| endings.iter().any(|known| it == *known))
}

/// Whether a reader can follow links in it.
fn has_links(place: &str) -> bool {
    place.ends_with(".md") || place.ends_with(".ipynb")
}

/// A link to a chapter: its words, and the chapter's file without the ending.
struct Link<'a> {
    words: &'a str,
    page: &'a str,
    /// Where the words begin.
    at: usize,
}

/// The links to files whose names begin as a chapter's do.
fn links(text: &str) -> impl Iterator<Item = Link<'_>> {
    text.match_indices("](").filter_map(|(end, _)| {
        let target = text[end + 2..].split(')').next()?;
        let page = target.split(".md").next()?.rsplit('/').next()?;
        let at = text[..end].rfind('[')? + 1;
        (target.contains(".md") && is_numbered(page)).then_some(Link {
            words: &text[at..end],
            page,
            at,
        })
    })
}

fn is_numbered(page: &str) -> bool {
    let digits = page.split('-').next().unwrap_or_default();
    digits.len() == 2 && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// The first whole number of some words, and where it stands.
fn number(words: &str) -> Option<(usize, u8)> {
    let at = words.find(|c: char| c.is_ascii_digit())?;
    let digits: String = words[at..].chars().take_while(char::is_ascii_digit).collect();
    Some((at, digits.parse().ok()?))
}

/// What is wrong with where chapters are said to be.
fn problems(texts: &Texts) -> Vec<String> {
    let chapters = chapters::of(&texts["chapters/SUMMARY.md"]);
    let mut problems = Vec::new();
    for (chapter, number) in chapters.iter().zip(1..) {
        let file = format!("chapters/{}.md", chapter.page);
        let begins = format!("{number:02}-");
        if chapter.number != number || !chapter.page.starts_with(&begins) {
            problems.push(format!("SUMMARY.md: {chapter} is the {number}th"));
        }
        if !texts.contains_key(&file) {
            problems.push(format!("SUMMARY.md: no file {file}"));
        }
    }
    for (place, text) in texts {
        if OWN_CONTENTS.contains(&place.as_str()) {
            continue;
        }
        if has_links(place) {
            let wrong = wrong_links(&chapters, text);
            problems.extend(wrong.map(|what| format!("{place}: {what}")));
        }
        problems.extend(named_otherwise(&chapters, place, text));
    }
    problems
}

/// Links whose words say another number than the chapter's, or that lead nowhere.
fn wrong_links(chapters: &[Chapter], text: &str) -> impl Iterator<Item = String> {
    links(text).filter_map(|Link { words, page, .. }| {
        let Some(chapter) = chapters.iter().find(|it| it.page == page) else {
            return Some(format!("[{words}] leads to no chapter: {page}"));
        };
        let said = number(words).filter(|_| words.len() < "chapter 123".len());
        let is_right = said.is_none_or(|(_, said)| said == chapter.number);
        (!is_right).then(|| format!("[{words}] is {chapter}"))
    })
}

/// A chapter's number or file where a program would have to be changed with it, or a number
/// in prose that is no link.
fn named_otherwise(chapters: &[Chapter], place: &str, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut prose = String::new();
    if has_links(place) {
        let mut end = 0;
        for Link { words, at, .. } in links(text) {
            prose += &text[end..at];
            end = at + words.len();
        }
        prose += &text[end..];
    } else {
        prose += text;
        let pages = chapters.iter().map(|it| &it.page);
        let named = pages.filter(|page| text.contains(page.as_str()));
        found.extend(named.map(|page| format!("{place} names {page}")));
    }
    for word in ["chapter ", "Chapter ", "chapters ", "Chapters "] {
        let said = prose.split(word).skip(1);
        let n =
            said.filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit())).count();
        if n > 0 {
            found.push(format!("{place} says {word}and a number {n} times, in no link"));
        }
    }
    found
}

#[test]
fn a_chapters_place_is_said_in_links_alone() {
    let problems = problems(&texts());
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// The same texts with two neighbours in each other's place: SUMMARY.md, the names of
/// their files, and links.
fn swapped(texts: &Texts, first: &Chapter, second: &Chapter) -> Texts {
    let moved =
        |chapter: &Chapter, number: u8| format!("{number:02}-{}", chapter.topic());
    let pages = [
        (&first.page, moved(first, second.number), second.number),
        (&second.page, moved(second, first.number), first.number),
    ];
    let renamed = |text: &str| {
        let marked = text.replace(pages[0].0.as_str(), "\0");
        marked.replace(pages[1].0.as_str(), &pages[1].1).replace('\0', &pages[0].1)
    };
    let relinked = |text: &str| {
        let mut text = text.to_owned();
        let found: Vec<(usize, usize, u8)> = links(&text)
            .filter_map(|Link { words, page, at }| {
                let (_, _, now) = pages.iter().find(|(was, ..)| *was == page)?;
                let (within, said) = number(words)?;
                Some((at + within, said.to_string().len(), *now))
            })
            .collect();
        for (at, len, now) in found.into_iter().rev() {
            text.replace_range(at..at + len, &now.to_string());
        }
        renamed(&text)
    };
    let mut swapped = Texts::new();
    for (place, text) in texts {
        let text = if has_links(place) { relinked(text) } else { text.clone() };
        swapped.insert(renamed(place), text);
    }
    let summary = swapped.get_mut("chapters/SUMMARY.md").unwrap();
    let mut lines: Vec<&str> = summary.lines().collect();
    let line = |topic: &str| {
        let end = format!("-{topic}.md)");
        lines.iter().position(|line| line.ends_with(&end)).expect("a line a chapter")
    };
    let [a, b] = [line(first.topic()), line(second.topic())];
    lines.swap(a, b);
    *summary = lines.join("\n");
    swapped
}

#[test]
fn any_two_neighbours_can_change_places() {
    let chapters = chapters::all().unwrap();
    let mut texts = texts();
    // The others say nothing of chapters, before as after.
    texts.retain(|_, text| {
        text.contains("hapter") || chapters.iter().any(|it| text.contains(&it.page))
    });
    for pair in chapters.windows(2) {
        let swapped = swapped(&texts, &pair[0], &pair[1]);
        let problems = problems(&swapped);
        assert!(problems.is_empty(), "{} and {}: {problems:#?}", pair[0], pair[1]);
        let order = chapters::of(&swapped["chapters/SUMMARY.md"]);
        let at = usize::from(pair[0].number) - 1;
        assert_eq!(order[at].topic(), pair[1].topic());
        assert_eq!(order[at + 1].topic(), pair[0].topic());
    }
}

/// Each of these is found where it is planted.
#[test]
fn a_place_that_is_written_elsewhere_is_found() {
    let texts = texts();
    let chapters = chapters::all().unwrap();
    let Chapter { page, number, .. } = &chapters[4];
    let planted = [
        ("chapters/nalgebra.md", format!("See chapter {number}.")),
        ("chapters/nalgebra.md", format!("[chapter {}]({page}.md)", number + 1)),
        ("chapters/nalgebra.md", "[more](05-nowhere.md)".to_owned()),
        ("crates/5-book/lessons/src/lib.rs", format!("\"{page}\"")),
        ("crates/5-book/lessons/src/lib.rs", format!("// chapter {number}")),
    ];
    for (place, fault) in planted {
        let mut faulty = texts.clone();
        faulty.get_mut(place).unwrap().push_str(&fault);
        assert_eq!(problems(&faulty).len(), 1, "{fault}: {:?}", problems(&faulty));
    }
}

//! The bibliography: each citation leads to its work, each work is cited, and no work is
//! named without a link to it.
//!
//! An entry is `- <a id="ainslie-2023"></a>**Ainslie et al. 2023.** …`: its id, and its label,
//! the name under which the text cites it and a year.

use std::collections::BTreeMap;

use super::places::texts;

const PAGE: &str = "chapters/bibliography.md";
/// What leads to a work.
const LINK: &str = "bibliography.md#";

/// A work: its id, its name and its year.
#[derive(Debug, PartialEq)]
struct Work<'a> {
    id: &'a str,
    name: &'a str,
    year: &'a str,
}

fn works(page: &str) -> Vec<Work<'_>> {
    let of_line = |line| {
        let rest = str::strip_prefix(line, "- <a id=\"")?;
        let (id, rest) = rest.split_once("\"></a>**")?;
        let (name, year) = rest.split_once(".**")?.0.rsplit_once(' ')?;
        Some(Work { id, name, year })
    };
    page.lines().filter_map(of_line).collect()
}

/// A link to a work: what it says, and the work's id.
#[derive(Debug, PartialEq)]
struct Citation<'a> {
    words: &'a str,
    id: &'a str,
}

/// The citations of a text, and the text without them.
fn citations(text: &str) -> (Vec<Citation<'_>>, String) {
    let (mut found, mut left, mut rest) = (Vec::new(), String::new(), text);
    while let Some((before, after)) = rest.split_once("](") {
        let (address, behind) = after.split_once(')').unwrap_or((after, ""));
        match (address.split_once(LINK), before.rfind('[')) {
            (Some((_, id)), Some(at)) => {
                found.push(Citation { words: &before[at + 1..], id });
                left += &before[..at];
            }
            _ => left += before,
        }
        rest = behind;
    }
    (found, left + rest)
}

/// Four digits that begin a year of ours.
fn year(words: &str) -> Option<&str> {
    let is_year =
        |it: &&str| it.len() == 4 && (it.starts_with("19") || it.starts_with("20"));
    words.split(|c: char| !c.is_ascii_digit()).find(is_year)
}

/// What is wrong with the citations of a text.
fn problems(text: &str, works: &[Work]) -> Vec<String> {
    let (citations, left) = citations(text);
    let wrong = citations.iter().filter_map(|Citation { words, id }| {
        let Some(work) = works.iter().find(|work| work.id == *id) else {
            return Some(format!("[{words}] leads to no work: {id}"));
        };
        let another = year(words).is_some_and(|said| said != work.year);
        another.then(|| format!("[{words}] leads to a work of {}", work.year))
    });
    let left = left.split_whitespace().collect::<Vec<_>>().join(" ");
    let named = works.iter().filter(|work| {
        let is_list = work.name.contains(' ');
        let cited = [format!("{} {}", work.name, work.year), format!("{} (", work.name)];
        if is_list {
            left.contains(work.name)
        } else {
            cited.iter().any(|it| left.contains(it))
        }
    });
    let named = named.map(|work| format!("{} {} without a link", work.name, work.year));
    let others = left.matches(" et al.").map(|_| "“et al.” without a link".to_owned());
    wrong.chain(named).chain(others).collect()
}

/// The pages of the book that people write, without the bibliography.
fn pages() -> BTreeMap<String, String> {
    let mut texts = texts();
    texts.retain(|place, _| {
        place.starts_with("chapters/") && place.ends_with(".md") && place != PAGE
    });
    texts
}

#[test]
fn each_citation_leads_to_its_work_and_each_work_is_cited() {
    let page = texts().remove(PAGE).unwrap();
    let (works, pages) = (works(&page), pages());
    println!("{} works", works.len());
    assert_eq!(works.len(), page.lines().filter(|line| line.starts_with("- ")).count());
    let labels: Vec<String> =
        works.iter().map(|work| format!("{} {}", work.name, work.year)).collect();
    assert!(labels.is_sorted_by_key(|label| label.to_lowercase()), "{labels:#?}");

    let mut found = Vec::new();
    for (place, text) in &pages {
        found.extend(
            problems(text, &works).into_iter().map(|it| format!("{place}: {it}")),
        );
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
    let cited = |work: &&Work| {
        let link = format!("{LINK}{})", work.id);
        !pages.values().any(|text| text.contains(&link))
    };
    let idle: Vec<&Work> = works.iter().filter(cited).collect();
    assert!(idle.is_empty(), "cited nowhere: {idle:#?}");
}

#[test]
fn planted_faults_of_citations_are_found() {
    let page = "- <a id=\"a-2019\"></a>**Ada et al. 2019.** Ada, Bo: *It*.\n\
                - <a id=\"bo-2020\"></a>**Bo 2020.** Bo: *More*.";
    let works = works(page);
    assert_eq!(works[0], Work { id: "a-2019", name: "Ada et al.", year: "2019" });
    let fine = "([Ada et al. 2019](bibliography.md#a-2019); [this](01.md); \
                [that](../bibliography.md#bo-2020) of Bo)";
    assert_eq!(problems(fine, &works), [] as [String; 0]);
    for (text, n) in [
        ("as Ada et al. do", 2),
        ("(Cy et al. 2019)", 1),
        ("(Bo 2020)", 1),
        ("Bo (2020)", 1),
        ("[Ada et al. 2019](bibliography.md#a-2020)", 1),
        ("[Bo 2019](bibliography.md#bo-2020)", 1),
    ] {
        assert_eq!(
            problems(text, &works).len(),
            n,
            "{text}: {:?}",
            problems(text, &works)
        );
    }
}

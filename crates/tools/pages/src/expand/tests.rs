use super::*;
use crate::figures::Sample;
use std::fs;

fn expanded(text: &str) -> Expanded {
    let folder = tempfile::tempdir().unwrap();
    let chapters = folder.path().join("chapters");
    fs::create_dir(&chapters).unwrap();
    let snap = "---\nsource: x\n---\nw_o: 262,144\nh: 8\n";
    let snapshots = folder.path().join("tests");
    fs::create_dir(&snapshots).unwrap();
    fs::write(snapshots.join("x__a.snap"), snap).unwrap();
    fs::write(snapshots.join("x__ticks.snap"), "```\n").unwrap();
    fs::write(folder.path().join("a.rs"), "// ANCHOR: f\nfn f() {}\n// ANCHOR_END: f\n")
        .unwrap();
    Expander::new(&chapters, &Sample).unwrap().expand(Path::new("01-a.md"), text)
}

/// Without what every page has at its end.
fn body(chapter: &Expanded) -> &str {
    chapter.text.split("\n\n<div hidden").next().unwrap_or_default()
}

/// With `/` on every system.
fn portable(problem: &Problem) -> String {
    problem.to_string().replace('\\', "/")
}

#[test]
fn values_stand_in_prose_code_and_formulas() {
    let chapter = expanded(
        "{{#values a}}\nIt has {{#value w_o}}, `{{#value h}}`, $n = {{#value w_o}}$.",
    );
    assert_eq!(chapter.problems, []);
    assert!(chapter.text.contains("It has 262,144, `8`, <math>"), "{}", chapter.text);
    assert!(chapter.text.contains("<mn>144</mn>"), "{}", chapter.text);
}

#[test]
fn as_text_alone_formulas_are_latex_and_figures_say_what_they_show() {
    let text =
        "{{#values a}}\n$n = {{#value h}}$, {{#value h}} heads:\n\n{{#figure bars}}\n";
    let Expanded { plain, problems, .. } = expanded(text);
    assert_eq!(problems, []);
    assert_eq!(plain, "\n$n = 8$, 8 heads:\n\n> **Figure: Bars.** Two bars.\n");
}

#[test]
fn a_snapshot_keeps_the_indent_of_its_list_and_outlasts_fences() {
    let chapter = expanded("- look:\n\n  {{#snapshot a}}\n\n{{#snapshot ticks}}");
    assert!(chapter.text.contains("  ```text\n  w_o: 262,144\n  h: 8\n  ```"));
    assert!(chapter.text.contains("````text\n```\n````"), "{}", chapter.text);
}

#[test]
fn rows_of_a_snapshot_are_a_table_and_the_lines_around_them_a_block() {
    let shown = tables_and_text("q: 2\n\n| a | b |\n| - | - |\n| 1 | 2 |\nsum 3", "  ");
    let table = "| a | b |\n  | - | - |\n  | 1 | 2 |";
    assert_eq!(
        shown,
        format!("```text\n  q: 2\n  ```\n\n  {table}\n\n  ```text\n  sum 3\n  ```")
    );
}

#[test]
fn figures_have_ids_and_the_page_its_assets() {
    let chapter = expanded("{{#figure bars}}\n\n{{#figure bars head=3}}\n");
    let [first, second] = ["id=\"figure-01-a-1\">", "id=\"figure-01-a-2\">"];
    let (_, figures) = chapter.text.split_once(first).unwrap();
    let (all, third) = figures.split_once(second).unwrap();
    assert!(all.contains("\nall<") && third.contains("\n3<"), "{}", chapter.text);
    assert_eq!(chapter.text.matches("data-figure-scripts").count(), 1);
    assert!(!expanded("no figure").text.contains("figures.js"));
}

#[test]
fn a_figure_that_is_drawn_first_has_its_chapter_and_its_mark() {
    let chapter = expanded("{{#draw bars head=3 | \"4\" × d}}\n");
    assert_eq!(chapter.problems, []);
    let place = "<div class=\"draw\" data-draw=\"a/bars-head-3\" data-mark=\"&quot;4&quot; × d\">";
    assert!(chapter.text.contains(place), "{}", chapter.text);
    assert!(
        chapter.text.contains("id=\"figure-01-a-1\">")
            && chapter.text.contains("\n3</figure>"),
        "{}",
        chapter.text
    );
}

#[test]
fn a_strip_of_the_line_is_a_link_to_the_chapter_that_shows_it_in_full() {
    let folder = tempfile::tempdir().unwrap();
    let expand = |text: &str| {
        let book = Expander::new(folder.path(), &Sample).unwrap();
        book.expand(Path::new("01-a.md"), text)
    };
    let alone = expand("# A\n\n{{#line scores  mask}}\n");
    assert_eq!(alone.problems, []);
    assert!(alone.text.contains("<div class=\"figure-diagram\">scores-mask</div>"));
    assert!(alone.text.contains("data-figure-scripts") && !alone.text.contains("<a "));
    fs::write(folder.path().join("04-b.md"), "{{#figure line}}").unwrap();
    let linked = expand("{{#line mask}}").text;
    assert!(linked.contains("<a href=\"04-b.html#live-line\""), "{linked}");
    let beside = expand("so: {{#line mask}}").problems;
    assert!(beside[0].to_string().contains("line of its own"));
}

#[test]
fn a_place_for_a_readers_own_sentence_is_a_figure_too() {
    let chapter = expanded("so:\n\n{{#own-sentence}}\n");
    assert_eq!(chapter.problems, []);
    assert!(chapter.text.contains("id=\"figure-01-a-1\""), "{}", chapter.text);
    assert!(chapter.text.contains("data-figure-scripts"), "{}", chapter.text);
    let beside = expanded("so: {{#own-sentence}}").problems;
    assert!(beside[0].to_string().contains("line of its own"));
}

#[test]
fn what_mdbook_does_itself_is_left_as_it_is() {
    let text = "{{#title T}}\n\\{{#value x}}";
    let chapter = expanded(text);
    assert_eq!((body(&chapter), &chapter.problems[..]), (text, &[][..]));
}

#[test]
fn code_stands_where_it_is_included() {
    let chapter = expanded("```rust\n{{#include ../a.rs:f}}\n```");
    assert_eq!(body(&chapter), "```rust\nfn f() {}\n```");
}

#[test]
fn every_fault_is_told_with_its_line() {
    let faults = [
        ("{{#include ../a.rs:g}}", "the anchor g starts 0 times"),
        ("{{#include ../b.rs}}", "cannot include ../b.rs"),
        ("{{#snapshot b}}", "no snapshot b"),
        ("see {{#snapshot a}}", "line of its own"),
        ("{{#values b}}", "no snapshot b"),
        ("{{#value w_o}}", "name a snapshot first"),
        ("{{#figure lines}}", "no figure lines"),
        ("{{#figure broken}}", "no figure broken"),
        ("$\\frac{1}$", "bad formula"),
        ("$a {{#value b}}$", "no value b"),
        ("$a {{#values a.snap}} b$", "a formula can hold no {{#values}}"),
        ("{{#playground ../a.rs}}", "not known"),
        ("{{#predict}}", "`cargo learn figures` makes it"),
        ("{{#draw bars}}", "name | mark"),
        ("{{#draw lines | a}}", "no figure lines"),
        ("{{#value w_o}\n", "no }} on the line"),
    ];
    for (text, said) in faults {
        let problems = expanded(&format!("one\n\n{text}")).problems;
        let told = problems.iter().map(portable).collect::<String>();
        assert!(told.starts_with("chapters/01-a.md:3: "), "{text}: {told}");
        assert!(told.contains(said), "{text}: {told}");
    }
}

#[test]
fn two_edits_of_the_same_text_are_a_problem_and_no_panic() {
    let folder = tempfile::tempdir().unwrap();
    let book = Expander::new(folder.path(), &Sample).unwrap();
    let mut chapter = Chapter {
        book: &book,
        file: Path::new("01-a.md"),
        text: "one\n$a {{#values b}}$ c",
        values: Values::default(),
        plain: Vec::new(),
        edits: Vec::new(),
        problems: Vec::new(),
        figures: 0,
    };
    chapter.edit(7..20, Ok(Some(String::new())));
    chapter.edit(4..21, Ok(Some("<math>".into())));
    let chapter = chapter.finish();
    assert_eq!(body(&chapter), "one\n<math> c");
    let told = portable(&chapter.problems[0]);
    assert_eq!(told, "chapters/01-a.md:2: a formula and a {{#…}} overlap");
}

/// The real book: every page, and every page as text.
#[test]
fn a_book_without_solutions_shows_none() {
    let chapters = workshop::paths::workspace().join("chapters");
    let figures = crate::FigureFolder::here();
    let mut expander = Expander::new(&chapters, &figures).unwrap();
    let mut pages = Vec::new();
    for path in crate::check::files(&chapters, ".md").unwrap() {
        let file = path.strip_prefix(&chapters).unwrap().to_path_buf();
        let is_page = ["SUMMARY.md", "teachers", "solutions"]
            .iter()
            .all(|it| !file.starts_with(it));
        if is_page {
            pages.push((file, fs::read_to_string(&path).unwrap()));
        }
    }
    let set = catalogue::all().unwrap();
    let shows = |expander: &Expander, withheld: &Withheld| -> Vec<String> {
        let shown = pages.iter().zip(expander.expand_all(&pages)).flat_map(
            |((file, _), page)| {
                let runs = [page.text, page.plain].map(|text| withheld.shown_by(&text));
                runs.into_iter()
                    .flatten()
                    .map(|run| format!("{}: {run:?}", file.display()))
            },
        );
        shown.collect()
    };
    let usual = shows(&expander, &Withheld::of(set));
    assert!(usual.len() > 10, "chapters explain what exercises ask for: {usual:?}");
    expander.withheld = Some(Withheld::of(set));
    let text: String =
        expander.expand_all(&pages).into_iter().map(|page| page.text).collect();
    assert!(!text.contains("](solutions/") && !text.contains("/solutions/"));
    assert!(
        !text.contains("A solution]") && !text.contains("<details class=\"teachers\"")
    );
    println!("{} places withheld", text.matches("// … (exercise ").count());
    let left = shows(&expander, &Withheld::of(set));
    assert!(left.is_empty(), "{}", left.join("\n"));
}

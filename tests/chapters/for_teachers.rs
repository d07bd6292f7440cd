//! What the page for teachers and the folds of chapters promise: minutes that add up, figures
//! that can be set as a link says, and a workflow whose commands there are.

use std::fs;

use lessons::gallery;
use workshop::paths;

fn read(file: &str) -> String {
    fs::read_to_string(paths::workspace().join(file)).unwrap()
}

/// The minutes of each table below a heading of the page.
fn minutes(page: &str, heading: &str) -> usize {
    let (_, rest) = page.split_once(&format!("# {heading}\n")).expect(heading);
    let section = rest.split("\n#").next().unwrap();
    let rows =
        section.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next());
    rows.filter_map(|cell| cell.parse::<usize>().ok()).sum()
}

#[test]
fn the_plans_take_the_minutes_that_they_name() {
    let page = read("chapters/for-teachers.md");
    assert_eq!(minutes(&page, "A plan for 90 minutes"), 90);
    assert!(page.contains("\nSix hours a day, breaks included."));
    for day in [
        "The first day: from one head to a layer",
        "The second day: what a layer learns, and what it is for",
    ] {
        assert_eq!(minutes(&page, day), 6 * 60, "{day}");
    }
}

/// The settings of a link such as `?blend.pilot=0.5&blend.paris=0.5#live-blend`, by figure.
fn settings(link: &str) -> Option<(String, Vec<(String, String)>)> {
    let (query, figure) = link.split_once('?')?.1.split_once("#live-")?;
    let setting = |part: &str| {
        let (key, value) = part.split_once('=').expect("key=value");
        let key = key.strip_prefix(&format!("{figure}.")).expect("a key of the figure");
        (key.to_owned(), value.replace('+', " "))
    };
    Some((figure.to_owned(), query.split('&').map(setting).collect()))
}

/// The links of a text that set a figure, each with the page that it is on.
fn links<'a>(text: &'a str, own: &str) -> Vec<(String, &'a str)> {
    let links = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let is_set = |link: &&str| link.contains("#live-");
    let page = |link: &'a str| match link.split('?').next().unwrap() {
        "" => (own.to_owned(), link),
        page => (page.to_owned(), link),
    };
    links.filter(is_set).map(page).collect()
}

#[test]
fn every_link_to_a_live_figure_sets_what_the_figure_has() {
    let mut all = links(&read("chapters/for-teachers.md"), "")
        .into_iter()
        .map(|(page, link)| (page, link.to_owned()))
        .collect::<Vec<_>>();
    for chapter in workshop::chapters::all().unwrap() {
        let text = read(&format!("chapters/teachers/{}.md", chapter.topic()));
        let own = links(&text, &format!("{}.md", chapter.page));
        assert_eq!(own.len(), 1, "{chapter} shows one figure");
        all.extend(own.into_iter().map(|(page, link)| (page, link.to_owned())));
    }
    for (page, link) in all {
        let (name, set) =
            settings(&link).unwrap_or_else(|| panic!("no settings: {link}"));
        let text = read(&format!("chapters/{page}"));
        assert!(
            text.contains(&format!("{{{{#figure {name}}}}}")),
            "{page} has no {name}"
        );
        let live = gallery::find(&name).unwrap();
        let known: Vec<_> = live.controls().iter().map(|it| it.to_json()).collect();
        for (key, value) in &set {
            let control = known.iter().find(|it| it["key"] == **key);
            let control = control.unwrap_or_else(|| panic!("{link}: no setting {key}"));
            let options = control["options"].as_array();
            let is_option =
                options.is_none_or(|all| all.iter().any(|it| it[0] == **value));
            assert!(is_option, "{link}: {key} cannot be {value}");
            assert_ne!(control["first"], **value, "{link}: {key} is {value} anyway");
        }
        // A figure of trained weights draws where they are; a training begins by hand.
        if live.weights().is_none() && !live.is_trained() {
            let set: Vec<_> =
                set.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
            live.draw(&set).unwrap_or_else(|error| panic!("{link}: {error:#}"));
        }
    }
}

#[test]
fn the_workflow_for_a_classroom_checks_exercises_that_there_are_and_reports_each() {
    let workflow = read("tests/data/classroom/classroom.yml");
    assert!(!workflow.contains('\t'), "YAML has no tabs");
    let after = |key: &str| -> Vec<String> {
        let values = workflow.lines().filter_map(|line| line.trim().strip_prefix(key));
        values.map(|value| value.trim().to_owned()).collect()
    };
    let ids = after("id: ");
    for (id, command) in ids.iter().zip(after("command: ")) {
        let exercise = command.strip_prefix("cargo learn check ").expect("a check");
        assert_eq!(id, &catalogue::asked(exercise).unwrap().name);
        let result = format!(
            "{}_RESULTS: ${{{{ steps.{id}.outputs.result }}}}",
            id.to_uppercase()
        );
        assert!(workflow.contains(&result), "{result}");
    }
    assert_eq!(after("runners: "), [ids.join(",")]);
    assert_eq!(after("max-score: ").len(), ids.len());
}

//! Finds what a chapter asks for: `{{#name rest}}`.

use std::ops::Range;

/// One request. `{{#figure maps head=3}}` has the name `figure` and the rest `maps head=3`.
#[derive(Debug, PartialEq, Eq)]
pub struct Directive<'a> {
    /// Where it stands, braces included.
    pub range: Range<usize>,
    /// What is asked for.
    pub name: &'a str,
    /// The words after the name, trimmed.
    pub rest: &'a str,
}

/// Every directive in order. One with no `}}` on its line is given with the name `""`,
/// so that it is refused and not passed over. `\{{#` is text, as in mdBook.
pub fn find(text: &str) -> Vec<Directive<'_>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = text[at..].find("{{").map(|offset| at + offset) {
        let inner = start + 2;
        at = inner;
        let asks = text[inner..].trim_start_matches(' ').starts_with('#');
        if !asks || text[..start].ends_with('\\') {
            continue;
        }
        let line =
            &text[inner..][..text[inner..].find('\n').unwrap_or(text.len() - inner)];
        let Some(length) = line.find("}}") else {
            found.push(Directive {
                range: start..inner + line.len(),
                name: "",
                rest: line,
            });
            continue;
        };
        let words = line[..length].trim().trim_start_matches('#');
        let (name, rest) = words.split_once(char::is_whitespace).unwrap_or((words, ""));
        at = inner + length + 2;
        found.push(Directive { range: start..at, name, rest: rest.trim() });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::find;

    #[test]
    fn names_and_words_are_found_in_order() {
        let found = find("a {{#value x}} b\n{{#figure maps head=3}}\n{{ #include f:g }}");
        let parts: Vec<_> = found.iter().map(|d| (d.name, d.rest)).collect();
        assert_eq!(
            parts,
            [("value", "x"), ("figure", "maps head=3"), ("include", "f:g")]
        );
        assert_eq!(found[0].range, 2..14);
    }

    #[test]
    fn an_escaped_one_and_plain_braces_are_text() {
        assert_eq!(find(r"\{{#value x}} and {{ x }} and ${{a}}$"), []);
    }

    #[test]
    fn one_that_is_not_closed_on_its_line_has_no_name() {
        let found = find("{{#value x\n}}");
        assert_eq!((found.len(), found[0].name), (1, ""));
    }
}

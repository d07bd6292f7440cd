//! One file of Rust as far as a search for circles reads it: words and marks, without
//! comments, strings and what is compiled for tests alone.

/// The tokens of a file: words, `::` and single marks.
pub fn tokens(source: &str) -> Vec<String> {
    without_tests(&lexed(source))
}

fn lexed(source: &str) -> Vec<String> {
    let chars: Vec<char> = source.chars().collect();
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        let rest = &chars[at..];
        let is_word = |c: &&char| c.is_alphanumeric() || **c == '_';
        at += match rest {
            ['/', '/', ..] => rest.iter().take_while(|&&c| c != '\n').count(),
            ['/', '*', ..] => length_to(rest, 2, "*/"),
            ['r', '"' | '#', ..] if raw(rest).is_some() => raw(rest).unwrap_or(1),
            ['"', ..] => quoted(rest),
            ['\'', '\\', ..] => length_to(rest, 3, "'"),
            ['\'', _, '\'', ..] => 3,
            ['\'', ..] => 1 + rest[1..].iter().take_while(is_word).count(), // a lifetime
            [':', ':', ..] => {
                tokens.push("::".to_owned());
                2
            }
            [c, ..] if is_word(&c) => {
                let n = rest.iter().take_while(is_word).count();
                tokens.push(rest[..n].iter().collect());
                n
            }
            [c, ..] => {
                if !c.is_whitespace() {
                    tokens.push(c.to_string());
                }
                1
            }
            [] => 1,
        };
    }
    tokens
}

/// How far it is to the end of the first `end` from `from` on.
fn length_to(rest: &[char], from: usize, end: &str) -> usize {
    let end: Vec<char> = end.chars().collect();
    let found = rest[from..].windows(end.len()).position(|window| window == end);
    found.map_or(rest.len(), |n| from + n + end.len())
}

fn quoted(rest: &[char]) -> usize {
    let mut at = 1;
    while at < rest.len() && rest[at] != '"' {
        at += if rest[at] == '\\' { 2 } else { 1 };
    }
    at + 1
}

/// The length of `r"…"` or `r#"…"#`, where one begins here.
fn raw(rest: &[char]) -> Option<usize> {
    let hashes = rest[1..].iter().take_while(|&&c| c == '#').count();
    let is_raw = rest.get(1 + hashes) == Some(&'"');
    let end = format!("\"{}", "#".repeat(hashes));
    is_raw.then(|| length_to(rest, 2 + hashes, &end))
}

/// Without the items under `#[cfg(test)]`.
fn without_tests(tokens: &[String]) -> Vec<String> {
    const CFG_TEST: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];
    let mut kept = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let here = &tokens[at..];
        if here.len() >= 7 && here.iter().zip(CFG_TEST).all(|(a, b)| a == b) {
            at += 7 + item(&tokens[at + 7..]);
        } else {
            kept.push(tokens[at].clone());
            at += 1;
        }
    }
    kept
}

/// How many tokens an item has: up to its `;` or the end of its block.
fn item(tokens: &[String]) -> usize {
    let mut depth = 0usize;
    for (n, token) in tokens.iter().enumerate() {
        match token.as_str() {
            "{" | "(" | "[" => depth += 1,
            ")" | "]" => depth = depth.saturating_sub(1),
            "}" if depth <= 1 => return n + 1,
            "}" => depth -= 1,
            ";" if depth == 0 => return n + 1,
            _ => {}
        }
    }
    tokens.len()
}

/// A name that a `use` brings into a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Import {
    /// By what it is known there; `*` for all names of a module.
    pub name: String,
    /// As written: `super`, `cases`, `layer`.
    pub path: Vec<String>,
    /// Whether it is passed on: `pub use`.
    pub passed_on: bool,
}

/// What a file says of modules and names.
#[derive(Debug, Default)]
pub struct Source {
    /// Modules that are files of their own.
    pub modules: Vec<String>,
    pub imports: Vec<Import>,
    /// Paths of two words or more in the code, as written.
    pub paths: Vec<Vec<String>>,
    /// All other words.
    pub words: Vec<String>,
}

impl Source {
    pub fn new(text: &str) -> Self {
        let tokens = tokens(text);
        let mut source = Self::default();
        let mut at = 0;
        while at < tokens.len() {
            let token = tokens[at].as_str();
            let is_item = at == 0 || tokens[at - 1] != "::";
            if token == "mod" && tokens.get(at + 2).is_some_and(|next| next == ";") {
                source.modules.push(tokens[at + 1].clone());
                at += 3;
            } else if token == "use" && is_item {
                let passed_on = at > 0 && ["pub", ")"].contains(&tokens[at - 1].as_str());
                at += 1;
                source.import(&tokens, &mut at, &[], passed_on);
            } else if is_word(token) {
                let mut path = vec![token.to_owned()];
                at += 1;
                while at + 1 < tokens.len()
                    && tokens[at] == "::"
                    && is_word(&tokens[at + 1])
                {
                    path.push(tokens[at + 1].clone());
                    at += 2;
                }
                match path.len() {
                    1 => source.words.append(&mut path),
                    _ => source.paths.push(path),
                }
            } else {
                at += 1;
            }
        }
        source
    }

    /// One tree of a `use`, from `at` on to the mark that ends it.
    fn import(&mut self, tokens: &[String], at: &mut usize, above: &[String], out: bool) {
        let mut path = above.to_vec();
        while *at < tokens.len() {
            match tokens[*at].as_str() {
                "{" => {
                    while !["}", ";"].contains(&tokens[*at].as_str()) {
                        *at += 1;
                        self.import(tokens, at, &path, out);
                    }
                    *at += 1;
                    return;
                }
                "::" => *at += 1,
                "," | "}" | ";" => break,
                "as" => {
                    let name = tokens[*at + 1].clone();
                    self.imports.push(Import { name, path, passed_on: out });
                    *at += 2;
                    return;
                }
                word => {
                    path.push(word.to_owned());
                    *at += 1;
                }
            }
        }
        if path.last().is_some_and(|last| last == "self") {
            path.pop();
        }
        if path.len() > above.len() || !path.is_empty() && path == above {
            let name = path.last().cloned().unwrap_or_default();
            self.imports.push(Import { name, path, passed_on: out });
        }
    }
}

fn is_word(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

#[test]
fn what_a_file_says_is_read() {
    let source = Source::new(
        "//! use crate::comment;\nmod a;\npub mod b;\n#[cfg(test)]\nmod tests;\n\
         use super::{c::{self, D as E}, f::*};\npub use b::G;\npub(super) use self::a::H;\n\
         fn i<'a>(s: &'a str) -> char { a::j(\"use crate::text\", 'x', '\\''); crate::k::L }\n\
         #[cfg(test)]\nmod more { use crate::m; }\nfn n() { r#\"use crate::o\"# }",
    );
    let import = |name: &str, path: &str, passed_on| {
        let path = path.split("::").map(str::to_owned).collect();
        Import { name: name.to_owned(), path, passed_on }
    };
    assert_eq!(source.modules, ["a", "b"]);
    assert_eq!(
        source.imports,
        [
            import("c", "super::c", false),
            import("E", "super::c::D", false),
            import("*", "super::f::*", false),
            import("G", "b::G", true),
            import("H", "self::a::H", true),
        ]
    );
    assert_eq!(source.paths, [vec!["a", "j"], vec!["crate", "k", "L"]]);
}

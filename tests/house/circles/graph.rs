//! The files of a crate and what each uses of the others.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::source::Source;

/// A module's path from the root of its crate.
type Module = Vec<String>;

/// A crate's files by their modules.
pub struct Graph(BTreeMap<Module, Source>);

impl Graph {
    /// From the crate's root file on.
    pub fn read(root: &Path, read: impl Fn(&Path) -> Option<String>) -> Self {
        let mut files = BTreeMap::new();
        let folder = root.parent().expect("a file lies in a folder").to_owned();
        let mut open = vec![(Module::new(), vec![root.to_owned()], folder)];
        while let Some((module, paths, folder)) = open.pop() {
            let Some(text) = paths.iter().find_map(|path| read(path)) else {
                continue; // `#[path]`, or generated
            };
            let source = Source::new(&text);
            for name in &source.modules {
                let own = folder.join(name);
                let child = module.iter().chain([name]).cloned().collect();
                open.push((
                    child,
                    vec![own.with_extension("rs"), own.join("mod.rs")],
                    own,
                ));
            }
            files.insert(module, source);
        }
        Self(files)
    }

    /// The module in which a name is defined, where that is in this crate. A path begins
    /// as it is written in `from`.
    fn defined(&self, from: &Module, path: &[String], depth: usize) -> Option<Module> {
        let (first, rest) = path.split_first()?;
        if depth > 20 {
            return None; // two globs of each other
        }
        match first.as_str() {
            "crate" => return self.within(&Module::new(), rest, depth),
            "self" => return self.within(from, rest, depth),
            "super" => {
                let above = from.split_last()?.1.to_vec();
                // `super::super`, where the first may be all that is left.
                return match rest.first().map(String::as_str) {
                    Some("super") => self.defined(&above, rest, depth),
                    _ => self.within(&above, rest, depth),
                };
            }
            _ => {}
        }
        let is_known = self.child(from, first).is_some()
            || self.0[from].imports.iter().any(|import| import.name == *first);
        if is_known { self.within(from, path, depth) } else { None }
    }

    fn child(&self, module: &Module, name: &str) -> Option<Module> {
        let child: Module = module.iter().cloned().chain([name.to_owned()]).collect();
        self.0.contains_key(&child).then_some(child)
    }

    /// The module that defines what `path` leads to, from the inside of `module`.
    fn within(&self, module: &Module, path: &[String], depth: usize) -> Option<Module> {
        let Some((name, rest)) = path.split_first() else { return Some(module.clone()) };
        if let Some(child) = self.child(module, name) {
            return self.within(&child, rest, depth);
        }
        let imports = &self.0[module].imports;
        if let Some(import) = imports.iter().find(|import| import.name == *name) {
            let path: Vec<String> = import.path.iter().chain(rest).cloned().collect();
            return self.defined(module, &path, depth + 1);
        }
        Some(module.clone())
    }

    /// What each file uses of which other, with one of the names.
    fn arrows(&self) -> BTreeMap<(&Module, Module), String> {
        let mut arrows = BTreeMap::new();
        for (module, source) in &self.0 {
            let is_used = |name: &String| {
                source.words.contains(name) || source.paths.iter().any(|p| p[0] == *name)
            };
            let imported = source.imports.iter().filter(|import| {
                // A module's name alone is no use of what is in it.
                (!import.passed_on || is_used(&import.name))
                    && !self.is_module(module, import)
            });
            let paths = imported.map(|import| &import.path).chain(&source.paths);
            for path in paths {
                // A module is a part of those above it.
                let is_other = |to: &Module| !module.starts_with(to);
                if let Some(to) = self.defined(module, path, 0).filter(is_other) {
                    let name = path.last().cloned().unwrap_or_default();
                    arrows.entry((module, to)).or_insert(name);
                }
            }
        }
        arrows
    }

    fn is_module(&self, from: &Module, import: &super::source::Import) -> bool {
        let (last, above) = import.path.split_last().expect("an import has a path");
        let of_above = self.defined(from, above, 0);
        of_above.is_some_and(|above| self.child(&above, last).is_some())
    }

    /// Each group of files that reach each other, as one line of who uses whom.
    pub fn circles(&self) -> Vec<String> {
        let arrows = self.arrows();
        let reached = |from: &Module| {
            let mut seen = BTreeSet::new();
            let mut open = vec![from];
            while let Some(at) = open.pop() {
                let next =
                    arrows.keys().filter(|(user, _)| *user == at).map(|(_, to)| to);
                open.extend(next.filter(|to| seen.insert((*to).clone())));
            }
            seen
        };
        let all: BTreeMap<&Module, BTreeSet<Module>> =
            self.0.keys().map(|module| (module, reached(module))).collect();
        let mut circles = BTreeSet::new();
        for (module, reach) in &all {
            let group: BTreeSet<&Module> =
                reach.iter().filter(|other| all[other].contains(*module)).collect();
            let inside = |m: &Module| group.contains(m);
            let lines =
                arrows.iter().filter(|((user, to), _)| inside(user) && inside(to));
            let path = |module: &Module| module.join("::");
            let lines = lines.map(|((user, to), name)| {
                format!("{} uses {} ({name})", path(user), path(to))
            });
            let lines: Vec<String> = lines.collect();
            if !lines.is_empty() {
                circles.insert(lines.join(", "));
            }
        }
        circles.into_iter().collect()
    }
}

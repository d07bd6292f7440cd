//! What a file and its reader say, and what neither says.

use super::Files;
use super::settings::Meant;

/// How files are read, in lines.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Notes {
    /// Who says what was meant, and what.
    said: Vec<(&'static str, String)>,
    /// Each tensor that is read: its name, its shape in parentheses, and as what.
    tensors: Vec<String>,
    /// The same of the parameters.
    parameters: Vec<String>,
    /// What nothing says.
    pub assumed: Vec<String>,
}

impl Files<'_> {
    /// A tensor that is read.
    pub fn note(&self, line: String) {
        self.notes.borrow_mut().tensors.push(line);
    }

    /// A parameter that is read.
    pub fn parameter(&self, line: String) {
        self.notes.borrow_mut().parameters.push(line);
    }

    /// What was meant, and who says so.
    pub fn say(&self, by: &'static str, words: impl Into<String>) {
        self.notes.borrow_mut().said.push((by, words.into()));
    }

    /// What nothing says, once.
    pub fn assume(&self, line: impl Into<String>) {
        let (line, assumed) = (line.into(), &mut self.notes.borrow_mut().assumed);
        if !assumed.contains(&line) {
            assumed.push(line);
        }
    }

    /// What somebody says, or what is assumed where nobody does; both in words.
    pub fn choice<T: Copy, W: Into<String>>(
        &self,
        choice: Meant<T>,
        otherwise: T,
        words: impl Fn(T) -> W,
    ) -> T {
        match choice {
            Some((chosen, by)) => self.say(by, words(chosen)),
            None => self.assume(words(otherwise)),
        }
        choice.map_or(otherwise, |(chosen, _)| chosen)
    }
}

impl Notes {
    /// What was meant, a line for each who says something, and then each tensor.
    pub fn given(&self) -> Vec<String> {
        let mut lines: Vec<(&str, String)> = Vec::new();
        for (by, words) in &self.said {
            match lines.iter_mut().find(|(of, _)| of == by) {
                Some((_, line)) => *line += &format!(", {words}"),
                None => lines.push((by, format!("{by}: {words}"))),
            }
        }
        let said = lines.into_iter().map(|(_, line)| line);
        said.chain(self.tensors.clone()).chain(self.parameters.clone()).collect()
    }
}

/// So many heads, in words.
pub fn heads(n: usize, of_keys: usize) -> String {
    let heads = |n| if n == 1 { "1 head".to_string() } else { format!("{n} heads") };
    match of_keys == n {
        true => heads(n),
        false => format!("{} on {of_keys} of keys", heads(n)),
    }
}

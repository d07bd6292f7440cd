//! A sheet as the text of its file.

use std::fmt::Write;

use super::{Elsewhere, Sheet};
use crate::Section;

impl Sheet {
    /// The file of a sheet that is handed out: no answer and no edit stands in it.
    pub fn handed_out_text(&self) -> String {
        let section = |it: &Section| format!("{} / {}", it.topic, it.heading);
        let elsewhere = match &self.elsewhere {
            Elsewhere::Function(text) => format!("Elsewhere: {text}"),
            Elsewhere::RustAlone(why) => format!("Rust alone: {why}"),
        };
        let handed_out = self.handed_out.as_deref().unwrap_or_default();
        let minutes = self.minutes.unwrap_or_default();
        let Self { title, begin, print, passed, .. } = self;
        let mut text = format!(
            "# {title}\nHanded out: {handed_out}\nMinutes: {minutes}\nRead: {}\nBegin: {begin}\nPrint: {print}\n\
             Passed: {passed}\n{elsewhere}\n\n## Hints\n",
            section(&self.read)
        );
        // Writing to a String cannot fail.
        for (hint, step) in self.hints.iter().zip(1..) {
            let _ = writeln!(text, "{step}. {hint}");
        }
        text += "\n## Mistakes\n";
        for it in &self.mistakes {
            let _ = writeln!(
                text,
                "### {} {{#{}}}\n{}\nLooks right: {}\nRead: {}\n",
                it.name,
                it.id,
                it.does,
                it.looks_right,
                section(&it.read)
            );
        }
        text += "## What shows it\n";
        for it in &self.shown_by {
            let _ = writeln!(text, "### {}\n{}\n", it.what, it.mistakes.join(" "));
        }
        text
    }
}

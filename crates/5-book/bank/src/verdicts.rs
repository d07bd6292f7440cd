//! What the check says of each mistake, as a person reads it in a diff: the verdict, and the
//! first difference. What else a message says stands in the sheet.

use std::fs;
use std::path::Path;

use catalogue::Exercise;
use exercises::{Numbers, Verdict, message, verdict};

use crate::{Role, Tried};

/// A line or two for each answer that makes a mistake.
pub fn verdicts(exercise: &Exercise, tried: &[Tried], kept: &Numbers) -> String {
    let mut text = String::new();
    for answer in tried {
        let Role::Mistake(..) = answer.role else { continue };
        let verdict = verdict(answer.main, kept);
        text += &format!("✗ {}\n", headline(exercise, &verdict));
        if let Verdict::Mistake { sizes, difference, .. } = &verdict {
            text +=
                &format!("    {} | {}\n", difference.heading(sizes), difference.text());
        }
    }
    text
}

/// The verdict in the first line of a message, without the exercise's number and title.
pub fn headline(exercise: &Exercise, verdict: &Verdict) -> String {
    let message = message(exercise, verdict);
    let line = message.lines().next().unwrap_or_default();
    let (_, verdict) = line.split_once(": ").unwrap_or_default();
    verdict.trim_start_matches("your answer ").trim_end_matches('.').to_owned()
}

/// How what is kept differs.
pub fn differ(path: &Path, verdicts: &str) -> Option<String> {
    let path = path.with_extension("txt");
    let kept = fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
    (kept != verdicts).then(|| format!("{} has other verdicts", path.display()))
}

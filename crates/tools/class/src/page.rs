//! A page for the projector: the mistakes and how often they were made, and nobody's name.

use crate::report::Class;

const HEAD: &str = include_str!("page.html");

/// How many mistakes a class can look at.
const MOST: usize = 12;

/// The page. It needs no other file and no script, and nothing in it is a student's text.
pub fn html(class: &Class) -> String {
    let n_students = class.students.len();
    let n_right = class.answers().filter(|(_, _, it)| it.verdict == "passed").count();
    let mut html = format!(
        "{HEAD}<p>{n_students} submissions; {n_right} of {} answers are right.</p>\n<ol>\n",
        class.answers().count()
    );
    for it in class.mistakes.iter().take(MOST) {
        let read = &it.mistake.read;
        let share = 100 * it.n_students / n_students.max(1);
        let figure =
            it.figure.as_ref().map(|figure| format!("<br>Figure: {}", escaped(figure)));
        html += &format!(
            "<li><span class=\"count\">{}</span><div><h2>{}</h2>\
             <div class=\"bar\" style=\"width: {share}%\"></div><p>{}</p>\
             <p class=\"where\">{} · {}<br>Chapter {}, “{}”{}</p></div></li>\n",
            it.n_students,
            escaped(&sentence(&it.mistake.name)),
            escaped(&it.mistake.does),
            escaped(&it.title),
            escaped(&it.mistake.id),
            read.chapter,
            escaped(&read.section),
            figure.unwrap_or_default(),
        );
    }
    let n_more = class.mistakes.len().saturating_sub(MOST);
    let more = match n_more {
        0 => String::new(),
        n => format!("<p class=\"where\">And {n} more, which fewer students made.</p>\n"),
    };
    html + "</ol>\n" + &more + "</body>\n</html>\n"
}

/// A mistake's name as a line of its own.
fn sentence(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map(char::to_uppercase).into_iter().flatten().chain(letters).collect()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}

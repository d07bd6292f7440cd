//! A page for the projector: the mistakes and how often they were made, and nobody's name.

use crate::report::Class;

const HEAD: &str = include_str!("page.html");

/// The page. It needs no other file and no script, and nothing in it is a student's text.
pub fn html(class: &Class) -> String {
    let n_students = class.students.len();
    let answers = || class.students.iter().flat_map(|it| it.exercises.values());
    let n_right = answers().filter(|it| it.verdict == "passed").count();
    let mut html = format!(
        "{HEAD}<p>{n_students} submissions; {n_right} of {} answers are right.</p>\n<ol>\n",
        answers().count()
    );
    for it in &class.mistakes {
        let read = &it.mistake.read;
        let share = 100 * it.n_students / n_students.max(1);
        let figure =
            it.figure.as_ref().map(|figure| format!("<br>Figure: {}", escaped(figure)));
        html += &format!(
            "<li><span class=\"count\">{}</span><div><h2>Your answer {}</h2>\
             <div class=\"bar\" style=\"width: {share}%\"></div><p>{}</p>\
             <p class=\"where\">{} · {}<br>Chapter {}, “{}”{}</p></div></li>\n",
            it.n_students,
            escaped(&it.mistake.name),
            escaped(&it.mistake.does),
            escaped(&it.title),
            escaped(&it.mistake.id),
            read.chapter,
            escaped(&read.section),
            figure.unwrap_or_default(),
        );
    }
    html + "</ol>\n</body>\n</html>\n"
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}

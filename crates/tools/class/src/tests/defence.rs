//! Questions about right answers, and what was answered to them.

use std::collections::BTreeMap;

use super::*;
use crate::results::{Checked, Defence};

/// How every solution is defended by a student who always gives this letter.
fn defences(runs: &Path, letter: char) -> BTreeMap<String, Option<Defence>> {
    let place = tempfile::tempdir().unwrap();
    for exercise in catalogue::all().unwrap() {
        let answer = format!("student/{}.rs", exercise.name);
        write(place.path(), &answer, &exercise.solution.text);
        // The first try counts, and one under another seed does not.
        let tries = format!("7 E\n0 {letter}\n0 A\n0 B\n0 C\n0 D\n");
        write(place.path(), &answer.replace(".rs", ".defence"), tries);
    }
    let submissions = submissions::read(&[place.path().to_owned()], &names()).unwrap();
    let kept = Some(runs.to_owned());
    let class = checked(submissions, None, Sandbox::Time, kept, "python3").unwrap();
    let [student] = &class.students[..] else { panic!("one student") };
    let defence = |(name, it): (&String, &Checked)| {
        assert_eq!(it.verdict, "passed", "{name}: {:?}", it.reason);
        (name.clone(), it.defence)
    };
    student.exercises.iter().map(defence).collect()
}

#[test]
fn of_each_question_one_option_is_right() {
    let runs = tempfile::tempdir().unwrap();
    let of = |letter| (letter, defences(runs.path(), letter));
    let by_letter: Vec<_> = "ABCDEF".chars().map(of).collect();
    let mut table = String::new();
    let mut n_asked = 0;
    for (name, asked) in &by_letter[0].1 {
        let right = by_letter.iter().filter(|(_, of)| of[name] == Some(Defence::Right));
        let right: String = right.map(|(letter, _)| letter).collect();
        assert_eq!(right.len(), usize::from(asked.is_some()), "{name}: {right:?}");
        n_asked += right.len();
        table += &format!("{name}: {right}\n");
    }
    println!("{n_asked} of {} exercises ask\n{table}", by_letter[0].1.len());
    // As the page for teachers has it.
    assert_eq!((n_asked, by_letter[0].1.len()), (44, 56));
    let all: BTreeSet<&str> =
        table.lines().map(|line| line.rsplit(' ').next().unwrap()).collect();
    assert!(all.len() >= 5, "no letter is right everywhere: {all:?}");
}

#![cfg(unix)]

use super::*;

/// A side whose program is a line of shell.
fn shell(name: &'static str, script: &str) -> Program {
    Program {
        name,
        is_peer: true,
        program: "/bin/sh".into(),
        args: vec!["-c".into(), script.into(), "side".into()],
    }
}

fn start(name: &'static str, script: &str) -> Result<Side> {
    let case = Case::new("", [1, 2, 4, 2], true);
    let job = Job { file: Path::new("/layer"), case, threads: 3, instructions: "scalar" };
    Side::start(&shell(name, script), &job)
}

/// A side that has said its name, and answers every question with the same words.
fn that_says(name: &'static str, answer: &str) -> Side {
    let script = format!("printf 'P 1.0\\tv\\n'; while read q; do echo '{answer}'; done");
    start(name, &script).unwrap()
}

#[test]
fn a_side_is_told_what_to_do_and_says_what_it_is() {
    let script =
        r#"printf 'P 1.0, Q r 2\t%s\t%s\n' "$1 $2 $3 $4 $5" "$RAYON_NUM_THREADS""#;
    let side = start("test-told", script).unwrap();
    let versions = side.versions.iter().map(|(name, v)| (&name[..], &v[..]));
    assert_eq!(versions.collect::<Vec<_>>(), [("P", "1.0"), ("Q r", "2")]);
    assert_eq!(side.variants, ["/layer 2 3 1 scalar", "3"]);
}

#[test]
fn who_does_not_start_or_stops_is_told_with_its_last_words() {
    let refused = |name, script| format!("{:#}", start(name, script).err().unwrap());
    insta::assert_snapshot!(refused("test-mute", "exit 3"), @"it stopped (exit status: 3) and said nothing");
    insta::assert_snapshot!(refused("test-words", "echo no torch >&2; exit 1"), @"
    it stopped (exit status: 1):
    no torch
    ");
    insta::assert_snapshot!(refused("test-rubbish", "echo Loading; sleep 1"), @r#"it said "Loading", not its versions and variants"#);
    insta::assert_snapshot!(refused("test-binary", r"printf '\377\n'; sleep 1"), @r#"it said "�", not its versions and variants"#);
}

#[test]
fn answers_that_are_none_are_told() {
    let mut side = that_says("test-answers", "so fast");
    let pass = Pass::Forward;
    let told = |error: anyhow::Error| format!("{error:#}");
    insta::assert_snapshot!(told(side.time("v", pass).unwrap_err()), @r#"it said "so fast", not milliseconds: invalid float literal"#);
    insta::assert_snapshot!(told(side.needs("v", pass).unwrap_err()), @r#"it said "so fast", not a number of bytes: invalid digit found in string"#);
    insta::assert_snapshot!(told(side.memory("v", pass).unwrap_err()), @r#"it said "so fast", not a number of bytes: invalid digit found in string"#);
    let refused = side.check("v", pass, Path::new("/results")).unwrap_err();
    insta::assert_snapshot!(told(refused), @r#"it said "so fast", not that it wrote its results"#);
    for ms in ["-1", "0", "nan", "inf"] {
        assert!(that_says("test-times", ms).time("v", pass).is_err(), "{ms}");
    }
}

#[test]
fn good_answers_are_understood() {
    let pass = Pass::ForwardBackward;
    assert_eq!(that_says("test-good-1", "1.5").time("v", pass).unwrap(), 1.5);
    assert_eq!(that_says("test-good-2", "17").needs("v", pass).unwrap(), Some(17));
    assert_eq!(that_says("test-good-3", "no").needs("v", pass).unwrap(), None);
    assert_eq!(that_says("test-good-4", "17").memory("v", pass).unwrap(), Some(17));
    assert_eq!(that_says("test-good-5", "-").memory("v", pass).unwrap(), None);
}

#[test]
fn who_stops_between_questions_is_told() {
    let mut side = start("test-stops", r"printf 'P 1\tv\n'; read q; exit 7").unwrap();
    let refused = side.time("v", Pass::Forward).unwrap_err();
    insta::assert_snapshot!(refused, @"it stopped (exit status: 7) and said nothing");
}

#[test]
fn who_says_nothing_is_stopped_and_not_waited_for() {
    let speak = |script: &str| {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]);
        let patience = Duration::from_millis(300);
        Side::speak(command, NamedTempFile::new().unwrap(), patience)
    };
    let refused = speak("sleep 60").err().unwrap();
    insta::assert_snapshot!(refused, @"it said nothing for 0 s, and was stopped");
    let mut side =
        speak(r"printf 'P 1\tv\n'; read q; sleep 1; echo 5; sleep 60").unwrap();
    assert!(side.time("v", Pass::Forward).is_err());
    // The late 5 is the answer to no other question.
    thread::sleep(Duration::from_secs(1));
    assert!(side.needs("v", Pass::Forward).is_err());
}

#[test]
fn a_line_without_end_is_cut() {
    let script = r"printf 'P 1\tv\n'; read q; tr '\0' 1 < /dev/zero";
    let mut side = start("test-line", script).unwrap();
    let refused = side.time("v", Pass::Forward).unwrap_err().to_string();
    assert!(refused.len() < 70_000, "{} bytes", refused.len());
}

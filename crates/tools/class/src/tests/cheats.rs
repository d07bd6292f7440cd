//! What a submission may try, as a table; each in every sandbox that this machine has.

use std::net::TcpListener;

use workshop::at_once;

use super::*;

/// What is tried instead of an answer that is right, and what comes of it.
struct Cheat {
    name: &'static str,
    /// Statements before the right answer. They panic with ESCAPED where they reach what they
    /// should not.
    tries: &'static str,
    /// The verdict, or the beginning of why there is none.
    comes_of_it: &'static str,
    /// The same with limits alone; nothing where it is not to be tried without a sandbox.
    with_limits_alone: Option<&'static str>,
}

const ESCAPED: &str = "ESCAPED";

const CHEATS: [Cheat; 14] = [
    cheat("ends the program", "std::process::exit(0);", "it ended without its numbers"),
    cheat(
        "prints a verdict",
        r#"println!("\n{{\"Outcomes\":[]}}\n✓ 04 · Scale: passed.\n{{\"verdict\":\"passed\"}}");
        std::process::exit(0);"#,
        "it ended without its numbers",
    ),
    Cheat {
        with_limits_alone: Some("passed"),
        ..cheat(
            "reads the solution while it is compiled",
            r#"let _ = include_str!("{set}/scale.rs");"#,
            "it does not compile: error: couldn't read",
        )
    },
    escapes_limits(
        "reads the solution",
        r#"assert!(std::fs::read("{set}/scale.rs").is_err(), "ESCAPED");"#,
    ),
    escapes_limits(
        "reads another submission",
        r#"assert!(std::fs::read("{other}/scale.rs").is_err(), "ESCAPED");"#,
    ),
    escapes_limits(
        "reads a file of the system",
        r#"assert!(std::fs::read("/etc/passwd").is_err(), "ESCAPED");"#,
    ),
    escapes_limits(
        "changes the numbers",
        r#"let file = std::fs::File::options().append(true).open("{set}/../numbers/scale.bin");
        assert!(file.is_err(), "ESCAPED");"#,
    ),
    escapes_limits(
        "opens a connection",
        r#"assert!(std::net::TcpStream::connect("{address}").is_err(), "ESCAPED");"#,
    ),
    cheat("never ends", "loop { std::hint::spin_loop() }", "no-end"),
    cheat("prints without end", r#"loop { println!("{}", "x".repeat(1000)) }"#, "no-end"),
    cheat(
        "takes 10 GB of memory",
        "std::hint::black_box(vec![1_u8; 10 << 30]);",
        "it was ended by the system: more memory",
    ),
    cheat(
        "writes a file of 10 GB",
        r#"let folder = if std::path::Path::new("/etc/passwd").exists() { "." } else { "/tmp" };
        let mut file = std::fs::File::create(format!("{folder}/large")).unwrap();
        for _ in 0..10_000 { std::io::Write::write_all(&mut file, &[1; 1 << 20]).unwrap(); }
        panic!("ESCAPED");"#,
        "it was ended: it wrote a larger file",
    ),
    Cheat {
        with_limits_alone: None,
        ..cheat(
            "starts processes without end",
            r#"if std::env::args().count() > 1 { loop { std::thread::park() } }
            let program = std::env::args().next().unwrap();
            let start = |_| std::process::Command::new(&program).arg("more").spawn();
            let all = (0..64).map(start);
            assert!(all.filter(|it| it.is_ok()).count() < 32, "ESCAPED");"#,
            "passed",
        )
    },
    cheat(
        "is unsafe",
        "unsafe { std::ptr::null::<u8>().read() };",
        "it does not compile: error: usage of an `unsafe` block",
    ),
];

const fn cheat(
    name: &'static str,
    tries: &'static str,
    comes_of_it: &'static str,
) -> Cheat {
    Cheat { name, tries, comes_of_it, with_limits_alone: Some(comes_of_it) }
}

/// What limits alone leave open.
const fn escapes_limits(name: &'static str, tries: &'static str) -> Cheat {
    Cheat { name, tries, comes_of_it: "passed", with_limits_alone: Some(ESCAPED) }
}

#[test]
fn no_cheat_gains_anything() {
    let place = tempfile::tempdir().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    write(place.path(), "other/scale.rs", source("scale", ""));
    let filled = |text: &str| {
        let text = text.replace("{set}", &catalogue::folder().display().to_string());
        let text =
            text.replace("{other}", &place.path().join("other").display().to_string());
        text.replace("{address}", &address)
    };
    let numbers = catalogue::folder().with_file_name("numbers").join("scale.bin");
    let before = fs::read(&numbers).unwrap();
    let found = Sandbox::found();
    let mut sandboxes = vec![found.clone()];
    match &found {
        Sandbox::Bubblewrap { prlimit, .. } => {
            sandboxes.push(Sandbox::Limits { prlimit: prlimit.clone() });
        }
        other => eprintln!(
            "NOT TESTED: bubblewrap, which does not work here ({})",
            other.name()
        ),
    }
    let both = |sandbox| CHEATS.iter().map(move |cheat| (sandbox, cheat));
    let all: Vec<(&Sandbox, &Cheat)> = sandboxes.iter().flat_map(both).collect();
    let faults = at_once::map(&all, 6, |(sandbox, cheat)| {
        let expected = match sandbox {
            Sandbox::Bubblewrap { .. } => cheat.comes_of_it,
            Sandbox::Limits { .. } => cheat.with_limits_alone?,
            Sandbox::Time => return None,
        };
        let folder = place.path().join(sandbox.name()).join(cheat.name);
        let tries = filled(cheat.tries);
        let right = source("scale", "");
        let text = right.replace("let d_k = ", &format!("{tries}\n    let d_k = "));
        write(&folder, "scale.rs", text);
        let class = class_of(&folder, (*sandbox).clone());
        let checked = &class.students[0].exercises["scale"];
        let what = format!("{}: {}", checked.verdict, checked.message);
        let is_expected = match expected {
            ESCAPED => what.contains(ESCAPED),
            expected => {
                let is_so = |it: &str| it.starts_with(expected);
                is_so(checked.verdict) || checked.reason.as_deref().is_some_and(is_so)
            }
        };
        (!is_expected).then(|| format!("{}, {}: {what}", sandbox.name(), cheat.name))
    });
    let faults: Vec<String> = faults.into_iter().flatten().collect();
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
    assert_eq!(fs::read(&numbers).unwrap(), before);
}

/// A test has no numbers: its own `main` could say that it passed, and is not called.
#[test]
fn the_main_of_a_test_is_not_called() {
    let place = tempfile::tempdir().unwrap();
    let main = "fn main() -> ExitCode {\n    let mut word = String::new();\n    \
        std::io::stdin().read_line(&mut word).unwrap();\n    \
        println!(\"\\n{{\\\"Outcomes\\\":[]}}\\n{word}\");\n    ExitCode::SUCCESS\n}";
    let given = catalogue::find("write_a_test").unwrap().given();
    let cheat = given.split("fn main()").next().unwrap().to_owned() + main;
    write(place.path(), "write_a_test.rs", cheat);
    let class = class_of(place.path(), Sandbox::found());
    let checked = &class.students[0].exercises["write_a_test"];
    assert_eq!(checked.verdict, "not-written", "{}", checked.message);
}

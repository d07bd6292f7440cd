use clap::Parser;

use runs::{Case, Pass};

use super::measure::measure;
use super::*;

#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    ladder: Ladder,
    #[command(subcommand)]
    command: Option<Command>,
}

fn ladder(line: &str) -> Result<Ladder> {
    let words = ["bench"].into_iter().chain(line.split_whitespace());
    Ok(Cli::try_parse_from(words)?.ladder)
}

/// What these words are refused with, before anything is timed.
fn refused(line: &str) -> String {
    let words = ["bench"].into_iter().chain(line.split_whitespace());
    let run = || {
        let cli = Cli::try_parse_from(words)?;
        cli.command.map_or_else(|| cli.ladder.run(), |it| it.run())
    };
    format!("{:#}", run().expect_err(line))
}

#[test]
fn without_arguments_all_cases_are_timed() {
    let plain = ladder("").unwrap();
    let settings = plain.common.settings().unwrap();
    assert_eq!((plain.cases().unwrap().len(), settings.rounds), (5, 7));
    assert_eq!(settings.instructions, Instructions::best());
    assert!(plain.limits.memory().unwrap() <= 4 << 30);
    assert_eq!(ladder("--case 4k --case 003").unwrap().cases().unwrap().len(), 2);
    assert_eq!(ladder("--case all").unwrap().cases().unwrap().len(), 5);
    let some = ladder("--threads 1 --simd SCALAR --rounds 2 --rung plain").unwrap();
    assert!(some.cases().is_ok());
    let settings = some.common.settings().unwrap();
    assert_eq!((settings.threads, settings.rounds), (1, 2));
    assert_eq!(settings.instructions.name(), "scalar");
}

#[test]
fn peers_are_also_timed_on_a_product_and_a_product_can_be_timed_alone() {
    let passes = |line: &str| ladder(line).map(|it| it.passes());
    assert_eq!(passes("").unwrap(), [Pass::Forward]);
    assert_eq!(passes("--backward --peers").unwrap(), Pass::ALL);
    assert_eq!(passes("--product").unwrap(), [Pass::Product]);
    assert_eq!(passes("--product --peers").unwrap(), [Pass::Product]);
    assert!(passes("--product --backward").is_err());
    assert!(!ours::names().unwrap().contains(&"packed product"));
}

#[test]
fn what_does_not_fit_is_refused_with_what_there_is() {
    insta::assert_snapshot!(refused("--case 5k"), @r#"there is no case "5k"; there are 003, 004, 1k-causal, 4k, 16k, and all"#);
    insta::assert_snapshot!(refused("--rounds 0"), @"--rounds is 0, and must be at least 1");
    insta::assert_snapshot!(refused("growth 255"), @"N is 255, and must be at least 256");
    insta::assert_snapshot!(refused("growth 1048577"), @"N is 1048577, and must be at most 1048576");
    insta::assert_snapshot!(refused("--rounds 9223372036854775808"), @"--rounds is 9223372036854775808, and must be at most 10000");
    insta::assert_snapshot!(refused("--memory 0"), @"--memory is 0, and must be above 0");
    insta::assert_snapshot!(refused("--memory nan"), @"--memory is NaN, and must be above 0");
    let rungs = refused("--rung ladder");
    assert!(
        rungs.starts_with(r#"there is no rung "ladder"; there are fused-heads, "#),
        "{rungs}"
    );
    let simd = refused("token --simd mmx");
    assert!(
        simd.starts_with(r#"--simd: this processor has no "mmx"; it has "#),
        "{simd}"
    );
    assert!(simd.ends_with("scalar"), "{simd}");
    let threads = refused("--threads 0");
    assert!(
        threads.starts_with("--threads is 0, and this machine runs 1 to "),
        "{threads}"
    );
    assert!(refused("--threads 1000000").starts_with("--threads is 1000000, "));
    assert!(refused("--python /bin/python").contains("--peers"));
    assert!(refused("").contains("must be optimised"));
}

#[test]
fn more_memory_than_is_free_is_refused_with_both() {
    let refused = limit(3.5, 2 << 30).unwrap_err();
    insta::assert_snapshot!(refused, @"--memory is 3.5 GiB, and this machine has 2.0 GiB free");
    assert_eq!(limit(1.5, 2 << 30).unwrap(), 3 << 29);
}

#[cfg(unix)]
mod sides {
    use std::path::Path;

    use tensors::{Existing, NewTensor, save};

    use super::*;

    /// A side that answers well, but for what `check` puts into its file.
    fn shell(name: &'static str, variant: &str, check: &str) -> Program {
        let script = format!(
            r#"printf 'P 1.0\t{variant}\n'
            tab=$(printf '\t')
            while IFS="$tab" read command v pass file; do
                case $command in
                    needs) echo 0 ;;
                    check) {check}; echo written ;;
                    time) echo 2.5 ;;
                    memory) echo 4096 ;;
                esac
            done"#
        );
        let args = vec!["-c".into(), script, name.into()];
        Program { name, is_peer: true, program: "/bin/sh".into(), args }
    }

    const CASE: Case = Case::new("tiny", [1, 3, 4, 2], false);

    fn found(programs: &[Program]) -> Measurement {
        let plan = Plan {
            programs,
            threads: 1,
            instructions: Instructions::best(),
            n_rounds: 1,
            memory: 1 << 20,
            takes_part: &|_, _| true,
        };
        measure(&CASE, Pass::Forward, &plan).unwrap()
    }

    /// A file with an output, right but for what is added to its last number.
    fn output(folder: &Path, name: &str, added: f64) -> String {
        let layer = layer::Layer::random(CASE).unwrap();
        let reference = reference::Reference::new(&layer, Pass::Forward).unwrap();
        let reference::Reference::Full(right) = reference else { unreachable!() };
        let mut out = right.out().clone();
        out[(2, 3)] += added;
        let file = folder.join(name);
        let tensor = NewTensor::new("output", &[3, 4], [&out]).unwrap();
        save(&file, &[tensor], Existing::Replace).unwrap();
        format!(r#"cp {} "$file""#, file.display())
    }

    #[test]
    fn only_who_is_right_has_a_row_and_the_others_have_a_reason() {
        let folder = tempfile::tempdir().unwrap();
        let add = |name, added| output(folder.path(), name, added);
        let mut programs = vec![
            shell("test-right", "right", &add("right", 5e-5)),
            shell("test-wrong", "wrong", &add("wrong", -2e-4)),
            shell("test-nan", "not a number", &add("nan", f64::NAN)),
            shell("test-lazy", "lazy", ":"),
            shell("test-empty", "empty", r#": > "$file""#),
            shell("test-dies", "dies", "echo out of memory >&2; exit 1"),
        ];
        let missing = Program { program: "/no/such".into(), ..programs[0].clone() };
        programs.push(Program { name: "test-missing", ..missing });
        let found = found(&programs);
        let rows: Vec<_> = found.rows.iter().map(|row| &row.who[..]).collect();
        assert_eq!(rows, ["right"]);
        let row = &found.rows[0];
        assert_eq!((row.min_ms, row.median_ms, row.peak_bytes), (2.5, 2.5, Some(4096)));
        assert_eq!(row.speed_relative_to_best_peer, Some(1.0));
        assert!((row.difference - 5e-5).abs() < 1e-12, "{}", row.difference);
        let flops = CASE.flops(Pass::Forward).unwrap();
        assert!((row.gflops - flops / 2.5e6).abs() < 1e-12);
        let reasons = found.remarks.join("\n");
        let nameless = |word: &str| match word.contains("results.safetensors") {
            true => "FILE:".to_owned(),
            false => word.to_owned(),
        };
        let words: Vec<_> = reasons.split(' ').map(nameless).collect();
        insta::assert_snapshot!(words.join(" "), @r#"
        wrong is left out: wrong by 2.0e-4, and 1e-4 is allowed
        not a number is left out: wrong by NaN, and 1e-4 is allowed
        lazy is left out: cannot read FILE: No such file or directory (os error 2)
        empty is left out: FILE: no safetensors file: it has 0 bytes, and one begins with 8 that give the length of its header
        test-dies is left out: dies: it stopped (exit status: 1):
        out of memory
        test-missing is left out: "/no/such" does not start: No such file or directory (os error 2)
        "#);
    }
}

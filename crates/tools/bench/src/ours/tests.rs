use super::*;
use crate::results::Results;

fn server(batch: usize, causal: bool) -> Server {
    let layer = Layer::random(Case::new("", [batch, 5, 8, 2], causal)).unwrap();
    Server::new(layer, Instructions::best())
}

fn question(words: &[&str]) -> String {
    words.join("\t")
}

#[test]
fn every_variant_answers_every_question_about_its_pass() {
    let folder = tempfile::tempdir().unwrap();
    for causal in [false, true] {
        let mut server = server(3, causal);
        let mut n_passes = 0;
        for name in server.names() {
            for pass in Pass::ALL {
                let mut ask = |command, rest: &[&str]| {
                    let words = [&[command, name, pass.name()], rest].concat();
                    server.answer(&question(&words))
                };
                if ask("needs", &[]).unwrap() == "no" {
                    assert!(ask("check", &["file"]).is_err());
                    continue;
                }
                n_passes += 1;
                let file = folder.path().join("results");
                let written = ask("check", &[file.to_str().unwrap()]).unwrap();
                assert_eq!(written, "written", "{name}");
                let ms: f64 = ask("time", &[]).unwrap().parse().unwrap();
                assert!(ms > 0.0, "{name}: {ms}");
                let memory = ask("memory", &[]).unwrap();
                assert!(memory == "-" || memory.parse::<u64>().is_ok(), "{memory}");
                let reference =
                    crate::reference::Reference::new(&server.layer, pass).unwrap();
                let with_gradients = pass == Pass::ForwardBackward;
                let results = Results::open(&file, with_gradients).unwrap();
                let difference = reference.difference(&results).unwrap();
                assert!(difference < 1e-5, "{name} {pass:?}: {difference:e}");
            }
        }
        assert!(n_passes >= 6, "{n_passes}");
    }
}

#[test]
fn memory_counts_what_a_pass_takes_and_not_its_output() {
    // One map of 4096 × 4096 is 64 MiB; output and heads take 256 KiB each. Other tests take
    // memory meanwhile and give it back, a few MiB; some systems do not say.
    let layer = Layer::random(Case::new("", [1, 4096, 16, 1], false)).unwrap();
    let mut server = Server::new(layer, Instructions::best());
    let answer = server.answer("memory\tfused-heads\tforward").unwrap();
    let bytes: u64 = if answer == "-" { 64 << 20 } else { answer.parse().unwrap() };
    assert!(bytes >= 48 << 20, "{bytes}");
}

#[test]
fn what_is_no_question_is_refused() {
    let mut server = server(1, false);
    let mut refused = |question: &str| server.answer(question).unwrap_err().to_string();
    insta::assert_snapshot!(refused("hello"), @r#""hello" is no question"#);
    insta::assert_snapshot!(refused("time\tplain\tback"), @r#"there is no pass "back""#);
    insta::assert_snapshot!(refused("time\tsimple\tforward"), @r#""simple" has no pass "forward""#);
    insta::assert_snapshot!(refused("sing\tplain\tforward"), @r#""sing\tplain\tforward" is no question"#);
}

use super::*;

const SHEET: &str = "\
# Softmax

Read: A section: with a colon
Begin: one row
Print: one row: its exponentials
and their sum
Passed: Every row sums to 1.
Elsewhere: From scores, return weights.

## Hints

1. A first step,
   in two lines.
2. A second.

## Right answers

### in loops {#loops}

```rust
fn softmax() {}
# no heading
```

## Mistakes

### takes powers of 2 {#powers-of-two}
A score that is larger by 1
gets twice the weight.
Looks right: the rows sum to 1.
    .exp() → .exp2()
    a → b ;;
        c → d

### divides {#divides of=loops}
It does.
Looks right: it does.
Read: masks / What people get wrong
    a → b

## Other answers

### passed
    a → b
";

fn parsed(text: &str) -> Result<Sheet> {
    let chapter = |number, topic: &str| Chapter {
        number,
        topic: topic.to_owned(),
        file: topic.to_owned(),
    };
    let chapters = [chapter(2, "scores"), chapter(7, "masks")];
    Sheet::parse(text, "set/softmax.md", "scores", &chapters)
}

#[test]
fn a_sheet_is_read() {
    let sheet = parsed(SHEET).unwrap();
    assert_eq!(sheet.read.heading, "A section: with a colon");
    assert_eq!(sheet.read.number, 2);
    assert_eq!(sheet.passed, "Every row sums to 1.");
    assert_eq!(
        sheet.elsewhere,
        Elsewhere::Function("From scores, return weights.".into())
    );
    assert_eq!(sheet.hints, ["A first step, in two lines.", "A second."]);
    assert_eq!(sheet.right[0].function, "fn softmax() {}\n# no heading\n");
    let [first, second] = &sheet.mistakes[..] else { panic!("two mistakes") };
    assert_eq!(first.does, "A score that is larger by 1 gets twice the weight.");
    assert_eq!((first.answers.len(), first.answers[0].line), (2, 31));
    assert_eq!(first.answers[0].span(), Some(".exp2()"));
    assert_eq!(first.read, sheet.read);
    assert_eq!(second.of.as_deref(), Some("loops"));
    assert_eq!(second.read.number, 7);
    assert_eq!(sheet.others[0].verdict, "passed");
}

#[test]
fn what_is_missing_is_named_with_its_line() {
    for (old, new, fault) in [
        (" {#powers-of-two}", "", ":27: “takes powers of 2” has no {#id}"),
        ("{#powers-of-two}", "{#Two}", ":27: \"Two\" is no id: kebab-case"),
        ("Looks right: it does.\n", "", ":35: “divides” has no `Looks right:`"),
        ("of=loops", "of=loop", ":35: no right answer is \"loop\""),
        ("masks / ", "none / ", ":35: no chapter is about \"none\""),
        ("Begin: one row\n", "", ":1: no `Begin:`"),
        ("Elsewhere: From", "Rest: From", ":1: no `Elsewhere:`"),
        ("## Mistakes", "## Slips", ":27: no part \"Slips\" is known"),
    ] {
        let refused = parsed(&SHEET.replace(old, new)).unwrap_err().to_string();
        assert_eq!(refused, format!("set/softmax.md{fault}"));
    }
}

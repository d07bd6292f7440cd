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

## Variants

### takes powers of 2 {#base-two}
Here, powers of 2
are asked for.
Book: takes powers of e
Texts: A first → One first ;; a → b
Hints: 2
Without: divides
Passed: Every row sums to 1 still.
    .exp() → .exp2() ;; c →
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
    let [variant] = &sheet.variants[..] else { panic!("a variant") };
    assert_eq!((&*variant.id, &*variant.book), ("base-two", "takes powers of e"));
    assert_eq!(variant.task, "Here, powers of 2 are asked for.");
    let pairs = |pairs: &[(&str, &str)]| {
        pairs.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect::<Vec<_>>()
    };
    assert_eq!(variant.edits, pairs(&[(".exp()", ".exp2()"), ("c", "")]));
    assert_eq!(variant.texts, pairs(&[("A first", "One first"), ("a", "b")]));
    assert_eq!((&*variant.hints, &*variant.without), (&[2][..], &["divides".into()][..]));
    assert_eq!(variant.passed.as_deref(), Some("Every row sums to 1 still."));
    assert_eq!((&variant.print, &sheet.handed_out), (&None, &None));
}

#[test]
fn a_mistake_has_no_edit_only_where_it_is_handed_out() {
    let without =
        SHEET.replace("    .exp() → .exp2()\n    a → b ;;\n        c → d\n", "");
    let refused = parsed(&without).unwrap_err().to_string();
    assert_eq!(refused, "set/softmax.md:27: “takes powers of 2” has no edit");
    let handed_out = without.replacen("Read:", "Handed out: seed 17\nRead:", 1);
    let sheet = parsed(&handed_out).unwrap();
    assert_eq!(sheet.handed_out.as_deref(), Some("seed 17"));
    assert!(sheet.mistakes[0].answers.is_empty());
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
        (" {#base-two}", "", ":48: “takes powers of 2” has no {#id}"),
        ("Book: takes powers of e\n", "", ":48: “takes powers of 2” has no `Book:`"),
        (
            "Here, powers of 2\nare asked for.\n",
            "",
            ":48: “takes powers of 2” has no \
         sentence for the learner",
        ),
        (
            "    .exp() → .exp2() ;; c →\n",
            "",
            ":48: “takes powers of 2” has no line of \
         edits, and only one",
        ),
        ("Hints: 2", "Hints: 3", ":48: “takes powers of 2” has no hint 3 to leave out"),
        (
            "Without: divides",
            "Without: none",
            ":48: “takes powers of 2” has no answer none \
         to leave out",
        ),
        ("A first → One", "A first One", ":48: no “ → ” in \" A first One first \""),
    ] {
        let refused = parsed(&SHEET.replace(old, new)).unwrap_err().to_string();
        assert_eq!(refused, format!("set/softmax.md{fault}"));
    }
}

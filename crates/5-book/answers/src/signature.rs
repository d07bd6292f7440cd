//! The function that is asked for, in Python, and the program that calls it.

use exercises::{AnyExercise, Kind};

use crate::inputs::{Library, Tree, python};

/// The head of a function of this name, with its arguments and what each is, below what it
/// imports: `def scores(q: torch.Tensor, k: torch.Tensor):`. One that some inputs lack is None
/// there.
pub fn signature(exercise: &dyn AnyExercise, library: Library, function: &str) -> String {
    // Names and types are those of every seed.
    let given = exercise.inputs(0);
    let n_cases = given.len();
    // In their order: the name, how many inputs have it, and its type.
    let mut arguments: Vec<(&str, usize, &str)> = Vec::new();
    for case in &given {
        let Tree::Named(named) = Tree::of(&case.arrays) else { continue };
        for (name, value) in named {
            match arguments.iter_mut().find(|(it, ..)| *it == name) {
                Some((_, n, _)) => *n += 1,
                None => arguments.push((name, 1, kind(&value, library))),
            }
        }
    }
    let argument = |(name, n, kind): &(&str, usize, &str)| {
        let default = if *n < n_cases { " = None" } else { "" };
        format!("{name}: {kind}{default}")
    };
    let arguments: Vec<_> = arguments.iter().map(argument).collect();
    let head = format!("def {function}({}):", arguments.join(", "));
    let imports = IMPORTS.iter().filter(|(name, _)| head.contains(name));
    let imports: String = imports.map(|(_, line)| format!("{line}\n")).collect();
    match imports.is_empty() {
        true => head,
        false => format!("{imports}\n{head}"),
    }
}

/// What a head needs that has one of these names in it.
const IMPORTS: [(&str, &str); 4] = [
    ("torch.", "import torch"),
    ("numpy.", "import numpy"),
    ("jax.", "import jax"),
    ("SimpleNamespace", "from types import SimpleNamespace"),
];

/// The inputs, and the lines that call the function and print all digits of what it returns.
pub fn program(
    exercise: &dyn AnyExercise,
    library: Library,
    function: &str,
    seed: u64,
) -> String {
    let digits = library.module().map_or(String::new(), |[module, ..]| {
        format!("{module}.set_printoptions(precision=17, threshold=10**6)\n")
    });
    let inputs = python(exercise, library, seed);
    format!("{inputs}\n{digits}print([{function}(**case) for case in cases])\n")
}

fn kind(value: &Tree, library: Library) -> &'static str {
    match value {
        Tree::Leaf(array) if !array.shape.is_empty() => match library {
            Library::Torch => "torch.Tensor",
            Library::Numpy => "numpy.ndarray",
            Library::Jax => "jax.Array",
            Library::Lists => "list",
        },
        Tree::Leaf(array) => match array.kind {
            Kind::Whole => "int",
            Kind::Flag => "bool",
            Kind::Number | Kind::Nothing => "float",
        },
        Tree::Named(named) if Tree::is_list(named) => "list",
        Tree::Named(_) => "SimpleNamespace",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_names_the_arguments_and_what_they_are() {
        let signature = |name, library, function| {
            let exercise = exercises::any(name).expect("an exercise of this name");
            super::signature(exercise, library, function)
        };
        assert_eq!(
            signature("scale", Library::Torch, "attention_map"),
            "import torch\n\ndef attention_map(q: torch.Tensor, k: torch.Tensor, d_model: int):"
        );
        assert_eq!(
            signature("mixing", Library::Numpy, "mix"),
            "from types import SimpleNamespace\n\ndef mix(heads: list, w_o: SimpleNamespace):"
        );
        let flags = signature("count_parameters", Library::Lists, "count");
        assert!(flags.ends_with("\n\ndef count(dims: SimpleNamespace, bias: bool):"));
        // A temperature that is whole in some inputs is a float all the same.
        let choose = signature("choose", Library::Lists, "choose");
        assert_eq!(choose, "def choose(logits: list, temperature: float, u: list):");
        let stretched = signature("stretched_rotary", Library::Jax, "frequencies");
        assert!(stretched.contains("n_trained: float = None"), "{stretched}");
    }

    #[test]
    fn a_program_ends_with_the_call_and_prints_all_digits() {
        let scores = exercises::any("scores").expect("an exercise of this name");
        let text = program(scores, Library::Numpy, "scores", 0);
        let last: Vec<&str> = text.lines().rev().take(2).collect();
        assert_eq!(last[0], "print([scores(**case) for case in cases])");
        assert!(last[1].contains("precision=17"), "{text}");
    }
}

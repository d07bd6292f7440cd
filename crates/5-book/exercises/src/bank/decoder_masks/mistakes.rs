//! What people write instead.

use attention::Matrix;

use super::{CHAPTER, Input, THREE, ThreeMasks};
use crate::{Mistake, Section};

const ASKS: Section = Section::new(CHAPTER, "Who asks, who answers");
const CAUSAL: Section = Section::new("masks", "Causal");
const PADDING: Section = Section::new("masks", "Padding");
const POLARITY: Section = Section::new("masks", "What people get wrong");
const WRONG: Section = Section::new(CHAPTER, "What people get wrong");

/// All of them.
pub(super) const ALL: &[Mistake<Input, ThreeMasks>] = &[
    Mistake {
        name: "lets the target read the source's padding",
        does: "The mask of the cross-attention is true everywhere",
        looks_right: "The encoder has its padding mask, but that keeps only the encoder's own \
            tokens from reading padding: its rows still come out, and are in the memory",
        read: WRONG,
        answer: |input| input.with_cross(|_, _| true),
    },
    Mistake {
        name: "lets the encoder read its padding",
        does: "The encoder's mask is true everywhere, so each real token takes something of \
            the padding into the memory",
        looks_right: "The cross-attention reads real positions alone; but those have read \
            padding by then",
        read: WRONG,
        answer: |input| input.with_encoder(|_, _| true),
    },
    Mistake {
        name: "leaves the padding out of both masks",
        does: "The encoder's mask and that of the cross-attention are true everywhere",
        looks_right: "The target has no padding, and one source at a time has none either; a \
            batch fills it up",
        read: WRONG,
        answer: |input| input.with_source(|_, _| true),
    },
    Mistake {
        name: "blocks nothing",
        does: "All three masks are true everywhere: padding is read, and so is what comes \
            later in the target",
        looks_right: "While one token is written at a time there is nothing later, and a \
            source alone has no padding; a training has both",
        read: THREE,
        answer: |input| input.masks(|_, _| true, |_, _| true, |_, _| true),
    },
    Mistake {
        name: "makes the cross-attention causal",
        does: "Query i reads source positions up to i. The source is there as a whole before \
            anything is written, and the first token may need its last position",
        looks_right: "The decoder is the causal part, and padding is blocked",
        read: WRONG,
        answer: |input| input.with_cross(|i, j| j <= i && input.real(j)),
    },
    Mistake {
        name: "makes the cross-attention causal",
        does: "It aligns the last target token with the last source position, as Mask::Causal \
            does, and blocks what comes later in the source",
        looks_right: "The decoder is the causal part, the last row is right, and padding is \
            blocked",
        read: WRONG,
        answer: |input| {
            let (n_source, n_target) = (input.n_source, input.n_target);
            input.with_cross(|i, j| j + n_target <= i + n_source && input.real(j))
        },
    },
    Mistake {
        name: "puts a causal mask on the cross-attention in place of the padding",
        does: "Query i reads source positions up to i, padding too",
        looks_right: "It is the decoder, and where both lengths are equal its own mask has \
            the right shape",
        read: WRONG,
        answer: |input| input.with_cross(|i, j| j <= i),
    },
    Mistake {
        name: "makes the encoder causal",
        does: "A source token reads those before it alone. The whole source is known, and what \
            stands later may say what stands earlier means",
        looks_right: "Models that only write are causal everywhere, and padding is blocked",
        read: THREE,
        answer: |input| input.with_encoder(|i, j| j <= i && input.real(j)),
    },
    Mistake {
        name: "makes the encoder causal in place of masking its padding",
        does: "A source token reads those before it, and nothing says which are padding",
        looks_right: "Real tokens stand first, so none of them reads padding; but none reads \
            what comes later in the source either",
        read: THREE,
        answer: |input| input.with_encoder(|i, j| j <= i),
    },
    Mistake {
        name: "makes all three maps causal",
        does: "It blocks what comes later in the source too, in the encoder and in the \
            cross-attention, besides the padding",
        looks_right: "One rule serves all three maps; but only the target grows",
        read: WRONG,
        answer: |input| input.with_source(|i, j| j <= i && input.real(j)),
    },
    Mistake {
        name: "makes all three maps causal",
        does: "It blocks what comes later in the source too, in the encoder and in the \
            cross-attention, and no padding",
        looks_right: "One rule serves all three maps; but only the target grows",
        read: WRONG,
        answer: |input| input.with_source(|i, j| j <= i),
    },
    Mistake {
        name: "exchanges the rules of encoder and decoder",
        does: "The encoder's mask is causal, and the decoder's own mask asks whether key j is \
            real, which is a matter of the source",
        looks_right: "Each has its shape, and each rule is right on the other side",
        read: THREE,
        answer: |input| {
            let ThreeMasks { encoder, .. } = input.with_encoder(|i, j| j <= i);
            ThreeMasks { encoder, ..input.with_own(|_, j| input.real(j)) }
        },
    },
    Mistake {
        name: "lets the target see what comes later",
        does: "The decoder's own mask is true everywhere: in a training each token reads the \
            one that it is to predict",
        looks_right: "While a text is written, nothing comes later; in a training the loss \
            falls fast, and the model has learned to copy",
        read: WRONG,
        answer: |input| input.with_own(|_, _| true),
    },
    Mistake {
        name: "lets each target token see the next one",
        does: "Its own mask is j <= i + 1, one key too many in each row but the last",
        looks_right: "The triangle looks right from afar. But what comes next is what is to \
            be predicted",
        read: CAUSAL,
        answer: |input| input.with_own(|i, j| j <= i + 1),
    },
    Mistake {
        name: "keeps a target token from seeing itself",
        does: "The decoder's own mask is `<`, where “not later” is `<=`, and the first row \
            has no key at all",
        looks_right: "A token is not to see what it predicts; but it predicts the next one, \
            and what it is itself was written already",
        read: CAUSAL,
        answer: |input| input.with_own(|i, j| j < i),
    },
    Mistake {
        name: "lets the target see only what comes later",
        does: "Its own mask keeps the upper triangle, j >= i, and blocks what was written",
        looks_right: "It is a triangle, and `triu` for `tril` is one letter",
        read: CAUSAL,
        answer: |input| input.with_own(|i, j| j >= i),
    },
    Mistake {
        name: "counts the source's padding in the target",
        does: "The decoder's own mask also blocks target positions from source_length on, as \
            if the target were as long as the source",
        looks_right: "The padding mask goes to encoder and cross-attention, and it is at hand \
            for a third map; with a target that is no longer than the source nothing shows",
        read: THREE,
        answer: |input| input.with_own(|i, j| j <= i && input.real(j)),
    },
    Mistake {
        name: "blocks the encoder's rows of padding and not its columns",
        does: "The encoder's mask is false in rows from source_length on: padding asks \
            nothing, and every real token still reads it",
        looks_right: "As many entries are blocked, and the picture is the right one, transposed",
        read: POLARITY,
        answer: |input| input.with_encoder(|i, _| input.real(i)),
    },
    Mistake {
        name: "blocks the encoder's rows of padding as well as its columns",
        does: "A position of padding has no key at all then, a row that softmax cannot share \
            out: NaN in many a library",
        looks_right: "Nothing reads what padding computes; but every row was to have a key",
        read: THREE,
        answer: |input| input.with_encoder(|i, j| input.real(i) && input.real(j)),
    },
    Mistake {
        name: "puts the source's padding on the rows of the cross-attention",
        does: "It blocks target tokens from source_length on. Rows of this map are of the \
            target, columns of the source",
        looks_right: "In the encoder's map both rows and columns are of the source",
        read: ASKS,
        answer: |input| input.with_cross(|i, _| input.real(i)),
    },
    Mistake {
        name: "puts the padding on rows, in both maps",
        does: "It asks whether query i is real, in the encoder and in the cross-attention; \
            padding is a matter of the keys",
        looks_right: "Without padding nothing is blocked, as it should be",
        read: POLARITY,
        answer: |input| input.with_source(|i, _| input.real(i)),
    },
    Mistake {
        name: "blocks rows from source_length on, in both maps of the source",
        does: "It asks whether query i is real as well as key j. In the cross-attention query i \
            is of the target, and tokens from source_length on are given no key",
        looks_right: "It is the padding mask times its transpose, and in the encoder no real \
            token is the worse for it",
        read: ASKS,
        answer: |input| input.with_source(|i, j| input.real(i) && input.real(j)),
    },
    Mistake {
        name: "transposes the mask of the cross-attention",
        does: "It has a row for each source position and a column for each token of the target",
        looks_right: "Where both are equal in number the shape is right, and a text goes from \
            source to target; but the target asks, and a query is a row",
        read: ASKS,
        answer: |input| ThreeMasks {
            cross: Matrix::from_fn(input.n_source, input.n_target, |i, _| input.real(i)),
            ..input.right()
        },
    },
    Mistake {
        name: "inverts all three masks",
        does: "In them true means “blocked”: each query may attend to what it must not see",
        looks_right: "PyTorch's nn.Transformer takes such masks, and drawn in black and white \
            they are the right ones with the colours exchanged",
        read: POLARITY,
        answer: |input| {
            let ThreeMasks { encoder, own, cross } = input.right();
            let [encoder, own, cross] =
                [encoder, own, cross].map(|mask| mask.map(|may| !may));
            ThreeMasks { encoder, own, cross }
        },
    },
    Mistake {
        name: "inverts the causal mask",
        does: "The decoder's own mask is true for what comes later alone, and its last row \
            has no key",
        looks_right: "Many causal masks are built with true for “blocked”; the padding masks \
            here are right",
        read: POLARITY,
        answer: |input| input.with_own(|i, j| j > i),
    },
    Mistake {
        name: "inverts the padding masks",
        does: "Encoder and cross-attention may read the padding and nothing else",
        looks_right: "A key_padding_mask of PyTorch is true where there is padding",
        read: POLARITY,
        answer: |input| input.with_source(|_, j| !input.real(j)),
    },
    Mistake {
        name: "takes one position of padding for a real one",
        does: "It lets position source_length be read, `<=` for `<`: counted from 0, the last \
            real one is source_length − 1",
        looks_right: "All real positions are read, and a source without padding is right",
        read: PADDING,
        answer: |input| input.with_source(|_, j| j <= input.source_length),
    },
    Mistake {
        name: "leaves out the last real position",
        does: "It lets positions below source_length − 1 be read; counted from 0, that is the \
            last real one",
        looks_right: "No padding is read",
        read: PADDING,
        answer: |input| input.with_source(|_, j| j + 1 < input.source_length),
    },
    Mistake {
        name: "takes the last positions for the real ones",
        does: "It blocks the first n_source − source_length positions of the source",
        looks_right: "As many are blocked, and models that only write are often padded on the \
            left; this source is padded at its end",
        read: PADDING,
        answer: |input| {
            let n_padding = input.n_source - input.source_length;
            input.with_source(|_, j| j >= n_padding)
        },
    },
];

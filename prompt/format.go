// Package prompt turns a step and its inputs into the content blocks of one message and a receipt of what became of every
// reference. It reads files through an fs.FS and a few narrow ports, writes nothing, calls no model, and is deterministic if
// its nonces are.
//
// # Prompt format 1
//
// The system prompt is: the workflow's instructions; "Facts about this run:" with one line for each fact; when there are
// inputs, "How to read the inputs:" with the rules of frames, images and trust; and, when parts are deferred and the model
// can call tools, "How to read on:" with the use of read_chunks.
//
// The user message is: the step's prompt text, in which `{{NAME}}` is replaced by the input with `as=NAME`; then the
// other inputs in order. Each file is an input of its own:
//
//	<input-NONCE path="Notes/a.md" trust="trusted">
//	…
//	</input-NONCE>
//
// A variable has variable="name" instead of path, a transcluded file is an <embed-NONCE …> inside the input. NONCE is
// the same for each prompt of a step, unless an input holds it: then the next of its codes that none holds is used. So text in a
// file cannot close its own frame. trust is trusted or
// untrusted; what is transcluded by something untrusted is untrusted.
//
// Inside a frame stand, in the author's order, as blocks of their own:
//
//   - text, exactly the bytes of the file; a chunk of nothing but white space is joined to the block behind it, since
//     providers refuse blank blocks. A file that is not UTF-8 is shown as UTF-8 without its byte order mark, with a
//     warning; the receipt's byte spans stay those of the file;
//   - for each image a line `[image 3: assets/x.png, 640x480, alt "the page", image/png, 120 KB, sha256 9f86d081884c]` and then
//     the image; type, size and digest are those of the file in the vault. Every reference to an image has a number, counted over the prompt, whether it is attached or not;
//   - where an image is not attached, a line in its place: `[image 4: same picture as image 1]`, `[image 5: missing, …]`,
//     `[image 6: remote, …]`, `[image 7: …, deferred as c12: …]`, `[image 8: …, not shown: …]`; the image's text for a
//     model that cannot see; the reference as written for images=ignore;
//   - a PDF as one of three, by what the model can: `[document: b.pdf, pages 1-12 of 12, 1.2 MB]` and the file itself; for
//     each page `[image 9: b.pdf, page 3 of 12, 1240x1754]` and its picture; `[page 3 of 12]` and its text. Pages of an
//     import (pages= on its note) have text and picture;
//   - an office file as its Markdown, behind it the pages that must be seen;
//   - a canvas card by card, row by row, each behind a line such as `[card 2; arrow to card 3 "why"]` or
//     `[card 3 in card 1: notes/a.md]`, where card 1 is a group; a drawing of Excalidraw as the picture that was exported
//     beside it;
//   - lines in brackets for embeds and files that are not shown, and `[shown: …]` where head=, tail=, lines=, properties=
//     or pages= cut a file;
//   - one line for neighbours that have no room: `[deferred as c40-c60: 14 texts, 7 images; max_prompt_tokens … reached]`,
//     `[pages 21-600 are not shown: …]` with ladder, of which the lines between pages of an import are a part;
//     `[left out, …]` with drop_oldest and drop_newest, `[not shown, …]` with refs_only. Where whole inputs have no room
//     their frames go too, and the line stands outside of any frame;
//   - at the end, when references stand without their bytes, a list: a line `IMAGE_REFS`, then for each of them
//     `image N | path | type | WxH | size | sha256 prefix | status`, with `-` for what is not known. What joined a line
//     for neighbours is not in it, nor what the ladder leaves, and more than three of one status share a line;
//   - with ladder `[image 4, c12: page 4 of 12, as text:]`, the text and `[end of image 4]` in the place of a picture.
//
// Comments of Obsidian are left out unless comments=keep. Names are vault names; no path of the machine appears.
// Chunks are numbered c1, c2, … over the whole prompt, in this order, the omitted ones included.
//
// read_chunks returns a deferred chunk in a frame of its own: the frame that it belongs to, with chunk="c12" as a further
// attribute. Long texts are deferred in parts of at most 24 KB.
//
// # What goes in when not everything fits
//
// Text goes first: when all text fits into max_prompt_tokens, images and pages take what remains, in order, local ones
// before those of the web. When it does not, the prompt is cut at one place, at a line's end; up to there images count
// too. drop_oldest keeps what is after the cut, the other settings what is before it.
package prompt

// Format is the version of the layout above.
const Format = 1

// Package prompt turns a step and its inputs into the content blocks of one message, and into the receipt that says for
// every reference what became of it. It reads files through an fs.FS and three narrow functions, writes nothing, calls
// no model, and gives the same result for the same input, the nonce aside.
//
// # Prompt format 1
//
// The system prompt is: the workflow's instructions; "Facts about this run:" with one line for each fact; and, when there
// are inputs, "How to read the inputs:" with the rules of frames, images and trust.
//
// The user message is: the step's prompt text, in which `{{NAME}}` is replaced by the input with `as=NAME`; then the
// other inputs in order. Each file is an input of its own:
//
//	<input-NONCE path="Notes/a.md" trust="trusted">
//	…
//	</input-NONCE>
//
// A variable has variable="name" instead of path, a transcluded note is an <embed-NONCE …> inside the input. NONCE is
// random for each prompt and occurs in no input, so text in a file cannot close its own frame. trust is trusted or
// untrusted; what is transcluded by something untrusted is untrusted.
//
// Inside a frame stand, in the author's order, as blocks of their own:
//
//   - text, exactly the bytes of the file; a chunk of nothing but white space is joined to the block behind it, since
//     providers refuse blank blocks;
//   - for each image a line `[image 3: assets/x.png, 640x480, alt "the page"]` and then the image. Every reference to an
//     image has a number, counted over the prompt, whether it is attached or not;
//   - where an image is not attached, a line in its place: `[image 4: same picture as image 1]`, `[image 5: missing, …]`,
//     `[image 6: remote, …]`, `[image 7: …, deferred as c12: …]`, `[image 8: …, not shown: …]`; the image's text for a
//     model that cannot see; the reference as written for images=ignore;
//   - lines in brackets for embeds, documents and files that are not shown, and `[shown: …]` where head=, tail=, lines=
//     or properties= cut a file;
//   - at the end, when references stand without their bytes, a list: a line `IMAGE_REFS`, then for each of them
//     `image N | path | type | WxH | size | sha256 prefix | status`, with `-` for what is not known.
//
// Comments of Obsidian are left out unless comments=keep. Names are vault names; no path of the machine appears.
// Chunks are numbered c1, c2, … over the whole prompt, in this order, the omitted ones included.
package prompt

// Format is the version of the layout above.
const Format = 1

// Package anthropic speaks Anthropic's Messages API, streaming.
//
// It is a codec of our own over net/http and not the official SDK. Tried with anthropic-sdk-go v1.84.0: a body can be
// streamed only by bypassing its parameter types (WithRequestBody), so that just the HTTP client of the SDK would be in
// use; its accumulator drops deltas of kinds that it does not know, and ToParam drops new fields of known blocks, while a
// turn must go back unchanged; and it costs 95 s of processor time to compile.
//
// Known and relied on: pictures and texts of a user's turn keep their order; a text of blanks alone is refused, and is
// left out here; system is a string; thinking blocks with their signatures go back first in their turn, as they came.
package anthropic

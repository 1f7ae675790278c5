// Package ollama speaks Ollama's own /api/chat, streaming JSON lines.
//
// Its traps, each with a test: a message's pictures are put before its text, so every part of the author's turn is a
// message of its own (Ollama joins neighbours of one role with a blank line, in order); a literal "[img-0]" in a text would
// be taken for a picture and is escaped; pictures are bare base64; a prompt that is too long is cut silently unless
// truncate and shift are false; a picture under 15 pixels a side crashes the runner and is sent as its text. The compatible
// endpoints of Ollama lose order or pictures and are not used.
package ollama

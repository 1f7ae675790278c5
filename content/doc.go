// Package content holds the blocks that a message is made of: text, image, document, audio, video,
// thinking, tool call and tool result. Blocks are immutable values; they carry names, sizes and digests, never the bytes of a picture or a file, so
// that a stored message stays small and can be shown anywhere. Every block renders to text with no file access.
//
// The package does no I/O and imports nothing of ours. Bytes are loaded by whoever writes the request (see llm.Loader).
package content

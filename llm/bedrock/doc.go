// Package bedrock speaks Amazon Bedrock's Converse API, streaming (ConverseStream).
//
// It is a codec of our own over net/http with small modules of the official SDK: aws/signer/v4 for signatures,
// aws/protocol/eventstream for the frames of an answer, config for profiles. Tried with service/bedrockruntime v1.63.10:
// it writes a request into memory whole, pictures and all, and once more as base64, where a body here holds one picture at a
// time; blocks pass through typed values, so that fields it does not know never go back; and numbers in documents come back
// as strings. It would cost 9 s more to compile and 2.2 MB more of a program than signer and frames (4.6 s and 0.2 MB of
// processor time and size over net/http; profiles cost 15 s and 3.1 MB, whoever speaks the API).
//
// What is sent and read follows the published service model (botocore, bedrock-runtime 2023-09-30, of August 2026):
// formats of media are tokens, not media types; only user turns have media; the results of all calls of a turn are in one
// user turn; a document has a text beside it and a name unique in the request. The name is an id of ours: the model sees it,
// and a file name could be worded like an instruction. Roles alternate, and a user's turn comes first.
//
// Claude sees the pages of a PDF only if citations are enabled, which they are, unless the service enforces a schema: the two
// exclude each other, so a request with documents has its schema in the system prompt.
//
// Reasoning is echoed unchanged, except to DeepSeek, which accepts none; a turn of only reasoning is not echoed, since later
// models refuse it. Blocks of the service's own tools, which are not used, are dropped.
//
// Everything is tested against llmtest.Bedrock, never against the service itself.
package bedrock

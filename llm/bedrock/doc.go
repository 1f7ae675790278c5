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
// formats of media are tokens, not media types; media stand in user turns alone; the results of all calls of a turn are in
// one user turn; a document has a text beside it and a name that only this request has. The name is an id of ours: it is
// shown to the model, and a file's own name could read like an order. Roles alternate, and a user's turn comes first.
//
// Claude sees the pages of a PDF only when citations are enabled for it, which they are, unless the answer is held to a schema
// by the service: the two exclude each other, so a request with documents tells the schema in words.
//
// Reasoning goes back as it came, but for DeepSeek, which takes none back; a turn of reasoning alone is not echoed, since
// later models refuse it. Blocks that only the service's own tools make (none is asked for) are not kept.
//
// No request was made to the service itself: everything is tried against llmtest.Bedrock.
package bedrock

// Package gemini speaks Google's generateContent, streaming: the Gemini Developer API and, with its address as BaseURL,
// Vertex AI.
//
// It is a codec of our own over net/http: the official SDK turns parts that it does not know into {}, large integers into
// floats, and buffers the whole request.
package gemini

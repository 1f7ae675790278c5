// Package openai speaks OpenAI's Chat Completions, streaming, and with it every compatible service: one table (dialect.go)
// holds the differences. OpenAI's newer format, Responses, is in the files of that name.
//
// It is a codec of our own over net/http: the official SDK drops reasoning_content, reasoning_details and other fields of
// compatible services when a turn goes back, and buffers the whole request.
package openai

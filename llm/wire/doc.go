// Package wire is what HTTP adapters share: endpoints, streamed request bodies, readers for server-sent events and JSON
// lines, the classification of failures, and the adaptation of schemas.
//
// It reads no environment but the proxy variables, keeps no state between calls, and puts no key, request body or media
// bytes into an error.
package wire

// Package wire is what HTTP adapters share: where a service is and how it is called, a request body that is written as a
// stream, readers for server-sent events and JSON lines, what a failed answer means, and how a schema is made to fit.
//
// It reads no environment but the proxy variables, keeps no state between calls, and puts no key, request body or media
// bytes into an error.
package wire

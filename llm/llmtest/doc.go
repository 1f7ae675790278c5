// Package llmtest is the suite that every model adapter passes, with local servers that speak the services' wire formats
// and refuse what the real ones refuse: unknown members, empty texts, a media type that is not that of the bytes.
//
// The servers are of use to other tests too: they record each request and the parts of the user's turn in the order in
// which the model would see them. Only tests import this package.
package llmtest

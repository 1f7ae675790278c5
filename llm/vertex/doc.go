// Package vertex is what all publishers' models on Google's Vertex AI have alike: addresses and tokens. The wire formats are
// those of packages gemini and anthropic, which take what Account.Config makes.
//
// Tokens come from golang.org/x/oauth2/google: a service account's key, what `gcloud auth application-default login` left,
// a machine's own account. It costs 4 s to compile and 0.4 MB; cloud.google.com/go/auth, its successor, brings gRPC and
// OpenTelemetry along as modules. A token that somebody already has goes as the key.
//
// No request was made to the service itself: everything is tried against the Vertex sides of llmtest.Gemini and
// llmtest.Anthropic.
package vertex

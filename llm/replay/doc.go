// Package replay records HTTP exchanges with a model service into a cassette file and plays them back without a network.
// Both are http.RoundTrippers, so any adapter works with them through llm.Config.Client.
//
// A cassette is made to be committed: it holds no headers but three harmless ones of the answer, no host, no key that the
// recorder knows, and of every picture only its digest and size. Recording buffers whole exchanges in memory.
package replay

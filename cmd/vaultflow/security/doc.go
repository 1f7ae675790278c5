// Package security holds no code: its tests play attacks through the shipped binaries. Each scenario has a vault of its own,
// a person's settings, and a model that obeys every order it reads; it ends with the question what was written, sent or
// approved that nobody granted. The tests run in a network namespace of their own, in which every address answers and
// every packet is counted.
package security

// Package offline is a model that needs no key, no network and no GPU. It quotes the text and names the pictures that it was
// sent, in their order, and its first line says so. It is for trying things out, demos and tests. Equal requests get equal
// answers.
//
// When an answer must fit a JSON Schema, it is the smallest instance that package conform accepts: no optional members, empty
// texts, zeros. Nothing of the prompt is in it.
package offline

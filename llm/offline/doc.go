// Package offline is a model that needs no key, no network and no GPU: it answers by extracting from the prompt (headings
// with their pages, pictures, first sentences, tasks, dates) and says so in its first line. Equal requests get equal
// answers. It is for trying, demos and tests; it never guesses and never claims to have looked at a picture.
package offline

// Package offline is a model that needs no key, no network and no GPU: it answers by extracting from the prompt (headings
// with their pages, pictures, first sentences, tasks, dates) and says so in its first line. Equal requests get equal
// answers. It is for trying, demos and tests; it never guesses and never claims to have looked at a picture.
//
// When an answer must fit a JSON Schema, it is built from the schema: members are filled by their names from what was
// extracted, and hold the least value that fits where nothing was (confidence 0, say). JSON has no place for the first
// line. A list of texts with a pattern holds the texts of the inputs that fit it. If/then and not are beyond it: such an answer may not fit, which its step then says.
package offline

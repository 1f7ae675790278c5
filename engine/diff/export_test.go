package diff

// Replaced is the diff of texts that are too long to be compared.
var Replaced = replaced

// Package disk implements package vault on a folder. It reads through an os.Root, so no name and no link leads out of the
// folder. It is the only package that writes notes: always by temporary file, fsync and rename, and only over the content
// that the author of the change has read. It resolves links by Obsidian's rules, and watches the folder for changed notes
// and for files dropped into the import folder.
//
// A name is a slash path inside the vault. Operating system paths stay in this package. Its temporary files and
// half-filled bundles have names that begin with ".vaultflow-"; it leaves nothing else in the vault that it was not asked
// to write, and never writes below a folder whose name begins with a dot.
package disk

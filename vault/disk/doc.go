// Package disk is the one door to a folder of Markdown notes. It reads through an os.Root, so that no name and no link
// leads out of the folder; it is the only writer, always by temporary file, fsync and rename, and only over the content
// that was read; it finds the file that a link means, by Obsidian's rules; and it watches the folder for changed notes
// and for files dropped into the import folder.
//
// A name is a slash path inside the vault. Operating system paths stay in this package. The package keeps nothing in the
// vault but what it was asked to write: its temporary files and half-filled bundles have names that begin with
// ".vaultflow-". It never deletes a person's file, and it never writes below a folder whose name begins with a dot.
package disk

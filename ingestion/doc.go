// Package ingestion turns a file that arrived in the import folder into a bundle of the vault: page images, text, a
// manifest for machines and a note for people.
//
// The four methods of [Importer] are the stages of an import: Classify, Extract, Publish, File. Each takes and returns small JSON
// values (names and digests, never bytes). After a crash at any point it can be called again and resumes: a page with a record
// is never rendered again, a bundle appears once, an original is never lost.
//
// The package keeps no state of its own. Its progress is in two hidden folders that the vault stages for an import. One becomes
// the bundle. The other holds a small record of each finished page and the publishing plan, and is discarded when the original
// is filed. A worker process behind [reading.Worker] reads documents, and everything it sends is untrusted. The package decodes
// no picture and no page in this process, and writes only through [vault.Files] and [vault.Bundle].
package ingestion

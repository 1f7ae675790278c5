// Package ingestion turns a file that arrived in the import folder into a bundle of the vault: page images, text, a
// manifest for machines and a note for people.
//
// The four methods of [Importer] are the stages of an import: Classify, Extract, Publish, File. Each takes and gives
// small JSON values (names and digests, never bytes), may be repeated after a crash at any point, and then goes on where
// it was: a page that has a record is never rendered again, a bundle appears once, an original is never lost.
//
// The package keeps no state of its own. What it has finished lies in two hidden folders that the vault stages for an
// import: one becomes the bundle, the other holds a small record for each finished page and the publishing plan, and is
// discarded when the original is filed. Documents are read by a worker process behind [Worker]; everything that comes
// back from there is untrusted. The package never decodes a document in this process, but for pictures in the formats
// that package imaging reads, and never writes outside of [Files] and [Bundle].
package ingestion

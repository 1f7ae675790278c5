package indexnote

import (
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/vaultflow/vaultflow/ingestion/filetype"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
	"github.com/vaultflow/vaultflow/ingestion/markdown"
)

// writeBody writes the contents below the title and the list of facts, in the layout for the file's kind.
func writeBody(n *Note) error {
	switch {
	case n.chapter != nil:
		return writeSections(n)
	case n.divided():
		if n.Manifest.Source.Kind == filetype.KindPDF {
			writeAttached(n)
		}
		writeOverview(n)
		return writeUnplacedOfChapters(n)
	}
	switch n.Manifest.Source.Kind {
	case filetype.KindPDF:
		return writePages(n)
	case filetype.KindImage:
		return writePictures(n)
	case filetype.KindText:
		return writeText(n)
	case filetype.KindHTML, filetype.KindOffice, filetype.KindPackage:
		return writeParts(n)
	case filetype.KindEmail:
		return writeMail(n)
	case filetype.KindArchive:
		return writeMembers(n)
	case filetype.KindAudio:
		return writeRecording(n)
	}
	return writeKept(n)
}

// writeKept shows what is known of a file that is not read.
func writeKept(n *Note) error {
	n.line("")
	n.line(n.Message)
	n.line("")
	n.line("- type: " + markdown.Inline(n.Manifest.Source.MediaType))
	n.line("- size: " + markdown.Size(n.Manifest.Source.Size))
	if !n.Manifest.Source.ModTime.IsZero() {
		n.line("- last changed: " + n.Manifest.Source.ModTime.Format("2 January 2006"))
	}
	return nil
}

// writeRecording shows a recording, and what is said in it.
func writeRecording(n *Note) error {
	if n.Original != "" {
		target := n.Original
		if !strings.Contains(target, "/") {
			target = "./" + target
		}
		n.line("")
		n.line("![[" + target + "]]")
	}
	if n.Message != "" {
		return writeKept(n)
	}
	text, err := n.text(n.Manifest.Pages[0])
	if err != nil {
		return err
	}
	n.line("")
	if text == "" {
		n.line("Nothing is said in the recording.")
		return nil
	}
	n.line("## What is said")
	n.line("")
	n.line(text)
	return nil
}

// writeMembers lists the files of an archive, with links to their bundles.
func writeMembers(n *Note) error {
	if n.Message != "" {
		return writeKept(n)
	}
	if len(n.Manifest.Pages) > 0 {
		return writeText(n) // a note with its pictures
	}
	if len(n.Manifest.Members) > 0 {
		writeTree(n)
		return nil
	}
	writeChildren(n, "Each file of the archive is imported separately:")
	return nil
}

// writeChildren lists the files that are imported by themselves, with links to their bundles.
func writeChildren(n *Note, sentence string) {
	n.line("")
	n.line(sentence)
	n.line("")
	for _, c := range n.Manifest.Children {
		n.line("- [[./" + path.Join(c.Bundle, n.childNote(c)) + "|" + markdown.Alias(c.Name) + "]]")
	}
}

// writeAttached lists the files that are attached to a PDF. It comes before the pages: those of a portfolio only say how to open it.
func writeAttached(n *Note) {
	if len(n.Manifest.Children) > 0 {
		writeChildren(n, "Each of these attached files is imported separately:")
	}
	first := true
	for _, a := range n.Manifest.Assets {
		if path.Dir(a.Path) != manifest.AttachedDir {
			continue
		}
		if first {
			n.line("")
			n.line("Attached files:")
			n.line("")
			first = false
		}
		n.line("- [[./" + a.Path + "|" + markdown.Alias(path.Base(a.Path)) + "]], " + markdown.Size(a.Bytes))
	}
}

// childNote returns the note of a bundle that is made of a part of the source, without its extension.
func (n *Note) childNote(c manifest.Child) string {
	if n.Manifest.Note == "" {
		return "index" // as in the versions before
	}
	return strings.TrimSuffix(manifest.NoteFor(c.Bundle), ".md")
}

// writePages shows the outline and the pages of a document.
func writePages(n *Note) error {
	writeAttached(n)
	n.contents()
	for _, p := range n.Manifest.Pages {
		if err := n.page(p, fmt.Sprintf("Page %d", p.N)); err != nil {
			return err
		}
	}
	return nil
}

// embeddable are the pictures that Obsidian shows.
var embeddable = map[string]bool{"image/svg+xml": true, "image/avif": true, "image/webp": true, "image/bmp": true, "image/png": true, "image/jpeg": true, "image/gif": true}

// writePictures shows the pictures of a file, and the text that was found in them.
func writePictures(n *Note) error {
	if len(n.Manifest.Pages) == 0 {
		n.line("")
		if embedOriginal(n) {
			n.line("")
		}
		n.line(n.Message)
		return nil
	}
	for _, p := range n.Manifest.Pages {
		if len(n.Manifest.Pages) > 1 {
			if err := n.page(p, fmt.Sprintf("Page %d", p.N)); err != nil {
				return err
			}
			continue
		}
		if err := writePicture(n, p); err != nil {
			return err
		}
	}
	return nil
}

// embedOriginal shows the original if Obsidian can, and reports whether it did.
func embedOriginal(n *Note) bool {
	can := n.Original != "" && embeddable[n.Manifest.Source.MediaType]
	if can {
		n.line("![[./" + n.Original + "]]")
	}
	return can
}

// writePicture shows the only picture of a file.
func writePicture(n *Note, p manifest.Page) error {
	n.line("")
	if p.Image != nil {
		n.line("![[./" + p.Image.Path + "]] ^p1")
	} else {
		embedOriginal(n)
	}
	n.remarks(p)
	text, err := n.text(p)
	if err != nil || text == "" {
		return err
	}
	n.line("")
	n.line("## Text in the picture")
	n.line("")
	n.line(text)
	return nil
}

// writeText shows the text of a text file.
func writeText(n *Note) error {
	if n.Message != "" {
		return writeKept(n)
	}
	n.line("")
	if p := n.Manifest.Pages[0]; p.Text != nil && p.Text.Path != "" {
		data, err := fs.ReadFile(n.Bundle, p.Text.Path)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrText, err)
		}
		n.line(markdown.Demote(strings.TrimRight(fromFile(n, string(data)), "\n"), 1))
		return nil
	}
	n.line("The file is empty.")
	return nil
}

// writeMail shows a message and lists its attachments.
func writeMail(n *Note) error {
	err := writeParts(n)
	if err == nil && len(n.Manifest.Children) > 0 {
		writeChildren(n, "Each attachment is imported separately:")
	}
	return err
}

// writeParts shows every part below its label, with its pictures in place.
func writeParts(n *Note) error {
	if n.Message != "" {
		return writeKept(n)
	}
	for _, p := range n.Manifest.Pages {
		if err := writePart(n, p); err != nil {
			return err
		}
	}
	if n.inline() {
		writeUnplaced(n, n.b.String())
	}
	writePrintedPages(n)
	return nil
}

// writePart writes a part below its label, with its pictures in place.
func writePart(n *Note, p manifest.Page) error {
	n.line("")
	if p.Label != "" {
		n.line("## " + markdown.Inline(p.Label) + " ^p" + strconv.Itoa(p.N))
		n.line("")
		writePrinted(n, p)
	}
	if !n.inline() && p.Text != nil && p.Text.Path != "" {
		n.line("[[" + n.here() + p.Text.Path + "|text]]")
		return nil
	}
	text, err := n.text(p)
	if err != nil {
		return err
	}
	if len(n.Manifest.Pages) == 1 && p.Label == "" {
		text = strings.ReplaceAll("\n"+text, "\n###", "\n##")[1:]
	}
	n.line(text)
	return nil
}

// writeUnplacedOfChapters shows the pictures that are in no chapter.
func writeUnplacedOfChapters(n *Note) error {
	if k := n.Manifest.Source.Kind; k != filetype.KindOffice && k != filetype.KindHTML && k != filetype.KindPackage {
		return nil
	}
	var all strings.Builder
	for _, c := range n.Manifest.Chapters {
		part := n.ofChapter(c)
		if err := writeSections(part); err != nil {
			return err
		}
		all.WriteString(strings.ReplaceAll(part.b.String(), "(../", "(./"))
	}
	writeUnplaced(n, all.String())
	return nil
}

// writeUnplaced shows pictures that have no place in the text, such as those that float over a sheet.
func writeUnplaced(n *Note, text string) {
	first := true
	for _, a := range n.Manifest.Assets {
		if strings.Contains(text, "(./"+a.Path+")") {
			continue
		}
		if first {
			n.line("")
			n.line("## Pictures")
			n.line("")
		}
		first = false
		n.line("![" + path.Base(a.Path) + "](./" + a.Path + ")")
	}
}

// writePrinted shows the pictures of a part below its heading.
func writePrinted(n *Note, p manifest.Page) {
	if p.Image == nil {
		return
	}
	for _, image := range append([]manifest.PageImage{*p.Image}, p.Others...) {
		n.line("![[" + n.here() + image.Path + "]]")
	}
	n.line("")
}

// writePrintedPages shows the pages of a document that is one text, after the text: where each page begins in it is unknown.
func writePrintedPages(n *Note) {
	if len(n.Manifest.Pages) != 1 || n.Manifest.Pages[0].Label != "" || n.Manifest.Pages[0].Image == nil {
		return
	}
	n.line("")
	n.line("## Pages")
	n.line("")
	writePrinted(n, n.Manifest.Pages[0])
}

package office

import (
	"archive/zip"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
)

// archive is a ZIP file whose parts are found without case and read within limits.
type archive struct {
	files  map[string]*zip.File
	limits Limits
	left   int64                        // of Limits.Total
	broken func(name string, err error) // called for a part that is damaged or missing, of which the rest can do without

	source io.ReaderAt
	size   int64
}

func newArchive(z *zip.Reader, r io.ReaderAt, size int64, limits Limits) *archive {
	a := &archive{files: map[string]*zip.File{}, limits: limits, left: limits.Total, source: r, size: size}
	for _, f := range z.File {
		name := strings.ToLower(strings.TrimPrefix(strings.ReplaceAll(f.Name, `\`, "/"), "/"))
		if _, twice := a.files[name]; !twice {
			a.files[name] = f
		}
	}
	return a
}

func (a *archive) has(name string) bool { return a.files[strings.ToLower(name)] != nil }

// readLimited returns a part's bytes, unpacked. A part above the limit is an error, whatever its header says.
func (a *archive) readLimited(name string, limit int64) ([]byte, error) {
	f := a.files[strings.ToLower(name)]
	switch {
	case name == "":
		return nil, errors.New("the file is damaged: a part that it needs is not named in it")
	case f == nil:
		return nil, fmt.Errorf("the file has no part %s", name)
	}
	if f.Flags&1 != 0 {
		return nil, ErrEncrypted
	}
	in, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("open the part %s: %w", name, err)
	}
	defer in.Close()
	data, err := io.ReadAll(io.LimitReader(in, limit+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the part %s: %w", name, err)
	case int64(len(data)) > limit:
		return nil, fmt.Errorf("the part %s is larger than %d MB", name, limit>>20)
	}
	return data, nil
}

func (a *archive) read(name string) ([]byte, error) {
	data, err := a.readLimited(name, min(a.limits.Part, a.left))
	a.left -= int64(len(data))
	return data, err
}

// tree reads a part of XML.
func (a *archive) tree(name string) (*node, error) {
	data, err := a.read(name)
	if err != nil {
		return nil, err
	}
	root, err := parse(data)
	if errors.Is(err, errTags) {
		a.broken(name, err)
		return root, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the part %s: %w", name, err)
	}
	return root, nil
}

// optional is tree for a part that may be missing: then an empty tree. One that is damaged is as far as it can be read, with a warning.
func (a *archive) optional(name string) *node {
	if !a.has(name) {
		return &node{}
	}
	data, err := a.read(name)
	if err != nil {
		a.broken(name, err)
		return &node{}
	}
	root, err := parse(data)
	if err != nil {
		a.broken(name, err)
	}
	return root
}

// check warns about a part of XML that is damaged, for readers that take what they find in it and report nothing.
func (a *archive) check(name string) {
	data, err := a.read(name)
	a.left += int64(len(data)) // it is read again
	if err == nil {
		err = WellFormed(data)
	}
	if err != nil {
		a.broken(name, err)
	}
}

// relations are the targets of a part's relationships by id. Targets inside the archive are whole names; others, such as
// web addresses, stay as they are.
func (a *archive) relations(part string) map[string]relation {
	dir, base := path.Split(part)
	list := map[string]relation{}
	for _, r := range a.optional(dir + "_rels/" + base + ".rels").all("Relationship") {
		to := r.attr("Target")
		external := r.attr("TargetMode") == "External"
		if !external {
			if strings.HasPrefix(to, "/") {
				to = strings.TrimPrefix(to, "/")
			} else {
				to = path.Join(dir, to)
			}
		}
		list[r.attr("Id")] = relation{target: to, kind: r.attr("Type")[strings.LastIndexByte(r.attr("Type"), '/')+1:], external: external}
	}
	return list
}

// linked is relations, with a warning if the part refers to some and their list is not there.
func (a *archive) linked(part string, root *node) map[string]relation {
	dir, base := path.Split(part)
	if list := dir + "_rels/" + base + ".rels"; !a.has(list) && root.refers() {
		a.broken(list, errors.New("it is missing"))
	}
	return a.relations(part)
}

// refers reports whether an element or one in it has an attribute of the namespace of relationships, by its usual prefix.
func (n *node) refers() bool {
	return slices.ContainsFunc(n.attrs, func(a xml.Attr) bool { return a.Name.Space == "r" }) || slices.ContainsFunc(n.kids, (*node).refers)
}

type relation struct {
	target   string
	kind     string // last part of its type: image, hyperlink, slide, …
	external bool
}

// mainType is the content type of the part that the archive is about.
func (a *archive) mainType() string {
	for _, r := range a.relations("") {
		if r.kind == "officeDocument" {
			for _, o := range a.optional("[Content_Types].xml").all("Override") {
				if strings.TrimPrefix(o.attr("PartName"), "/") == r.target {
					return o.attr("ContentType")
				}
			}
		}
	}
	return ""
}

// main is the part that the archive is about, or the usual one.
func (a *archive) main(usual string) string {
	for _, r := range a.relations("") {
		if r.kind == "officeDocument" && a.has(r.target) {
			return r.target
		}
	}
	return usual
}

// properties takes over title, author and date.
func (a *archive) properties(doc *Document, part string) {
	core := a.optional(part)
	if n := core.first("title"); n != nil {
		doc.Title = strings.TrimSpace(n.flat())
	}
	for _, name := range []string{"creator", "initial-creator"} {
		if n := core.first(name); n != nil && doc.Author == "" {
			doc.Author = strings.TrimSpace(n.flat())
		}
	}
	for _, name := range []string{"created", "creation-date", "date"} {
		if n := core.first(name); n != nil && doc.Created == "" {
			doc.Created = strings.TrimSpace(n.flat())
		}
	}
}

package prompt

import (
	"errors"
	"io/fs"
	"path"
	"strings"

	"github.com/vaultflow/vaultflow/chunking"
	"github.com/vaultflow/vaultflow/policy"
)

// probed is what is known about a file that should be a picture.
type probed struct {
	picture Picture
	err     error
}

// reference lists an image of a note.
func (c *collector) reference(n note, k chunking.Chunk, l Line) error {
	img := &image{number: len(c.candidates) + 1, as: k.Text, remote: k.Remote}
	cand := policy.Candidate{Mode: mode(n.input), Remote: k.Remote}
	switch scheme := chunking.Scheme(k.Target); {
	case k.Remote:
		cand.Name = k.Target
		l.Target = clipped(k.Target)
	case scheme != "":
		cand.Problem = "pictures at " + scheme + ": are not read"
	default:
		loc, err := c.locate(k.Target, n.name, k.FirstLine)
		if err != nil {
			return err
		}
		cand.Missing, img.near = !loc.Found, loc.Near
		c.describe(loc.Name, &l, &cand)
	}
	c.image(img, cand, l)
	return nil
}

// picture lists an input that is itself a picture.
func (c *collector) picture(in Input, name string) error {
	img := &image{number: len(c.candidates) + 1, as: name}
	cand := policy.Candidate{Mode: mode(in)}
	l := Line{Kind: KindImage, Source: Source{Note: name}, Target: name}
	c.describe(name, &l, &cand)
	c.image(img, cand, l)
	return nil
}

func (c *collector) image(img *image, cand policy.Candidate, l Line) {
	if !c.spec.Caps.Has(policy.Vision) && cand.Mode != policy.Ignore && cand.Problem == "" && !cand.Missing {
		img.fallback = c.fallback(l.Name)
	}
	c.candidates = append(c.candidates, cand)
	c.add(item{role: roleImage, image: img}, l)
}

// fallback is the text that was recognised in the picture.
func (c *collector) fallback(name string) string {
	if c.builder.Fallbacks == nil || name == "" {
		return ""
	}
	return strings.TrimSpace(c.builder.Fallbacks(name))
}

func mode(in Input) policy.ImageMode { return policy.ImageMode(in.Directive.ImagesMode()) }

// describe fills in what the header of the file tells.
func (c *collector) describe(name string, l *Line, cand *policy.Candidate) {
	if name == "" {
		return
	}
	p, seen := c.pictures[name]
	if !seen {
		p.err = errors.New("pictures cannot be read here")
		if c.builder.Probe != nil {
			p.picture, p.err = c.builder.Probe(name)
		}
		c.pictures[name] = p
	}
	l.Name, cand.Name = name, name
	switch {
	case errors.Is(p.err, fs.ErrNotExist):
		cand.Missing = true
	case p.err != nil:
		cand.Problem = reason(p.err)
	}
	l.MediaType, l.Width, l.Height, l.Size, l.SHA256 = p.picture.MediaType, p.picture.Width, p.picture.Height, p.picture.Size, p.picture.SHA256
	cand.MediaType, cand.Width, cand.Height, cand.Size, cand.SHA256 = l.MediaType, l.Width, l.Height, l.Size, l.SHA256
}

// reason is an error in words, without the path that file systems put in front.
func reason(err error) string {
	var at *fs.PathError
	if errors.As(err, &at) {
		return quoted(at.Err.Error())
	}
	return quoted(err.Error())
}

// locate resolves a target, and says so when it could be several files.
func (c *collector) locate(target, from string, line int) (Location, error) {
	var loc Location
	if c.builder.Links != nil {
		loc = c.builder.Links.Locate(target, from)
	} else {
		loc = c.builder.beside(target, from)
	}
	if !loc.Found || len(loc.Ambiguous) == 0 {
		return loc, nil
	}
	if c.spec.StrictLinks {
		return loc, &AmbiguousError{Note: from, Line: line, Target: target, Names: loc.Ambiguous}
	}
	c.warn(Warning{Note: from, Line: line, Target: target, Near: loc.Ambiguous, Message: "the link matches several files; " + loc.Name + " is used"})
	return loc, nil
}

// beside looks for a vault path, then beside the note. It stands in where there is no index.
func (b Builder) beside(target, from string) Location {
	for _, name := range []string{strings.Trim(target, "/"), path.Join(path.Dir(from), target)} {
		for _, try := range []string{name, name + ".md"} {
			if !fs.ValidPath(try) {
				continue
			}
			if info, err := fs.Stat(b.FS, try); err == nil && info.Mode().IsRegular() {
				return Location{Name: try, Found: true}
			}
		}
	}
	return Location{}
}

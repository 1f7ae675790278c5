package prompt

import (
	"errors"
	"io/fs"
	"net/url"
	"path"
	"strings"

	"github.com/vaultflow/vaultflow/chunking"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/vault"
)

// reference lists an image of a note.
func (c *collector) reference(s shown, k chunking.Chunk, l Line) error {
	m := &media{as: k.Text, remote: k.Remote}
	cand := policy.Candidate{Mode: mode(s.input), Remote: k.Remote}
	switch scheme := chunking.Scheme(k.Target); {
	case k.Remote:
		cand.Name = k.Target
		l.Target = clipped(k.Target)
		if host := hostOf(k.Target); s.untrusted && (c.spec.MayLink == nil || !c.spec.MayLink(host)) {
			cand.Problem = "not fetched: the address stands in untrusted content, and permissions.links does not name " + quoted(host)
		}
	case scheme != "":
		cand.Problem = "pictures at " + scheme + ": are not read"
	default:
		loc, err := c.locate(k.Target, s.name, k.FirstLine)
		if err != nil {
			return err
		}
		cand.Missing, m.near = !loc.Found, loc.Near
		c.names(loc.Near)
		if loc.Found && !c.mayRead(loc.Name) {
			cand.Problem = notPermitted
		}
		c.reads = append(c.reads, policy.Read{Kind: policy.ReadFile, Name: loc.Name})
		c.image(m, loc.Name, cand, l)
		return nil
	}
	c.attach(item{media: m}, cand, l)
	return nil
}

// hostOf is the host that an address names, in small letters.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
}

// picture lists a file that is itself a picture, or that has one. An embed needs no frame: a picture is no text.
func (c *collector) picture(s shown, name string) error {
	m, cand := &media{as: s.name}, policy.Candidate{Mode: mode(s.input)}
	if s.embedded {
		m.as = "[embed: " + quoted(s.name) + "]\n"
		c.reads = append(c.reads, policy.Read{Kind: policy.ReadFile, Name: name})
		c.image(m, name, cand, *s.line)
		return nil
	}
	return c.inputFrame(s, func() error {
		c.image(m, name, cand, Line{Kind: KindImage, Source: Source{Note: s.name}, Target: clipped(s.name)})
		return nil
	})
}

// image lists a picture of the vault. It is looked at later, when it is known how many there are.
func (c *collector) image(m *media, name string, cand policy.Candidate, l Line) {
	l.Name, cand.Name = name, name
	c.attach(item{media: m}, cand, l)
}

// fallback is the text that was recognised in the picture.
func (c *collector) fallback(name string) string {
	if c.builder.Fallbacks == nil || name == "" {
		return ""
	}
	return strings.TrimSpace(c.builder.Fallbacks(name))
}

func mode(in Input) policy.ImageMode { return policy.ImageMode(in.Directive.ImagesMode()) }

// reason is an error in words, without the path that file systems put in front.
func reason(err error) string {
	var at *fs.PathError
	if errors.As(err, &at) {
		return quoted(at.Err.Error())
	}
	return quoted(err.Error())
}

// locate resolves a target, and says so when it could be several files.
func (c *collector) locate(target, from string, line int) (vault.Location, error) {
	var loc vault.Location
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
func (b Builder) beside(target, from string) vault.Location {
	for _, name := range []string{strings.Trim(target, "/"), path.Join(path.Dir(from), target)} {
		for _, try := range []string{name, name + ".md"} {
			if !fs.ValidPath(try) {
				continue
			}
			if info, err := fs.Stat(b.FS, try); err == nil && info.Mode().IsRegular() {
				return vault.Location{Name: try, Found: true}
			}
		}
	}
	return vault.Location{}
}

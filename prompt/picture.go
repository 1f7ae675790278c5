package prompt

import (
	"errors"
	"io/fs"
	"net/url"
	"strings"

	"github.com/vaultflow/vaultflow/chunking"
	"github.com/vaultflow/vaultflow/failure/omission"
	"github.com/vaultflow/vaultflow/policy"
)

// reference lists an image of a note.
func (w noteWriter) reference(s shown, k chunking.Chunk, l Line) error {
	m := &media{as: k.Text, remote: k.Remote}
	cand := policy.Candidate{Mode: mode(s.input), Remote: k.Remote}
	switch scheme := chunking.Scheme(k.Target); {
	case k.Remote:
		cand.Name = k.Target
		l.Target = clipped(k.Target)
		if host := hostOf(k.Target); s.untrusted && (w.mayLink == nil || !w.mayLink(host)) {
			cand.Problem = "not fetched: the address is in untrusted content, and permissions.links does not name " + quoted(host)
		}
	case scheme != "":
		cand.Problem, cand.Why = "pictures at "+scheme+": are not read", omission.Of(omission.Address)
	default:
		loc, err := w.links.locate(k.Target, s.name, k.FirstLine)
		if err != nil {
			return err
		}
		cand.Missing, m.near = !loc.Found, loc.Near
		w.out.names(loc.Near)
		if loc.Found && !w.files.mayRead(loc.Name) {
			cand.Problem, cand.Why = notPermitted, omission.Of(omission.Denied)
		}
		w.out.reads = append(w.out.reads, policy.Read{Kind: policy.ReadFile, Name: loc.Name})
		w.out.image(m, loc.Name, cand, l)
		return nil
	}
	w.out.attach(item{media: m}, cand, l)
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

func mode(in Input) policy.ImageMode { return policy.ImageMode(in.Directive.ImagesMode()) }

// reason is an error in words, without the path that file systems put in front.
func reason(err error) string {
	var at *fs.PathError
	if errors.As(err, &at) {
		return quoted(at.Err.Error())
	}
	return quoted(err.Error())
}

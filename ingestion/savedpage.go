package ingestion

import (
	"context"
	"errors"
	"io"
	"net/url"
	"path"
	"regexp"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion/archive"
	"github.com/vaultflow/vaultflow/ingestion/export"
	"github.com/vaultflow/vaultflow/ingestion/fault"
	"github.com/vaultflow/vaultflow/ingestion/webpage"
)

// savedPage reads an archive of a web page and the files that a browser saved with it, and reports whether it is one. The pictures of
// the page are those of the archive.
func (u unpacking) savedPage(ctx context.Context) (bool, error) {
	var names []string
	err := u.flat(ctx, func(m archive.Member, _ io.Reader) error {
		switch name, why := u.w.places.treeName(m); {
		case why == whyIgnored:
		case why != "" || len(names) > archive.MaxMembers:
			return errNoPage
		default:
			names = append(names, name)
		}
		return nil
	})
	at, ok := export.SavedPage(names)
	if errors.Is(err, errNoPage) || err == nil && !ok {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	page := names[at]
	data, err := u.member(ctx, page, webpage.MaxSize)
	if err != nil {
		return false, err
	}
	in := map[string]bool{}
	for _, name := range names {
		in[name] = true
	}
	source := webSource{html: data, from: savedFrom(data), part: func(src string) func() ([]byte, error) {
		name := beside(page, src)
		if !in[name] {
			return nil
		}
		return func() ([]byte, error) { return u.member(ctx, name, maxAsset) }
	}}
	c, err := source.composed()
	if err != nil {
		return false, fault.Permanent(failure.Corrupt, "open it in a browser and save it again", "the page cannot be read: %v", err)
	}
	c.page = path.Join(path.Dir(u.w.job.Source), page)
	return true, composing(u).compose(ctx, c)
}

var (
	errNoPage = errors.New("not a saved page")
	errFound  = errors.New("found")
)

// member returns a file of the job's archive.
func (u unpacking) member(ctx context.Context, name string, limit int64) (data []byte, err error) {
	err = u.flat(ctx, func(m archive.Member, in io.Reader) error {
		if got, why := u.w.places.treeName(m); why != "" || got != name {
			return nil
		}
		if data, err = io.ReadAll(io.LimitReader(in, limit+1)); err != nil {
			return err
		}
		if int64(len(data)) > limit {
			return fault.Permanent(failure.TooLarge, "unpack it and drop the files", "%s is larger than %d MB", path.Base(name), limit>>20)
		}
		return errFound
	})
	if errors.Is(err, errFound) {
		return data, nil
	}
	return nil, errors.Join(err, errNoPicture)
}

// beside returns the file that a page's reference means, or "" for the web.
func beside(page, src string) string {
	u, err := url.Parse(src)
	if err != nil || u.IsAbs() || u.Host != "" || u.Path == "" || path.IsAbs(u.Path) {
		return ""
	}
	return path.Join(path.Dir(page), u.Path)
}

// savedFromMark is what browsers write at the top of a page that they save.
var savedFromMark = regexp.MustCompile(`<!-- saved from url=\(\d+\)(https?://[^\s>]+) -->`)

// savedFrom returns the address of a saved page, or "".
func savedFrom(page []byte) string {
	if m := savedFromMark.FindSubmatch(page[:min(len(page), 2048)]); m != nil {
		return string(m[1])
	}
	return ""
}

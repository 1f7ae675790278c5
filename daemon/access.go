package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/vaultflow/vaultflow/settings"
	"github.com/vaultflow/vaultflow/settings/state"
	"github.com/vaultflow/vaultflow/web"
	"github.com/vaultflow/vaultflow/web/session"
)

// accessStore keeps sessions and tokens in the state directory, readable by the user alone.
type accessStore struct {
	dir  string
	make bool // the directory, when it is missing. Serve does not: it waits for a state directory that is gone
}

var _ session.Store = accessStore{}

// Tokens returns the tokens of a state directory, which need not exist yet.
func Tokens(stateDir string) session.Tokens {
	return session.Tokens{Store: accessStore{dir: stateDir, make: true}, Now: time.Now}
}

// Load implements session.Store.
func (s accessStore) Load(name string) ([]byte, error) { return state.Read(s.dir, name) }

// Update implements session.Store. A command and serve may both change the tokens, so a lock orders them.
func (s accessStore) Update(name string, change func([]byte) ([]byte, error)) (err error) {
	if s.make {
		err = os.MkdirAll(s.dir, 0o700)
	} else {
		_, err = os.Stat(s.dir)
	}
	if err != nil {
		return err
	}
	lock := flock.New(filepath.Join(s.dir, "access.lock"), flock.SetPermissions(state.FileMode))
	if err := lock.Lock(); err != nil {
		return fmt.Errorf("lock %s: %w", name, err)
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	old, err := state.Read(s.dir, name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	data, err := change(old)
	if err != nil {
		return err
	}
	return state.Write(s.dir, name, data)
}

// ownerTokenName is the file with the dashboard's token when the settings have none.
const ownerTokenName = "web-token"

// openAccess reads who may use the dashboard. Without web.token, it makes a random token the first time.
func openAccess(set settings.Web, stateDir string) (*session.Access, error) {
	key, err := state.Secret(stateDir)
	if err != nil {
		return nil, fmt.Errorf("dashboard: %w", err)
	}
	c := session.Config{Store: accessStore{dir: stateDir}, Owner: string(set.Token), Chosen: true, Key: key, Now: time.Now}
	if c.Owner == "" {
		c.Chosen = false
		if c.Owner, err = ownerToken(stateDir); err != nil {
			return nil, fmt.Errorf("dashboard: %w", err)
		}
	}
	access, err := session.New(c)
	if err != nil {
		return nil, fmt.Errorf("dashboard: %w; if the file is damaged, remove it and sign in again", err)
	}
	return access, nil
}

// ownerToken returns the random token of a state directory, and makes it the first time. Only serve, of which there is one,
// calls it.
func ownerToken(dir string) (string, error) {
	data, err := state.Read(dir, ownerTokenName)
	token := strings.TrimSpace(string(data))
	switch {
	case err == nil && len(token) >= 32:
		return token, nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return "", err
	}
	token = session.NewSecret()
	return token, state.Write(dir, ownerTokenName, []byte(token+"\n"))
}

// proxyOf returns the reverse proxy that the settings trust.
func proxyOf(set settings.Proxy) web.Proxy {
	p := web.Proxy{UserHeader: set.UserHeader}
	for _, text := range set.Trust {
		if network, err := settings.ParseNetwork(text); err == nil { // checked when the settings were read
			p.Trust = append(p.Trust, network)
		}
		p.TrustUnix = p.TrustUnix || text == "unix"
	}
	return p
}

// listenURL is what people know a listening address by.
func listenURL(addr net.Addr) string {
	if addr.Network() == "unix" {
		return "unix:" + addr.String()
	}
	if tcp, ok := addr.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() { // every address of this machine
		return fmt.Sprintf("http://127.0.0.1:%d", tcp.Port)
	}
	return "http://" + addr.String()
}

// dashboard is where the dashboard of a serve is, and who may use it. Without a URL there is none.
type dashboard struct {
	settings settings.Web
	access   *session.Access
	url      string
	address  string // at which it listens
}

// link returns an address that signs one browser in. Its code follows the #, which browsers do not send. Behind a proxy, the
// link leads to the first of its names.
func (d *dashboard) link() (link string, expires time.Time) {
	if d.url == "" {
		return "", time.Time{}
	}
	base := d.url
	if len(d.settings.Proxy.Trust) > 0 && len(d.settings.Hosts) > 0 {
		base = "https://" + d.settings.Hosts[0]
	} else if strings.HasPrefix(base, "unix:") {
		base = "http://localhost"
	}
	code, expires := d.access.NewCode()
	return base + "/login#code=" + code, expires
}

// commitForm fits the commit that `git describe` puts into a version.
var commitForm = regexp.MustCompile(`^(?:.*-g)?([0-9a-f]{7,40})$`)

// sourceOf is the address of the source of a version, as exactly as the version says it.
func sourceOf(version, source string) string {
	if source != "" {
		return source
	}
	const project = "https://github.com/vaultflow/vaultflow"
	version = strings.TrimSuffix(version, "-dirty")
	if m := commitForm.FindStringSubmatch(version); m != nil {
		return project + "/tree/" + m[1]
	}
	if len(version) > 1 && version[0] == 'v' && version[1] >= '0' && version[1] <= '9' {
		return project + "/tree/" + version
	}
	return project
}

// Package access knows who may use a dashboard, and from where.
package access

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"regexp"
	"strings"
	"time"

	"github.com/vaultflow/vaultflow/settings"
	"github.com/vaultflow/vaultflow/settings/state"
	"github.com/vaultflow/vaultflow/web"
	"github.com/vaultflow/vaultflow/web/session"
)

// Tokens returns the tokens of a state directory, which need not exist yet.
func Tokens(stateDir string) session.Tokens {
	return session.Tokens{Store: session.Store{Dir: stateDir, Make: true}, Now: time.Now}
}

// Link returns an address that signs one browser in, and leads it to a page. Its code follows the #, which browsers do not send. Behind a
// proxy, the link leads to the first of its names.
func Link(url string, set settings.Web, access *session.Access, next string) (link string, expires time.Time) {
	if len(set.Proxy.Trust) > 0 && len(set.Hosts) > 0 {
		url = "https://" + set.Hosts[0]
	} else if strings.HasPrefix(url, "unix:") {
		url = "http://localhost"
	}
	code, expires := access.NewCode()
	return url + "/login" + next + "#code=" + code, expires
}

// ownerTokenName is the file with the dashboard's token when the settings have none.
const ownerTokenName = "web-token"

// Open reads who may use the dashboard. Without web.token, it makes a random token the first time.
func Open(set settings.Web, stateDir string) (*session.Access, error) {
	key, err := state.Secret(stateDir)
	if err != nil {
		return nil, fmt.Errorf("dashboard: %w", err)
	}
	c := session.Config{Store: session.Store{Dir: stateDir}, Owner: string(set.Token), Chosen: true, Key: key, Now: time.Now}
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

// ProxyOf returns the reverse proxy that the settings trust.
func ProxyOf(set settings.Proxy) web.Proxy {
	p := web.Proxy{UserHeader: set.UserHeader}
	for _, text := range set.Trust {
		if network, err := settings.ParseNetwork(text); err == nil { // checked when the settings were read
			p.Trust = append(p.Trust, network)
		}
		p.TrustUnix = p.TrustUnix || text == "unix"
	}
	return p
}

// URLOf is what people know a listening address by.
func URLOf(addr net.Addr) string {
	if addr.Network() == "unix" {
		return "unix:" + addr.String()
	}
	if tcp, ok := addr.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() { // every address of this machine
		return fmt.Sprintf("http://127.0.0.1:%d", tcp.Port)
	}
	return "http://" + addr.String()
}

// commitForm fits the commit that `git describe` puts into a version.
var commitForm = regexp.MustCompile(`^(?:.*-g)?([0-9a-f]{7,40})$`)

// SourceOf is the address of the source of a version, as exactly as the version says it.
func SourceOf(version, source string) string {
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

package consent

import (
	"fmt"
	"net"
	"strings"

	"github.com/vaultflow/vaultflow/daemon/control"
	"github.com/vaultflow/vaultflow/settings"
)

// Narrow removes from the settings what an untrusted vault must not start, reach or open, whatever file it is from. Models and
// tools are refused where they are made. flag reports whether the dashboard's address was a command-line flag.
func (t *Trust) Narrow(s *settings.Settings, flag bool) error {
	if !t.Untrusted() {
		return nil
	}
	s.Policy.RemoteImages.Enabled = false
	s.Ingestion.Office.LibreOffice = "off"
	s.Web.Hosts, s.Web.Proxy = nil, settings.Proxy{}
	if isLocal(s.Web.Listen) {
		return nil
	}
	if flag {
		return control.Denied.Wrap(t.refuse(fmt.Sprintf("this vault is not trusted yet: its dashboard does not open on %s", s.Web.Listen)))
	}
	s.Web.Listen = defaultListen
	return nil
}

// defaultListen is the dashboard's address in an untrusted vault.
const defaultListen = "127.0.0.1:8321"

// isLocal reports whether an address is reachable from this machine only.
func isLocal(listen string) bool {
	if strings.HasPrefix(listen, "unix:") {
		return true // only the user can open the socket
	}
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

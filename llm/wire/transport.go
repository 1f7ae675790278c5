package wire

import (
	"errors"
	"net"
	"net/http"
	"net/url"
	"slices"
	"time"
)

// Direct means no proxy, whatever the environment says.
const Direct = "direct"

// proxySchemes are the ways to speak to a proxy.
var proxySchemes = []string{"http", "https", "socks5", "socks5h"}

// NewClient returns a Config.Client that uses a proxy: an address (http, https, socks5, socks5h, optionally with user and
// password), Direct for none, "" for the environment's (HTTPS_PROXY, NO_PROXY). connect limits each step of connecting,
// including the proxy's answer and the TLS handshake; 0: half a minute.
func NewClient(proxy string, connect time.Duration) (*http.Client, error) {
	connect = orDefault(connect, 30*time.Second)
	t := &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: connect, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout: connect, ForceAttemptHTTP2: true, MaxIdleConns: 100, IdleConnTimeout: 90 * time.Second,
	}
	switch proxy {
	case "":
	case Direct:
		t.Proxy = nil
	default:
		address, err := ParseProxy(proxy)
		if err != nil {
			return nil, err
		}
		t.Proxy = http.ProxyURL(address)
	}
	return &http.Client{Transport: t}, nil
}

// ParseProxy reads a proxy's address. Its errors do not repeat it: it may hold a password.
func ParseProxy(proxy string) (*url.URL, error) {
	address, err := url.Parse(proxy)
	if err != nil || !slices.Contains(proxySchemes, address.Scheme) || address.Hostname() == "" {
		return nil, errors.New("a proxy is direct, or an address such as http://proxy.example.org:3128 or socks5://127.0.0.1:1080")
	}
	return address, nil
}

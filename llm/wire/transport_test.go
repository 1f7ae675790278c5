package wire_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/wire"
)

func TestNewClient_proxies(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"proxy:3128", "ftp://proxy", "http://", "http://us er:hunter22@proxy", "127.0.0.1:3128"} {
		if _, err := wire.NewClient(bad, 0); err == nil || strings.Contains(err.Error(), "hunter22") {
			t.Errorf("%q: got %v", bad, err)
		}
	}
	for proxy, want := range map[string]string{"http://user:pass@proxy.example:3128": "proxy.example:3128", "socks5://127.0.0.1:1080": "127.0.0.1:1080"} {
		client, err := wire.NewClient(proxy, 0)
		if err != nil {
			t.Fatal(err)
		}
		address, err := client.Transport.(*http.Transport).Proxy(httptest.NewRequest(http.MethodGet, "https://api.example", nil))
		if err != nil || address.Host != want {
			t.Errorf("%s: got %v, %v", proxy, address, err)
		}
	}
	client, err := wire.NewClient(wire.Direct, 0)
	if err != nil || client.Transport.(*http.Transport).Proxy != nil {
		t.Errorf("direct goes by a proxy, %v", err)
	}
}

// A service that takes the connection and never says more is given up after the time for connecting.
func TestNewClient_connectTimeout(t *testing.T) {
	t.Parallel()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	client, err := wire.NewClient(wire.Direct, 20*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	endpoint := wire.Config{Name: "lab", BaseURL: "https://" + listener.Addr().String(), Client: client}.Endpoint("lab", "", "")
	_, err = endpoint.Get(t.Context(), "/")
	if failure, ok := llm.AsError(err); !ok || failure.Class != llm.ClassNetwork || !strings.Contains(failure.Message, "handshake timeout") {
		t.Errorf("got %v", err)
	}
}

// A service that is not running is named by its host, without the rest of its address.
func TestEndpoint_notReachable(t *testing.T) {
	t.Parallel()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	host := listener.Addr().String()
	listener.Close()
	client, err := wire.NewClient(wire.Direct, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	_, err = wire.Config{Name: "lab", BaseURL: "http://" + host + "/v1", Client: client}.Endpoint("lab", "", "").Get(t.Context(), "/models?key=secret")
	failure, ok := llm.AsError(err)
	if !ok || failure.Class != llm.ClassNetwork || !strings.Contains(failure.Message, "the service at http://"+host+" is not reachable: ") || strings.Contains(err.Error(), "secret") {
		t.Errorf("got %v", err)
	}
}

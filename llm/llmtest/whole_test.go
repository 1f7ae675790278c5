package llmtest_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/llm/llmtest"
)

func TestWhole(t *testing.T) {
	served := make(chan string, 2)
	server := httptest.NewServer(llmtest.Whole(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		served <- fmt.Sprint(string(body), err)
	}))
	cut, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(cut, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf"); err != nil {
		t.Fatal(err)
	}
	cut.Close()
	response, err := http.Post(server.URL, "text/plain", strings.NewReader("all"))
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	server.Close() // waits for both
	if got := <-served; got != "all<nil>" || len(served) > 0 {
		t.Errorf("served %q and %d more, want the whole request alone", got, len(served))
	}
}

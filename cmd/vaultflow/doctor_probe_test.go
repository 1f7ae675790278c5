package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/daemon/doctor"
	"github.com/vaultflow/vaultflow/llm/llmtest"
)

// `doctor --probe` makes one tiny call to the cheapest model, says what it cost or why nothing was sent, and shows no key.
func TestDoctor_probe(t *testing.T) {
	t.Parallel()
	dear := "    alias: {provider: lab, model: dear-model, price: {input: 90, output: 90}}\n"
	b := newBench(t, adapters()[1], "      price: {input: 1, output: 2}\n"+dear,
		says("ok"), llmtest.Reply{Status: 401, Code: "invalid_api_key", Message: "bad key " + llmtest.Key})
	text, err := os.ReadFile(filepath.Join(b.dir, "vault", "settings.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	capped := func(usd string) {
		b.write("settings.yaml", "policy: {budget: {max_cost_usd: "+usd+"}}\n"+string(text))
	}
	of := func(args ...string) map[string]doctor.Finding {
		t.Helper()
		out, errs := b.run(exitFailed, append([]string{"doctor", "--json"}, args...)...) // there is no worker
		if strings.Contains(out+errs, llmtest.Key) {
			t.Errorf("the key is shown:\n%s%s", out, errs)
		}
		found := map[string]doctor.Finding{}
		for line := range strings.Lines(out) {
			var f doctor.Finding
			if err := json.Unmarshal([]byte(line), &f); err != nil {
				t.Fatalf("%v in %s", err, line)
			}
			found[f.Subject] = f
		}
		return found
	}
	found := of()
	if keys := found["keys"].Message; !strings.Contains(keys, "environment") || strings.Count(keys, ".env") < 3 || len(b.server.Requests()) > 0 {
		t.Errorf("%d requests; keys: %s", len(b.server.Requests()), keys)
	}
	capped("0.00000001")
	if f := of("--probe")["lab"]; f.State != "warning" || !strings.Contains(f.Message, "nothing was sent") || !strings.Contains(f.Message, "max_cost_usd") || len(b.server.Requests()) > 0 {
		t.Errorf("above a cap, %d requests: %+v", len(b.server.Requests()), f)
	}
	capped("1")
	if f := of("--probe")["lab"]; f.State != "ok" || !strings.Contains(f.Message, "seer (") || !strings.Contains(f.Message, "answered") || !strings.Contains(f.Message, ", $0.0") {
		t.Errorf("answered: %+v", f)
	}
	if sent := b.server.Requests(); len(sent) != 1 || !strings.Contains(string(sent[0].Body), `"test-model"`) || len(sent[0].Body) > 500 {
		t.Errorf("sent: %d requests", len(sent))
	}
	if f := of("--probe")["lab"]; f.State != "problem" || !strings.Contains(f.Message, "seer (test-model) did not answer") || f.Fix == "" {
		t.Errorf("refused: %+v", f)
	}
}

package schemas

import (
	"slices"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

func TestSchemas_compile(t *testing.T) {
	t.Parallel()
	if !slices.Contains(Names(), "manifest") {
		t.Fatalf("names %q, want manifest among them", Names())
	}
	for _, name := range Names() {
		c := jsonschema.NewCompiler()
		c.AssertFormat()
		if _, err := c.Compile(name + suffix); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, ok := Get("nothing"); ok {
		t.Error("a schema that is not there was found")
	}
}

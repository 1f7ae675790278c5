package settings

import (
	"reflect"
	"testing"
)

// TestReaches_nameEveryKey fails for a key that nobody has thought about: what can a hostile vault do with it?
func TestReaches_nameEveryKey(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	walk(reflect.ValueOf(Settings{}), "", func(path string, _ field, v reflect.Value) {
		if v.Kind() != reflect.Map {
			known[path] = true
			return
		}
		for _, f := range fieldsOf(v.Type().Elem()) {
			known[path+".*."+f.key] = true
		}
	})
	for path := range known {
		if reaches[path] == 0 {
			t.Errorf("%s is not classified: say in reaches what a vault may do with it", path)
		}
	}
	for path := range reaches {
		if !known[path] {
			t.Errorf("%s is classified and is no key", path)
		}
	}
}

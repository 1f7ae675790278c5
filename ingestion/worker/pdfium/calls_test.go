package pdfium

import (
	"reflect"
	"testing"
)

// A call makes no new function where the one before has left one. If this fails after an update, the binding has its module elsewhere.
func TestKeepFunctions(t *testing.T) {
	t.Parallel()
	in, err := Start(nil, false)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	kept, ok := reflect.ValueOf(in).Elem().FieldByName("worker").Elem().FieldByName("Instance").Elem().FieldByName("Module").Elem(), false
	if ok = kept.Type() == reflect.TypeFor[*functions](); !ok {
		t.Fatalf("the module is %s", kept.Type())
	}
	known := kept.Elem().FieldByName("known")
	for range 2 {
		if _, err := Open(in, []byte("%PDF-1.4"), nil); err == nil {
			t.Fatal("half a document opens")
		}
	}
	if known.Len() == 0 {
		t.Error("no function was kept")
	}
}

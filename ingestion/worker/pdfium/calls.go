package pdfium

import (
	"reflect"
	"unsafe"

	pdfiumapi "github.com/klippa-app/go-pdfium"
	"github.com/tetratelabs/wazero/api"
)

// functions is a module that hands out each of its functions once. The binding asks for one for every call, and a new one clears 10 kB for its
// stack: that took most of the time of reading a page's structure. A function is not used again before it returns, because the binding lets one
// goroutine in, and PDFium calls nothing but functions of the binding, which use the module itself.
type functions struct {
	api.Module
	known map[string]api.Function
}

// ExportedFunction returns a function of the module, or nil.
func (f *functions) ExportedFunction(name string) api.Function {
	found, ok := f.known[name]
	if !ok {
		found = f.Module.ExportedFunction(name)
		f.known[name] = found
	}
	return found
}

// keepFunctions has an instance keep its functions. The binding does not export where it has its module; if that moves, nothing is kept.
func keepFunctions(in pdfiumapi.Pdfium) {
	at := reflect.ValueOf(in)
	for _, name := range []string{"worker", "Instance", "Module"} {
		if at.Kind() != reflect.Pointer || at.Elem().Kind() != reflect.Struct {
			return
		}
		if at = at.Elem().FieldByName(name); !at.IsValid() {
			return
		}
	}
	if at.Type() == reflect.TypeFor[api.Module]() {
		module := (*api.Module)(unsafe.Pointer(at.UnsafeAddr()))
		*module = &functions{Module: *module, known: map[string]api.Function{}}
	}
}

package settings

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/vaultflow/vaultflow/content/visible"
	"github.com/vaultflow/vaultflow/failure/diag"
)

// Waiting is a value in the vault's files that takes no effect until the user grants it: it would start a program, connect,
// listen, or name a key, a program or a place outside the vault.
type Waiting struct {
	Key    string `json:"key"`    // dotted path such as web.listen or providers.lab; file:.env:NAME for a line of the vault's .env; file:NAME for a link
	Digest string `json:"digest"` // SHA-256 of key and value in hex; the same value has the same digest whatever its place, order and quotes
	Says   string `json:"says"`   // what granting it allows: a plain sentence without the period
	Value  string `json:"value"`  // for display: secrets are ***, invisible characters are code points
	At     Origin `json:"at"`     // where it is written
}

// waiting makes a Waiting of a value in its canonical form, which JSON can write.
func waiting(key string, canonical any, says, value string, at Origin) Waiting {
	data, err := json.Marshal(canonical)
	if err != nil {
		panic("settings: " + err.Error()) // words, lists and maps of them always can be written
	}
	sum := sha256.Sum256(append([]byte(key+"\x00"), data...))
	return Waiting{Key: visible.Name(key), Digest: hex.EncodeToString(sum[:]), Says: visible.Name(mask(says)), Value: visible.Name(mask(value)), At: at}
}

// grants reports whether a value counts: it was granted itself, or something that reaches at least as far. One that does not
// is reported and listed.
func (l *layers) grants(w Waiting, wider ...Waiting) bool {
	for _, g := range append([]Waiting{w}, wider...) {
		if l.in.Grants != nil && l.in.Grants(g) {
			l.into.Granted = append(l.into.Granted, w)
			return true
		}
	}
	l.into.Waiting = append(l.into.Waiting, w)
	l.report(w.At, diag.SeverityWarning, CodeWaits, "`vaultflow trust` shows it and asks", "%s has no effect until you allow it: %s", w.Key, w.Says)
	return false
}

// grantLink asks for a file of the vault that is a symbolic link.
func (l *layers) grantLink(path, target string) bool {
	name := strings.TrimPrefix(l.linkKey(path), "file:")
	what := "Read settings from "
	if filepath.Base(path) == dotEnvName {
		what = "Read keys from "
	}
	return l.grants(waiting(l.linkKey(path), target, what+target+", which "+name+" of this vault leads to", target, Origin{Name: path}))
}

// linkKey names a file of the vault as a value that waits.
func (l *layers) linkKey(path string) string {
	if rel, ok := local(l.in.Vault, path); ok {
		return "file:" + filepath.ToSlash(rel)
	}
	return "file:" + filepath.Base(path)
}

// canonical is a value that JSON writes in one way only, with its secrets. Keys that are not set are left out.
func canonical(v reflect.Value) any {
	switch v.Kind() {
	case reflect.Struct:
		fields := map[string]any{}
		for _, f := range fieldsOf(v.Type()) {
			if child := v.Field(f.index); !empty(child) {
				fields[f.key] = canonical(child)
			}
		}
		return fields
	case reflect.Map:
		entries := map[string]any{}
		for _, key := range v.MapKeys() {
			entries[key.String()] = canonical(v.MapIndex(key))
		}
		return entries
	case reflect.Slice:
		list := []any{}
		for i := range v.Len() {
			list = append(list, canonical(v.Index(i)))
		}
		return list
	case reflect.Pointer:
		return canonical(v.Elem())
	case reflect.String:
		return v.String() // of a Secret too: a digest may know it
	case reflect.Int, reflect.Int64:
		return v.Int()
	}
	return v.Interface()
}

func empty(v reflect.Value) bool {
	return v.IsZero() || (v.Kind() == reflect.Map || v.Kind() == reflect.Slice) && v.Len() == 0
}

// display is a value as a person sees it, on one line, secrets hidden.
func display(v reflect.Value) string {
	if v.Kind() == reflect.String {
		return text(v)
	}
	return strings.TrimSpace(flow(v))
}

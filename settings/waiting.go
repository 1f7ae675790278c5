package settings

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/vaultflow/vaultflow/content/visible"
	"github.com/vaultflow/vaultflow/failure/diag"
)

// Waiting is a value in the vault's files that has no effect until the user grants it: it would start a program, connect,
// listen, or name a key, a program or a place outside the vault.
type Waiting struct {
	Key    string `json:"key"`    // dotted path such as web.listen or providers.lab; file:.env:NAME for a line of the vault's .env; file:NAME for a link
	Digest string `json:"digest"` // SHA-256 of key and value in hex; place, order and quotes do not matter
	Says   string `json:"says"`   // what granting it allows: a sentence without its period
	Value  string `json:"value"`  // for display: secrets are ***, invisible characters are code points
	At     Origin `json:"at"`     // where it is written
}

// waiting returns a Waiting for a value in its canonical form, which can be encoded as JSON.
func waiting(key string, canonical any, says, value string, at Origin) Waiting {
	data, err := json.Marshal(canonical)
	if err != nil {
		panic("settings: " + err.Error()) // words, and lists and maps of them, can always be encoded
	}
	sum := sha256.Sum256(append([]byte(key+"\x00"), data...))
	return Waiting{Key: visible.Name(key), Digest: hex.EncodeToString(sum[:]), Says: visible.Name(mask(says)), Value: visible.Name(mask(value)), At: at}
}

// grants reports whether a value counts: it was granted, or something wider was. One that does not is reported and listed.
func (l *layers) grants(w Waiting, wider ...Waiting) bool {
	for _, g := range append([]Waiting{w}, wider...) {
		if l.in.Grants != nil && l.in.Grants(g) {
			l.into.Granted = append(l.into.Granted, w)
			return true
		}
	}
	l.into.Waiting = append(l.into.Waiting, w)
	l.report(w.At, diag.SeverityWarning, CodeWaits, "allow it with `vaultflow trust`", "%s has no effect until you allow it: %s", w.Key, w.Says)
	return false
}

// foreseen returns the faults that the settings would have if all waiting values were allowed, as warnings: otherwise the user allows
// them, and then nothing works. Waiting files are not read.
func foreseen(in Input) []diag.Diagnostic {
	granted := in.Grants
	in.Grants = func(w Waiting) bool {
		return !strings.HasPrefix(w.Key, "file:") || granted != nil && granted(w)
	}
	_, err := load(in)
	faults, ok := errors.AsType[*Error](err)
	if !ok {
		return nil
	}
	var list []diag.Diagnostic
	for _, d := range faults.Diagnostics {
		if d.Severity == diag.SeverityError {
			d.Severity, d.Code, d.Message = diag.SeverityWarning, CodeWaits, "it will be a fault once you allow what waits: "+d.Message
			list = append(list, d)
		}
	}
	return list
}

// grantLink asks for a file in the vault that is a symbolic link.
func (l *layers) grantLink(path, target string) bool {
	name := strings.TrimPrefix(l.linkKey(path), "file:")
	what := "Read settings from "
	if filepath.Base(path) == dotEnvName {
		what = "Read keys from "
	}
	return l.grants(waiting(l.linkKey(path), target, what+target+", the target of "+name+" in this vault", target, Origin{Name: path}))
}

// linkKey returns the key of a waiting file.
func (l *layers) linkKey(path string) string {
	if rel, ok := local(l.in.Vault, path); ok {
		return "file:" + filepath.ToSlash(rel)
	}
	return "file:" + filepath.Base(path)
}

// canonical returns a value that has one JSON form only, including its secrets. Unset keys are left out.
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
		return v.String() // even a Secret: only its digest is kept
	case reflect.Int, reflect.Int64:
		return v.Int()
	}
	return v.Interface()
}

func empty(v reflect.Value) bool {
	return v.IsZero() || (v.Kind() == reflect.Map || v.Kind() == reflect.Slice) && v.Len() == 0
}

// display returns a value for people: on one line, with secrets hidden.
func display(v reflect.Value) string {
	if v.Kind() == reflect.String {
		return text(v)
	}
	return strings.TrimSpace(flow(v))
}

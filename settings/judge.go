package settings

import (
	"reflect"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/failure/diag"
)

// judge lays the values of one file over the layers below. A file outside the vault is trusted; for one inside, reaches
// decides about each value.
type judge struct {
	*layers
	from   *Settings // the values of the file, and nothing else
	path   string
	theirs bool // the file lies in the vault
}

// settings goes through the whole file. Aliases depend on providers, and the default on aliases, so they come in this order.
func (j *judge) settings() {
	j.providers()
	j.aliases()
	j.servers()
	for _, unit := range units {
		j.unit(unit)
	}
	below := leaves(j.into)
	walk(reflect.ValueOf(j.from).Elem(), "", func(path string, f field, v reflect.Value) {
		if at, written := j.from.origins[path]; written && v.Kind() != reflect.Map && !(reaches[path] == waits && (inUnit(path) || path == remoteEnabled)) {
			j.leaf(path, f, v, below[path], at)
		}
	})
	j.remoteImages()
}

func inUnit(path string) bool { return slices.Contains(units, parent(path)) }

// allows reports whether a value of the file counts.
func (j *judge) allows(w Waiting, wider ...Waiting) bool { return !j.theirs || j.grants(w, wider...) }

// leaf lays one value outside maps over the layer below.
func (j *judge) leaf(path string, f field, v, below reflect.Value, at Origin) {
	set := func(value reflect.Value) {
		below.Set(value)
		j.into.origins[path] = at
	}
	if !j.theirs {
		set(v)
		return
	}
	switch how := reaches[path]; how {
	case harmless, follows: // models.default waits with the alias it names
		set(v)
	case least, bounded, most, either:
		if j.stricter(how, path, v, below, at) {
			set(v)
		}
	case union:
		j.union(path, v, below, at)
	case waits:
		if v.Kind() == reflect.Slice {
			j.list(path, v, below, at)
		} else if j.same(path, v, below) || j.grants(j.scalar(path, v, at)) {
			set(v)
		} else {
			j.into.withheld.keys[path] = true
		}
	default:
		j.report(at, diag.SeverityError, CodeNoEffect, "", "%s: this version does not know whether a vault may set it", path) // the test of reaches finds it before
	}
}

// same reports whether a waiting value changes nothing or reaches nothing.
func (j *judge) same(path string, v, below reflect.Value) bool {
	return reflect.DeepEqual(v.Interface(), below.Interface()) || slices.Contains(safe[path], text(v))
}

func (j *judge) scalar(path string, v reflect.Value, at Origin) Waiting {
	return waiting(path, canonical(v), sayKey(path, display(v)), display(v), at)
}

// byUser reports whether the user's own file sets a value, which then bounds the vault's.
func byUser(s *Settings, path string) bool { return placeOf(s, path).Source == SourceUser }

// stricter reports whether the vault's value is at least as strict as the user's own. If the user set none, it counts.
func (j *judge) stricter(how reach, path string, v, below reflect.Value, at Origin) bool {
	if !byUser(j.into, path) || strict(how, v, below) {
		return true
	}
	j.report(at, diag.SeverityNote, CodeStricter, "", "%s: %s is ignored, because your own settings have the stricter %s (%s)", path, text(v), text(below), placeOf(j.into, path))
	return false
}

// strict reports whether a is at least as strict as b.
func strict(how reach, a, b reflect.Value) bool {
	if how == either {
		return a.Bool() || !b.Bool()
	}
	x, y := number(a), number(b)
	switch {
	case how == most:
		return x >= y
	case how == bounded && y == 0:
		return true
	case how == bounded && x == 0:
		return false
	}
	return x <= y
}

func number(v reflect.Value) float64 {
	if v.Kind() == reflect.Float64 {
		return v.Float()
	}
	return float64(v.Int())
}

// union adds the vault's list to the one below, and removes nothing.
func (j *judge) union(path string, v, below reflect.Value, at Origin) {
	all := slices.Clone(below.Interface().([]string))
	var kept []string
	for _, word := range all {
		if !slices.Contains(v.Interface().([]string), word) {
			kept = append(kept, word)
		}
	}
	if len(kept) > 0 {
		j.report(at, diag.SeverityNote, CodeStricter, "to remove one, set the list in your own settings", "%s keeps %s from %s", path, strings.Join(kept, ", "), whose(placeOf(j.into, path)))
	}
	for _, word := range v.Interface().([]string) {
		if !slices.Contains(all, word) {
			all = append(all, word)
		}
	}
	below.Set(reflect.ValueOf(all))
	j.into.origins[path] = at
}

func whose(at Origin) string {
	if at.Source == SourceUser {
		return "your own settings"
	}
	return "the defaults"
}

// list asks for each entry of a waiting list, so that removing or reordering entries asks nothing. If no entry counts, the
// list is ignored.
func (j *judge) list(path string, v, below reflect.Value, at Origin) {
	words, old := v.Interface().([]string), below.Interface().([]string)
	if len(words) == 0 {
		if !emptyIsAll[path] || len(old) == 0 || j.grants(waiting(path, []string{}, sayKey(path, ""), "[]", at)) {
			below.Set(v)
			j.into.origins[path] = at
		}
		return
	}
	var counts []string
	for _, word := range words {
		if slices.Contains(safe[path], word) || slices.Contains(old, word) || j.grants(j.entry(path, word, at), j.wider(path, word, at)...) {
			counts = append(counts, word)
		}
	}
	if len(counts) == 0 && path == "ingestion.ocr.engines" {
		counts = safe[path] // pages meant for one service go to no other
	}
	if len(counts) > 0 {
		below.Set(reflect.ValueOf(counts))
		j.into.origins[path] = at
	}
}

func (j *judge) entry(path, word string, at Origin) Waiting {
	return waiting(path, strings.ToLower(word), sayKey(path, word), word, at)
}

// wider returns the entries of a host list that include a host, as *.example.org includes a.example.org.
func (j *judge) wider(path, host string, at Origin) []Waiting {
	var list []Waiting
	if emptyIsAll[path] {
		list = append(list, waiting(path, []string{}, "", "", at))
	}
	if path == remoteAllow {
		list = append(list, sayRemote(true, at))
	}
	rest := strings.TrimPrefix(host, "*.")
	for {
		_, above, dotted := strings.Cut(rest, ".")
		if !dotted {
			return list
		}
		list, rest = append(list, j.entry(path, "*."+above, at)), above
	}
}

const (
	remoteEnabled = "policy.remote_images.enabled"
	remoteAllow   = "policy.remote_images.allow"
)

// remoteImages decides whether pictures are fetched, after the hosts: a grant for named hosts does not cover all hosts.
func (j *judge) remoteImages() {
	at, written := j.from.origins[remoteEnabled]
	if !written {
		return
	}
	from, into := j.from.Policy.RemoteImages, &j.into.Policy.RemoteImages
	if from.Enabled && !into.Enabled {
		none := len(into.Allow) == 0 // which lets every host through
		if !j.allows(sayRemote(none && len(from.Allow) == 0, at), sayRemote(true, at)) || none && len(from.Allow) > 0 {
			return
		}
	}
	into.Enabled = from.Enabled
	j.into.origins[remoteEnabled] = at
}

// unit lays the waiting keys of a section over the layer below, all or none of them.
func (j *judge) unit(path string) {
	from, into := section(j.from, path), section(j.into, path)
	var keys []field
	var at Origin
	next := reflect.New(into.Type()).Elem()
	next.Set(into)
	for _, f := range fieldsOf(from.Type()) {
		if reaches[join(path, f.key)] != waits {
			continue
		}
		keys = append(keys, f)
		next.Field(f.index).Set(section(unfinished(), path).Field(f.index)) // never pair an address with a key of the layer below
		if o, written := j.from.origins[join(path, f.key)]; written {
			if at == (Origin{}) {
				at = o
			}
			next.Field(f.index).Set(from.Field(f.index))
		}
	}
	if at == (Origin{}) {
		return
	}
	who := pick(next, path)
	asks := !reflect.DeepEqual(canonical(who), canonical(pick(into, path))) && !safeUnit(next)
	if asks && !j.allows(waiting(path, canonical(who), sayUnit(next), display(who), at)) {
		j.into.withheld.keys[path] = true
		if w, ok := next.Interface().(WebSearch); ok {
			j.into.pending = append(j.into.pending, w.complete().APIKeyEnv)
		}
		return
	}
	into.Set(next)
	for _, f := range keys {
		forget(j.into, join(path, f.key))
		adopt(j.into, j.from, join(path, f.key))
	}
}

// safeUnit reports whether a section reaches nothing: a search with no service. An address could still be used if a variable
// named a service.
func safeUnit(v reflect.Value) bool {
	w, ok := v.Interface().(WebSearch)
	return ok && !w.Enabled() && w.BaseURL == "" && w.APIKeyEnv == "" && w.APIKey == ""
}

// pick returns a section or an entry with its waiting keys alone.
func pick(v reflect.Value, path string) reflect.Value {
	who := reflect.New(v.Type()).Elem()
	for _, f := range fieldsOf(v.Type()) {
		if reaches[join(path, f.key)] == waits {
			who.Field(f.index).Set(v.Field(f.index))
		}
	}
	return who
}

func section(s *Settings, path string) reflect.Value {
	v := reflect.ValueOf(s).Elem()
	for key := range strings.SplitSeq(path, ".") {
		for _, f := range fieldsOf(v.Type()) {
			if f.key == key {
				v = v.Field(f.index)
				break
			}
		}
	}
	return v
}

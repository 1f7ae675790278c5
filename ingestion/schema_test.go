package ingestion

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/filetype"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
	"github.com/vaultflow/vaultflow/settings/schemas"
)

func manifestSchema(t *testing.T) (compiled *jsonschema.Schema, raw map[string]any) {
	t.Helper()
	data, ok := schemas.Get("manifest")
	if !ok {
		t.Fatal("there is no schema of manifests")
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("schema:manifest", doc); err != nil {
		t.Fatal(err)
	}
	if compiled, err = c.Compile("schema:manifest"); err != nil {
		t.Fatal(err)
	}
	return compiled, raw
}

// conforms checks a manifest's bytes against the published schema.
func conforms(t *testing.T, schema *jsonschema.Schema, name, manifest string) {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(manifest))
	if err == nil {
		err = schema.Validate(doc)
	}
	if err != nil {
		t.Errorf("%s: %v\n%s", name, err, manifest)
	}
}

// Every field of the Go types is in the schema and the other way round, and the same of them are always there.
func TestManifestSchema_doesNotDrift(t *testing.T) {
	t.Parallel()
	_, raw := manifestSchema(t)
	compared := 0
	var compare func(at string, typ reflect.Type, node map[string]any)
	compare = func(at string, typ reflect.Type, node map[string]any) {
		if ref, ok := node["$ref"].(string); ok {
			def, found := raw["$defs"].(map[string]any)[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any)
			if !found {
				t.Fatalf("%s: no definition %s", at, ref)
			}
			node = def
		}
		for typ.Kind() == reflect.Pointer {
			typ = typ.Elem()
		}
		switch {
		case typ == reflect.TypeFor[time.Time]():
			return
		case typ.Kind() == reflect.Slice:
			compare(at+"[]", typ.Elem(), node["items"].(map[string]any))
			return
		case typ.Kind() != reflect.Struct:
			return
		}
		compared++
		properties, _ := node["properties"].(map[string]any)
		fields, always := map[string]reflect.Type{}, []string{}
		for i := range typ.NumField() {
			name, options, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
			fields[name] = typ.Field(i).Type
			if options == "" {
				always = append(always, name)
			}
		}
		if diff := cmp.Diff(slices.Sorted(maps.Keys(fields)), slices.Sorted(maps.Keys(properties))); diff != "" {
			t.Errorf("%s: keys (-Go +schema):\n%s", at, diff)
			return
		}
		var required []string
		for _, r := range node["required"].([]any) {
			required = append(required, r.(string))
		}
		slices.Sort(always)
		slices.Sort(required)
		if diff := cmp.Diff(always, required); diff != "" {
			t.Errorf("%s: keys that are always there (-Go +schema):\n%s", at, diff)
		}
		for name, field := range fields {
			compare(at+"."+name, field, properties[name].(map[string]any))
		}
	}
	compare("manifest", reflect.TypeFor[manifest.Manifest](), raw)
	if compared < 14 {
		t.Errorf("%d types were compared: the walk does not reach all", compared)
	}
}

func TestManifestSchema_refuses(t *testing.T) {
	t.Parallel()
	schema, _ := manifestSchema(t)
	good, err := os.ReadFile(filepath.Join("testdata", "pdf", "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	conforms(t, schema, "golden manifest", string(good))
	for _, change := range [][2]string{
		{`"version": 1,
  "note"`, `"version": 2,
  "note"`},
		{`"pages/page_0001.png"`, `"/pages/page_0001.png"`},
		{`"pages/page_0001.png"`, `"../other/page_0001.png"`},
		{`"kind": "pdf"`, `"kind": "portable"`},
		{`"status": "done"`, `"status": "fine"`},
		{`"started": "2026-11-21T12:00:00Z"`, `"started": "yesterday"`},
		{`"settings_hash"`, `"settings"`},
	} {
		bad := strings.Replace(string(good), change[0], change[1], 1)
		if bad == string(good) {
			t.Errorf("the golden manifest has no %s", change[0])
			continue
		}
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(bad))
		if err != nil {
			t.Fatal(err)
		}
		if schema.Validate(doc) == nil {
			t.Errorf("%s in place of %s passes", change[1], change[0])
		}
	}
}

// A file of every kind, each of its manifests checked.
func TestManifestSchema_everyKind(t *testing.T) {
	t.Parallel()
	schema, _ := manifestSchema(t)
	files := map[string][]byte{
		"report.pdf": pdfBytes, "photo.jpg": withGPS(t, 6), "a.txt": []byte("Hello"), "empty.md": nil, "data.csv": []byte("a,b\n1,2\n"),
		"page.html": []byte("<html><head><title>T</title></head><body><h1>H</h1><p>Text of a page.</p></body></html>"),
		"mail.eml":  []byte("From: a@example.org\r\nTo: b@example.org\r\nSubject: Hello\r\nDate: Fri, 20 Nov 2026 10:00:00 +0000\r\n\r\nText\r\n"),
		"box.zip":   zipFiles(t, packedFile{name: "in/a.txt", data: "x"}, packedFile{name: "../evil.txt", data: "y"}),
		"notes.zip": zipFiles(t, packedFile{name: "in/a?.md", data: "![x](../x.png)"}, packedFile{name: "x.png", data: "PNG"}),
		"app.jar":   zipFiles(t, packedFile{name: "META-INF/MANIFEST.MF", data: "Main-Class: A\n"}, packedFile{name: "A.class", data: "x"}),
		"song.mp3":  []byte("ID3\x03\x00\x00\x00\x00\x00\x00 sound"), "film.mp4": []byte("\x00\x00\x00\x18ftypisom\x00\x00\x00\x00isomiso2"),
		"thing.bin": {0, 1, 2, 3, 0xff, 0xfe, 0, 9}, "old.rar": []byte("Rar!\x1a\x07\x01\x00 and more"),
	}
	kinds := map[filetype.Kind]bool{}
	for name, data := range files {
		b := newBench(t, report)
		b.worker.page = func(r extract.PageRequest, _ int) (extract.Page, error) {
			if r.N == 2 && r.Image {
				return extract.Page{}, &extract.Error{Code: failure.Timeout, Message: "too slow"}
			}
			return goodPage(r), nil
		}
		if strings.HasSuffix(name, ".jpg") {
			b.worker.doc = extract.Document{Pages: 1, Renderer: "image"}
		}
		made, _ := b.mustRun(b.drop("imp-1", "Import/"+name, data))
		b.mustRun(b.drop("imp-2", "Import/"+name, data)) // adds a line to the history
		again := b.drop("imp-3", "Import/"+name, append(slices.Clone(data), ' '))
		if name != "photo.jpg" && name != "box.zip" && name != "notes.zip" {
			b.mustRun(again)
		}
		checked := 0
		for file, text := range b.tree() {
			if filepath.Base(file) == manifest.File {
				conforms(t, schema, file, text)
				checked++
			}
		}
		m, _ := b.im.manifest(made.Bundle)
		kinds[m.Source.Kind] = true
		if checked == 0 || len(m.Import.History) == 0 {
			t.Errorf("%s: %d manifests, history %+v", name, checked, m.Import.History)
		}
	}
	for _, k := range filetype.Kinds() {
		if !kinds[k] && k != filetype.KindOffice {
			t.Errorf("no manifest of kind %s was checked", k)
		}
	}
}

//go:build unix

package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"

	"golang.org/x/image/bmp"

	"github.com/vaultflow/vaultflow/cmd/vaultflow/sitetest"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure/omission"
	"github.com/vaultflow/vaultflow/llm/llmtest"
)

// lostWay is a way in which a model does not get what a note names or embeds: ref stands on line 3 of Ways/NAME.md.
type lostWay struct {
	name, ref string
	files     map[string]string
	at        string // where it is named, if not there
	reason    string
	cause     omission.Cause
}

// encodedAs returns a picture of noise in a format.
func encodedAs(t *testing.T, format string) string {
	t.Helper()
	img := image.NewPaletted(image.Rect(0, 0, 90, 60), nil)
	for i := range 256 {
		img.Palette = append(img.Palette, color.Gray{Y: uint8(i)})
	}
	for i := range img.Pix {
		img.Pix[i] = uint8(i * i >> 3)
	}
	var b bytes.Buffer
	var err error
	switch format {
	case "png":
		err = png.Encode(&b, img)
	case "jpg":
		err = jpeg.Encode(&b, img, nil)
	case "gif":
		err = gif.Encode(&b, img, nil)
	case "bmp":
		err = bmp.Encode(&b, img)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func lostWays(t *testing.T) []lostWay {
	t.Helper()
	torn := func(format string) string { data := encodedAs(t, format); return data[:len(data)/2] }
	bomb := []byte(encodedAs(t, "png")) // it says that it has many pixels
	copy(bomb[16:], "\x00\x00\xff\xff\x00\x00\xff\xff")
	binary.BigEndian.PutUint32(bomb[29:], crc32.ChecksumIEEE(bomb[12:29]))
	other := []byte(encodedAs(t, "png"))
	other[len(other)/2] ^= 1
	one := func(name, data string) map[string]string { return map[string]string{name: data} }
	noise := "\x00\x01\x02\x03\xfe\xff\x90\x80\x00\x01\x02\x00"
	canvas := func(file string) string {
		return fmt.Sprintf(`{"nodes":[{"id":"1","type":"file","file":%q,"x":0,"y":0,"width":1,"height":1}],"edges":[]}`, file)
	}
	ways := []lostWay{
		{name: "picture", ref: "![[gone 1.png]]", reason: "not found", cause: omission.Missing},
		{name: "markdown link", ref: "![a](gone%202.png)", reason: "not found", cause: omission.Missing},
		{name: "html", ref: `<img src="gone 3.png">`, reason: "not found", cause: omission.Missing},
		{name: "embed", ref: "![[Gone 4]]", reason: "not found", cause: omission.Missing},
		{name: "text file", ref: "![[gone 5.txt]]", reason: "not found", cause: omission.Missing},
		{name: "above", ref: "![](../../../gone.png)", reason: "not found", cause: omission.Missing},
		{name: "absolute", ref: "![](/etc/gone.png)", reason: "not found", cause: omission.Missing},
		{name: "folder", ref: "![[Some folder]]", files: one("Some folder/a.txt", "x"), reason: "not found", cause: omission.Missing},
		{name: "page", ref: "![[gone 6.pdf#page=3]]", reason: "not found", cause: omission.Missing},
		{name: "heading", ref: "![[Part#Nope]]", files: one("Part.md", "# A\nb ^here\n"), reason: "no such section", cause: omission.Section},
		{name: "block", ref: "![[Part#^nope]]", reason: "no such section", cause: omission.Section},
		{name: "png", ref: "![[torn.png]]", files: one("torn.png", torn("png")), reason: "ends too early", cause: omission.Damaged},
		{name: "jpeg", ref: "![[torn.jpg]]", files: one("torn.jpg", torn("jpg")), reason: "ends too early", cause: omission.Damaged},
		{name: "zeroes", ref: "![[zeroes.jpg]]", files: one("zeroes.jpg", torn("jpg")+strings.Repeat("\x00", 4000)), reason: "ends too early", cause: omission.Damaged},
		{name: "gif", ref: "![[torn.gif]]", files: one("torn.gif", torn("gif")), reason: "ends too early", cause: omission.Damaged},
		{name: "bmp", ref: "![[torn.bmp]]", files: one("torn.bmp", torn("bmp")), reason: "ends too early", cause: omission.Damaged},
		{name: "svg", ref: "![[torn.svg]]", files: one("torn.svg", `<svg xmlns="http://www.w3.org/2000/svg" width="50" height="50"><rect wid`), reason: "ends too early", cause: omission.Damaged},
		{name: "byte", ref: "![[byte.png]]", files: one("byte.png", string(other)), reason: "ends too early", cause: omission.Damaged},
		{name: "head", ref: "![[head.png]]", files: one("head.png", encodedAs(t, "png")[:20]), reason: "broken picture", cause: omission.Damaged},
		{name: "text", ref: "![[text.png]]", files: one("text.png", "hello, no picture"), reason: "the file is text", cause: omission.Kind},
		{name: "web page", ref: "![[page.jpg]]", files: one("page.jpg", "<!DOCTYPE html><html>"), reason: "the file is a web page", cause: omission.Kind},
		{name: "empty", ref: "![[empty.png]]", files: one("empty.png", ""), reason: "the file is empty", cause: omission.Kind},
		{name: "heic", ref: "![[a.heic]]", files: one("a.heic", "nothing here"), reason: "the file is text", cause: omission.Kind},
		{name: "bomb", ref: "![[bomb.png]]", files: one("bomb.png", string(bomb)), reason: "too many pixels", cause: omission.Budget},
		{name: "zip", ref: "![[a.zip]]", files: one("a.zip", "PK\x03\x04\x14\x00\x00\x00"), reason: "neither text nor picture", cause: omission.Kind},
		{name: "bin", ref: "![[a.bin]]", files: one("a.bin", noise), reason: "neither text nor picture", cause: omission.Kind},
		{name: "note of bytes", ref: "![[Bytes]]", files: one("Bytes.md", noise), reason: "neither text nor picture", cause: omission.Kind},
		{name: "song", ref: "![[a.mp3]]", files: one("a.mp3", "ID3\x04\x00\x00\x00\x00\x00\x00"), reason: "neither text nor picture", cause: omission.Kind},
		{name: "film", ref: "![[a.mp4]]", files: one("a.mp4", "\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00mp42isom"), reason: "neither text nor picture", cause: omission.Kind},
		{name: "drawing", ref: "![[Sketch.excalidraw]]", files: one("Sketch.excalidraw.md", "---\nexcalidraw-plugin: parsed\n---\n"), reason: "without an exported picture", cause: omission.Drawing},
		{name: "deep", ref: "![[D1]]", files: map[string]string{
			"D1.md": "![[D2]]", "D2.md": "![[D3]]", "D3.md": "![[D4]]", "D4.md": "![[D5]]", "D5.md": "![[D6]]", "D6.md": "deep",
		}, at: "D5.md:1: D6.md", reason: "nested too deep", cause: omission.Nested},
		{name: "file address", ref: "![](file:///etc/x.png)", reason: "pictures at file: are not read", cause: omission.Address},
		{name: "data address", ref: "![](data:image/png;base64,AAAA)", reason: "pictures at data: are not read", cause: omission.Address},
		{name: "canvas", ref: "![[Board.canvas]]", files: one("Board.canvas", canvas("gone 7.png")), at: "Board.canvas: gone 7.png", reason: "not found", cause: omission.Missing},
		{name: "canvas note", ref: "![[Plan.canvas]]", files: one("Plan.canvas", canvas("Gone 8.md")), at: "Plan.canvas: Gone 8.md", reason: "not found", cause: omission.Missing},
		{name: "secret", ref: "![[Diary]]", files: one("Private/Diary.md", "x"), reason: "permissions.read does not allow it", cause: omission.Denied},
		{name: "secret picture", ref: "![[secret.png]]", files: one("Private/secret.png", encodedAs(t, "png")), reason: "permissions.read does not allow it", cause: omission.Denied},
		{name: "pdf", ref: "![[a.pdf]]", files: one("a.pdf", "%PDF-1.4\n"), reason: "the worker", cause: omission.Worker},
		{name: "outside", ref: "![[outside.png]]", reason: "not found", cause: omission.Missing},
		{name: "circle", ref: "![[circle.png]]", reason: "not found", cause: omission.Missing},
		{name: "dangling", ref: "![[dangling.png]]", reason: "not found", cause: omission.Missing},
		{name: "drawing file", ref: "![[Plain.excalidraw]]", files: one("Plain.excalidraw", `{"type":"excalidraw","elements":[]}`), reason: "without an exported picture", cause: omission.Drawing},
		{name: "size", ref: "![[gone 10.png|300]]", reason: "not found", cause: omission.Missing},
		{name: "size and alias", ref: "![[gone 11.png|a door|300x200]]", reason: "not found", cause: omission.Missing},
		{name: "title", ref: `![a|300](<gone 12.png> "A door")`, reason: "not found", cause: omission.Missing},
		{name: "list", ref: "- a\n    - ![[gone 13.png]] b", at: "Ways/list.md:4: gone 13.png", reason: "not found", cause: omission.Missing},
		{name: "callout", ref: "> [!note] A\n> > ![[gone 14.png]]", at: "Ways/callout.md:4: gone 14.png", reason: "not found", cause: omission.Missing},
		{name: "table", ref: "| a | b |\n|---|---|\n| c | ![[gone 15.png\\|50]] |", at: "Ways/table.md:5: gone 15.png", reason: "not found", cause: omission.Missing},
		{name: "in a heading", ref: "## A ![[gone 16.png]]", reason: "not found", cause: omission.Missing},
		{name: "footnote", ref: "A[^1]\n\n[^1]: ![[gone 17.png]]", at: "Ways/footnote.md:5: gone 17.png", reason: "not found", cause: omission.Missing},
		{name: "embedded list", ref: "![[Inner]]", files: one("Inner.md", "\n\n- ![[gone 18.png]]\n"), at: "Inner.md:3: gone 18.png", reason: "not found", cause: omission.Missing},
		{name: "part", ref: "![[Part#^here]]\n\n![[Part#^gone]]", at: "Ways/part.md:5: Part.md", reason: "no such section", cause: omission.Section},
	}
	return append(
		ways,
		lostWay{at: "Workflows/All.md:8: file: Gone", reason: "no file was found", cause: omission.Missing},
		lostWay{at: "Workflows/All.md:9: file: None/*.md", reason: "no file was found", cause: omission.Missing},
		lostWay{at: "Workflows/All.md:10: variable: nothing", reason: "the variable has no value", cause: omission.Unset},
		lostWay{at: "Workflows/All.md:11: torn.png", reason: "ends too early", cause: omission.Damaged},
		lostWay{at: "Workflows/All.md:12: a.zip", reason: "neither text nor picture", cause: omission.Kind},
		lostWay{at: "Workflows/All.md:13: Part.md", reason: "no such section", cause: omission.Section},
	)
}

// arriving are references of which nothing is lost: they are found, or their author does not want them to be shown.
var arriving = map[string]string{
	"comment": "%% ![[gone.png]] %%", "html comment": "<!-- ![[gone.png]] -->", "code": "`![[gone.png]]`", "fence": "```\n![[gone.png]]\n![](gone.png)\n```",
	"property": "---\nx: \"![[gone.png]]\"\n---", "encoded": "![](A%20b%C3%A9%20%25.png)", "composed": "![[A b\u00e9 %.png]]", "decomposed": "![[A be\u0301 %.png]]", "case": "![[a B\u00c9 %.PNG]]",
	"shown small": "![[A b\u00e9 %.png|300]] ![[A b\u00e9 %.png|a door|20x30]]", "empty note": "![[Empty]]", "base": "![[Tasks.base]]", "itself": "![[itself]]", "link": "[[Gone]] [a](Gone.md)",
}

// Whatever a note names or embeds and the model does not get is told with place, reason and remedy: by the preview, run, show and the status note.
// A preview tells what the run does.
func TestOmissions_areTold(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "engine: {status_note: Status.md}\n")
	ways := lostWays(t)
	for _, way := range ways {
		for name, data := range way.files {
			s.Write(name, []byte(data))
		}
		if way.name != "" {
			s.write("Ways/"+way.name+".md", "# A note\n\n"+way.ref+"\n")
		}
	}
	for name, ref := range arriving {
		s.write("Ways/"+name+".md", ref+"\n")
	}
	s.Write("A be\u0301 %.png", []byte(encodedAs(t, "png")))
	s.write("Empty.md", "")
	s.write("Tasks.base", "views:\n  - type: table\n")
	for name, to := range map[string]string{"outside.png": "/etc/hostname", "circle.png": "circle.png", "dangling.png": "nowhere.png"} {
		if err := os.Symlink(to, s.Path(name)); err != nil {
			t.Fatal(err)
		}
	}
	s.write("Workflows/All.md", `---
permissions: {read: ["*", "Ways/*", "None/*", "Some folder/*"]}
budget: {max_images: 100}
---
## A
@output file: Out
@input file: Ways/*.md (images=auto)
@input file: Gone
@input file: None/*.md
@input variable: nothing
@input file: torn.png
@input file: a.zip
@input file: [[Part#None]]

What is there?
`)
	s.serve()
	preview := s.Must("preview", "All")
	ran, errs, code := s.CLI("run", "All")
	if code != exitOmissions {
		t.Errorf("exit code %d\n%s%s", code, ran, errs)
	}
	shown := s.Must("show", s.Runs("All")[0].ID)
	for _, way := range ways {
		at := way.at
		if at == "" {
			at = "Ways/" + way.name + ".md:3: "
		}
		for place, text := range map[string]string{"preview": preview, "run": ran, "show": shown} {
			i := strings.Index(text, "left out "+at)
			line, _, _ := strings.Cut(text[max(i, 0):], "\n")
			if i < 0 || !strings.Contains(line, way.reason) || !strings.Contains(line, remedyOf(way.cause)) {
				t.Errorf("%s of %s %q: %q, want %q and %q", place, at, way.ref, line, way.reason, remedyOf(way.cause))
			}
		}
	}
	if n, m := strings.Count(preview, "left out "), strings.Count(shown, "left out "); n != len(ways) || m != len(ways) {
		t.Errorf("the preview tells %d omissions, the run %d, want %d", n, m, len(ways))
	}
	if t.Failed() {
		t.Logf("preview\n%s\nshow\n%s", preview, shown)
	}
	first, _, _ := strings.Cut(shown[strings.Index(shown, "left out ")+len("left out "):], "\n")
	s.Wait(patience, "the status note", func() (bool, string) {
		text := strings.ReplaceAll(s.Read("Status.md"), `\`, "")
		return strings.Contains(text, first), text + "\nwant " + first
	})
}

func remedyOf(c omission.Cause) string {
	if c == omission.Budget {
		return "raise max_decode_pixels"
	}
	return omission.Of(c).Remedy()
}

// What a step requires and does not get keeps it from asking: nothing is sent or written, and the reason names what is missing.
func TestOmissions_ofRequiredInputs(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	torn := encodedAs(t, "png")[:400]
	s.Write("torn.png", []byte(torn))
	s.Write("Bytes.md", []byte("\x00\x01\x02\x03\xfe\xff\x90\x80\x00\x01"))
	s.Write("a.zip", []byte("PK\x03\x04\x14\x00\x00\x00"))
	s.write("Only.md", "![[torn.png]]\n")
	s.write("Words.md", "Words and ![[torn.png]]\n")
	s.write("Nul.md", "One\x00two\n")
	s.write("Out.md", "what was there\n")
	steps := []struct {
		input, told string
		cause       omission.Cause
	}{
		{"torn.png (required)", "Workflows/Needs.md:2: torn.png", omission.Damaged},
		{"Bytes (required)", "Workflows/Needs.md:8: Bytes.md", omission.Kind},
		{"a.zip (required)", "Workflows/Needs.md:14: a.zip", omission.Kind},
		{"Only (required)", "Only.md:1: torn.png", omission.Damaged},
		{"Words (images=required)", "Words.md:1: torn.png", omission.Damaged},
	}
	step := func(input string) string {
		return "## " + input[:4] + "\n@input file: " + input + "\n@output file: Out\n@write_mode replace\n\nWhat is there?\n"
	}
	text := ""
	for _, one := range steps {
		text += step(one.input)
	}
	s.write("Workflows/Needs.md", text)
	s.write("Workflows/Has.md", step("Nul (required)"))
	preview := s.Must("preview", "Needs")
	if out, errs, code := s.CLI("run", "Needs"); code != 4 {
		t.Errorf("exit code %d:\n%s%s", code, out, errs)
	}
	run := s.Runs("Needs")[0]
	for i, one := range steps {
		want := omission.Of(one.cause).Remedy()
		if !strings.Contains(preview, "would be skipped: a required input would not arrive: "+one.told) {
			t.Errorf("the preview of %s says\n%s", one.input, preview)
		}
		if got := run.Steps[i]; got.Status != engine.Skipped || !strings.Contains(got.Reason, one.told) || !strings.Contains(got.Reason, want) || got.Calls > 0 {
			t.Errorf("%s: %s %q, %d calls; want %q and %q", one.input, got.Status, got.Reason, got.Calls, one.told, want)
		}
	}
	if got := s.Read("Out.md"); got != "what was there\n" {
		t.Errorf("the output was written: %q", got)
	}
	s.Must("run", "Has")
	if prompt := s.Must("preview", "Has"); !strings.Contains(prompt, "One\uFFFDtwo") {
		t.Errorf("the text with a NUL byte is not in\n%s", prompt)
	}
}

// What has no room, and what the model cannot see, is told in the same form.
func TestOmissions_ofBudgetsAndModels(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", `models: {default: offline, aliases: {blind: {provider: offline, model: offline, capabilities: [text]}}}
policy: {remote_images: {enabled: true, deny: [bad.example]}}
`)
	s.Write("a.png", []byte(encodedAs(t, "png")))
	s.Write("b.jpg", []byte(encodedAs(t, "jpg")))
	s.write("Note.md", "![[a.png]]\n![[b.jpg]]\n")
	s.write("Web.md", "![](https://example.com/a.png)\n![](https://bad.example/b.png)\n")
	s.write("Workflows/Look.md", `---
budget: {max_images: 1, when_exceeded: drop_newest}
---
## Tight
@input file: Note (images=auto)
@output file: Out 1

What is there?
## Blind
@model blind
@input file: Note (images=auto)
@output file: Out 2

What is there?
## Web
@model blind
@input file: Web (images=auto)
@output file: Out 3

What is there?
`)
	preview := s.Must("preview", "Look")
	ran, _, code := s.CLI("run", "Look")
	if code != exitOmissions {
		t.Errorf("exit code %d", code)
	}
	for _, text := range []string{preview, ran} {
		for _, want := range []string{
			"left out Note.md:2: b.jpg: not shown (max_images 1 reached); raise max_images, or select less",
			"left out Note.md:1: a.png: its name alone (the model has no vision); " + omission.Of(omission.Vision).Remedy(),
			"left out Note.md:2: b.jpg: its name alone (the model has no vision); ",
			"left out Web.md:1: https://example.com/a.png: not shown (remote image, not fetched: the model has no vision); ",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("no %q in\n%s", want, text)
			}
		}
		if n := strings.Count(text, "left out "); n != 4 {
			t.Errorf("%d omissions, want 4: what the settings deny is none\n%s", n, text)
		}
	}
}

// lostInRuns is a step whose model does not get everything, for reasons that show only when it runs.
type lostInRuns struct {
	name, step string
	told       []string // beginnings of lines, each with its remedy behind a bar
}

// forgetful is a service that refuses what "Ask NAME" in the prompt names, or makes files of the vault go away before it answers.
func forgetful(t *testing.T, s *site) *llmtest.Server {
	t.Helper()
	var mu sync.Mutex // guards failed
	failed := map[string]bool{}
	return llmtest.NewComposing(t, llmtest.OpenAI{}, llmtest.Limits{}, func(c llmtest.Captured) llmtest.Reply {
		mu.Lock()
		defer mu.Unlock()
		body, seen, answered := string(c.Body), false, false
		for _, p := range c.Parts {
			seen, answered = seen || p.Kind() == "image", answered || p.Result != ""
		}
		first := func(name string) bool {
			is := strings.Contains(body, "Ask "+name) && !failed[name]
			failed[name] = failed[name] || is
			return is
		}
		refusal := func(message string) llmtest.Reply {
			return llmtest.Reply{Status: http.StatusBadRequest, Code: "invalid_request_error", Message: message}
		}
		busy := llmtest.Reply{Status: http.StatusServiceUnavailable, Code: "overloaded", Message: "overloaded", Header: map[string]string{"Retry-After": "0"}}
		call := func(name, input string) llmtest.Reply {
			return llmtest.Reply{Answer: llmtest.Answer{ToolCalls: []llmtest.ToolCall{{Name: name, Input: input}}}}
		}
		switch {
		case strings.Contains(body, "Ask REFUSE") && seen:
			return refusal("No endpoints found that support image input")
		case first("ANEW"):
			return refusal("Could not process image")
		case first("VANISH"):
			_ = os.Remove(s.Path("vanishing.png"))
			return busy
		case first("CHANGE"):
			_ = os.WriteFile(s.Path("changing.png"), []byte(encodedAs(t, "gif")), 0o644)
			return busy
		case first("FALL"), first("AGAIN"):
			return llmtest.Reply{Status: http.StatusForbidden, Code: "forbidden", Message: "not for you"}
		case strings.Contains(body, "Ask READ") && !answered:
			return call("read_file", `{"path":"Read.md","images":true}`)
		case strings.Contains(body, "Ask NEST") && !answered:
			return call("run_workflow", `{"workflow":"Child"}`)
		}
		return llmtest.Reply{Answer: llmtest.Answer{Text: "Seen.", Input: 9000, Output: 5}}
	})
}

// What is lost while a run works is told by the run, its record and its receipt, for people and for machines, and by the status note, in
// the same words, whoever lost it.
func TestOmissions_ofRuns(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	server := forgetful(t, s)
	s.Env = append(s.Env, "LAB_KEY="+llmtest.Key)
	s.Write("settings.yaml", []byte(sitetest.Quick+fmt.Sprintf(`engine: {status_note: Status.md}
policy: {remote_images: {enabled: true}}
models:
  default: seer
  aliases:
    seer: {provider: lab, model: test-model, capabilities: [text, vision, tools]}
    blind: {provider: lab, model: test-model, capabilities: [text]}
providers: {lab: {kind: openai_chat, base_url: %q, api_key_env: LAB_KEY}}
`, server.URL+"/v1")))
	for _, name := range []string{"refused.png", "vanishing.png", "changing.png", "seen.png", "there.png"} {
		s.Write(name, append([]byte(encodedAs(t, "png")), name...)) // each another file
	}
	s.write("Refuse.md", "a\n\n![[refused.png]]\n")
	s.write("Vanish.md", "a\n\n![[vanishing.png]]\n")
	s.write("Change.md", "a\n\n![[changing.png]]\n")
	s.write("Fall.md", "a\n\n![[seen.png]]\n")
	s.write("Read.md", "a\n\n![[there.png]]\n\n![[gone.png]]\n")
	s.write("Web.md", "a\n\n![](http://127.0.0.1:9/a.png)\n")
	s.write("Gone.md", "a\n\n![[gone.png]]\n")
	s.write("Items/One.md", "a\n![[gone.png]]\n")
	s.write("Items/Two.md", "a\n\n![[Gone too]]\n")
	s.write("Workflows/Child.md", "## Work\n@input file: Gone (images=auto)\n@output file: Out/Child\n\nAsk CHILD.\n")
	line := func(place string, c omission.Cause) string { return place + "|" + omission.Of(c).Remedy() }
	ways := []lostInRuns{
		{"Refuse", "@input file: Refuse (images=auto)", []string{line("Refuse.md:3: refused.png: its name alone (the service refused the request: unsupported_media", omission.Service)}},
		{"Anew", "@input file: Refuse (images=auto)", []string{line("Refuse.md:3: refused.png: its name alone (it could not be sent: the worker that reads such files is missing", omission.Worker)}},
		{"Vanish", "@input file: Vanish (images=auto)", []string{line("Vanish.md:3: vanishing.png: its name alone (it could not be sent: ", omission.Missing)}},
		{"Change", "@input file: Change (images=auto)", []string{line("Change.md:3: changing.png: its name alone (it could not be sent: changed since the prompt was built", omission.Unsent)}},
		{"Fall", "@model seer (fallback=blind)\n@input file: Fall (images=auto)", []string{line("Fall.md:3: seen.png: its name alone (the model has no vision", omission.Vision)}},
		{"Read", "@tools read_file", []string{line("Read.md:5: gone.png: not found", omission.Missing)}},
		{"Nest", "@tools run_workflow", []string{line("Gone.md:3: gone.png: not found, in Child", omission.Missing)}},
		{"Web", "@input file: Web (images=auto)", []string{line("Web.md:3: http://127.0.0.1:9/a.png: not shown (remote image, not fetched: not allowed by policy.remote_images", omission.Address)}},
		{"Each", "@for_each file: Items/*\n@input file: {item} (images=auto)", []string{line("Items/One.md:2: gone.png: not found", omission.Missing), line("Items/Two.md:3: Gone too: not found", omission.Missing)}},
	}
	again := []lostInRuns{{"Again", "@cache 1d\n@input file: Gone (images=auto)", []string{line("Gone.md:3: gone.png: not found", omission.Missing)}}}
	write := func(workflow string, ways []lostInRuns) {
		text := ""
		for _, way := range ways {
			text += "## " + way.name + "\n@retry 1 (backoff=10ms)\n" + way.step + "\n@output file: Out/" + way.name + "\n@write_mode replace\n\nAsk " + strings.ToUpper(way.name) + ".\n"
		}
		s.write("Workflows/"+workflow+".md", text)
	}
	write("All", ways)
	write("Again", again)
	s.serve()
	var firsts []string
	tell := func(ways []lostInRuns, command ...string) engine.RunRecord {
		t.Helper()
		ran, errs, code := s.CLI(command...)
		if code != exitOmissions {
			t.Fatalf("%s: exit code %d\n%s%s", command, code, ran, errs)
		}
		id, _, _ := strings.Cut(ran, " ")
		run, receipts := leftOutOf(t, s.Must("show", id, "--receipt", "--json"))
		shown := s.Must("show", id, "--receipt")
		for i, way := range ways {
			step := run.Steps[i]
			if step.Status != engine.DoneWithOmissions || len(step.LeftOut) != len(way.told) || len(receipts) < len(way.told) {
				t.Fatalf("%s: %s %q, the receipts have %q; want %q", way.name, step.Status, step.LeftOut, receipts, way.told)
			}
			for i, l := range step.LeftOut {
				begins, remedy, _ := strings.Cut(way.told[i], "|")
				if line := l.String(); !strings.HasPrefix(line, begins) || !strings.HasSuffix(line, "; "+remedy) || receipts[i].String() != line {
					t.Errorf("%s: the record has %q, the receipt %q, want %q", way.name, line, receipts[i], way.told[i])
				}
				if said := "left out " + l.String() + "\n"; !strings.Contains(ran, said) || strings.Count(shown, said) != 2 {
					t.Errorf("%s: not in run, in the record and in the receipt: %q\n%s\n%s", way.name, said, ran, shown)
				}
			}
			receipts = receipts[len(way.told):]
		}
		firsts = append(firsts, run.Steps[0].LeftOut[0].String())
		return run
	}
	tell(ways, "run", "All")
	if _, _, code := s.CLI("run", "Again"); code == exitOmissions || code == exitDone {
		t.Fatalf("a run that the service refused: exit code %d", code)
	}
	tell(again, "retry", s.Runs("Again")[0].ID)
	if run := tell(again, "run", "Again"); !run.Steps[0].Cached {
		t.Error("the second answer is not from the cache")
	}
	has := func(text string) (bool, string) {
		for _, first := range firsts {
			if !strings.Contains(text, first) {
				return false, text + "\nwant " + first
			}
		}
		return true, ""
	}
	if ok, saw := has(s.Must("status")); !ok {
		t.Errorf("status: %s", saw)
	}
	s.Wait(patience, "the status note", func() (bool, string) { return has(strings.ReplaceAll(s.Read("Status.md"), `\`, "")) })
}

// leftOutOf returns the record of a run, and what its receipts have, as machines read them.
func leftOutOf(t *testing.T, printed string) (run engine.RunRecord, receipts []engine.LeftOut) {
	t.Helper()
	for row := range strings.Lines(printed) {
		var one struct {
			Type    string
			LeftOut []engine.LeftOut `json:"left_out"`
		}
		err := json.Unmarshal([]byte(row), &one)
		switch {
		case err == nil && one.Type == "run":
			err = json.Unmarshal([]byte(row), &run)
		case one.Type == "receipt":
			receipts = append(receipts, one.LeftOut...)
		}
		if err != nil {
			t.Fatalf("%v in %s", err, row)
		}
	}
	return run, receipts
}

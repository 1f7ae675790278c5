package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/fault"
	"github.com/vaultflow/vaultflow/ingestion/indexnote"
	"github.com/vaultflow/vaultflow/ingestion/markdown"
)

// FolderFile is the name of a file in the import folder, or in a folder below it, that holds settings for what is
// dropped there.
const FolderFile = "_import.yaml"

// Bounds of a FolderFile.
const (
	folderBytes  = 64 << 10
	folderTags   = 50
	folderLevels = 32 // folders above a source that are looked at
)

// FolderError lists what is wrong with a FolderFile. Nothing below its folder is imported until it is corrected.
type FolderError struct {
	Name     string   // vault name of the file
	Problems []string // each with its line
}

// Error names the file and its problems.
func (e *FolderError) Error() string { return e.Name + ": " + strings.Join(e.Problems, "; ") }

var _ failure.Reporter = (*FolderError)(nil)

// Failure implements [failure.Reporter].
func (e *FolderError) Failure() failure.Error {
	return failure.Error{Code: failure.InvalidSettings, Hint: "correct " + e.Name + "; then the files in its folder are imported"}
}

// NoteName is the vault name of the note that reports it to users.
func (e *FolderError) NoteName() string { return e.Name + indexnote.FailedSuffix }

// Note is that note's text.
func (e *FolderError) Note() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n# The settings in %s cannot be used\n\nNothing is imported from this folder until they are corrected. This note goes away by itself then.\n\n",
		indexnote.Begin, markdown.Inline(path.Base(e.Name)))
	for _, p := range e.Problems {
		b.WriteString("- " + markdown.Inline(p) + "\n")
	}
	b.WriteString("\nKeys: " + strings.Join(folderKeys(), ", ") + ".\n" + indexnote.End + "\n")
	return b.String()
}

// For returns the settings for a source: these, changed by the FolderFiles from the import folder down to the source's folder. The
// deepest folder wins; tags add up. The error is a *FolderError, or from the file system. s stays as it is.
func (s Settings) For(fsys fs.FS, source string) (Settings, error) {
	s = s.filled()
	rel, ok := strings.CutPrefix(source, s.ImportDir+"/")
	if !ok {
		return s, nil
	}
	dir := s.ImportDir
	folders := strings.Split(path.Dir(rel), "/")
	for i := -1; i < min(len(folders), folderLevels); i++ {
		if i >= 0 {
			dir = path.Join(dir, folders[i])
		}
		name := path.Join(dir, FolderFile)
		data, err := ReadBounded(fsys, name, folderBytes)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return s, fault.Storage("read "+name, err)
		}
		if problems := s.overlay(data); len(problems) > 0 {
			return s, &FolderError{name, problems}
		}
	}
	return s, nil
}

// ReadBounded reads a file, or one byte more than the limit if it is larger.
func ReadBounded(fsys fs.FS, name string, limit int64) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit+1))
}

// overlay applies a FolderFile and returns its problems.
func (s *Settings) overlay(data []byte) (problems []string) {
	if len(data) > folderBytes {
		return []string{fmt.Sprintf("it is larger than %d kB", folderBytes>>10)}
	}
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(strings.TrimPrefix(string(data), "\ufeff")), &doc); err != nil {
		return []string{strings.TrimPrefix(err.Error(), "yaml: ")}
	}
	if len(doc.Content) == 0 || doc.Content[0].ShortTag() == "!!null" {
		return nil
	}
	if doc.Content[0].Kind != yaml.MappingNode {
		return []string{fmt.Sprintf("line %d: write keys with values, such as mode: markdown", doc.Content[0].Line)}
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(doc.Content[0].Content); i += 2 {
		key, value := doc.Content[0].Content[i], doc.Content[0].Content[i+1]
		set, known := folderSettings[key.Value]
		err := errors.New("unknown key; the keys are " + strings.Join(folderKeys(), ", "))
		switch {
		case seen[key.Value]:
			err = errors.New("it is there twice")
		case known:
			err = set(s, value)
		}
		if seen[key.Value] = true; err != nil {
			problems = append(problems, fmt.Sprintf("line %d: %s: %v", key.Line, markdown.OneLine(key.Value, 60), err))
		}
	}
	return problems
}

func folderKeys() []string {
	keys := make([]string, 0, len(folderSettings))
	for key := range folderSettings {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// folderSettings maps each key of a FolderFile to what sets its value.
var folderSettings = map[string]func(*Settings, *yaml.Node) error{
	"mode": func(s *Settings, n *yaml.Node) error {
		return word(&s.PDF.Mode, n, ModeMarkdown, ModePageImages, ModeHybrid)
	},
	"keep_original": func(s *Settings, n *yaml.Node) error {
		return word(&s.KeepOriginal, n, KeepInBundle, KeepInDone, KeepNot)
	},
	"languages":    folderLanguages,
	"ocr_engines":  folderEngines,
	"strategies":   folderStrategies,
	"tags":         folderTagsOf,
	"template":     folderTemplate,
	"vision":       folderVision,
	"redo_ocr":     func(s *Settings, n *yaml.Node) error { return n.Decode(&s.OCR.Redo) },
	"inline_pages": func(s *Settings, n *yaml.Node) error { return number(&s.InlinePages, n, 1, 10_000) },
	"dpi": func(s *Settings, n *yaml.Node) error {
		dpi := int(s.PDF.DPI)
		err := number(&dpi, n, 36, 600)
		s.PDF.DPI = float64(dpi)
		return err
	},
}

func word(to *string, n *yaml.Node, words ...string) error {
	if n.Kind != yaml.ScalarNode || !slices.Contains(words, n.Value) {
		return fmt.Errorf("%q is not one of %s", markdown.OneLine(n.Value, 60), strings.Join(words, ", "))
	}
	*to = n.Value
	return nil
}

func number(to *int, n *yaml.Node, least, most int) error {
	v, err := strconv.Atoi(n.Value)
	if n.Kind != yaml.ScalarNode || err != nil || v < least || v > most {
		return fmt.Errorf("%q is not a whole number from %d to %d", markdown.OneLine(n.Value, 60), least, most)
	}
	*to = v
	return nil
}

// wordList reads a list of words, or a single one.
func wordList(n *yaml.Node, most int) ([]string, error) {
	if n.Kind == yaml.ScalarNode && n.ShortTag() != "!!null" {
		return []string{n.Value}, nil
	}
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 || len(n.Content) > most {
		return nil, fmt.Errorf("write a list of 1 to %d words, such as [one, two]", most)
	}
	var list []string
	for _, item := range n.Content {
		if item.Kind != yaml.ScalarNode || item.Value == "" || slices.Contains(list, item.Value) {
			return nil, fmt.Errorf("%q is empty or repeated", markdown.OneLine(item.Value, 60))
		}
		list = append(list, item.Value)
	}
	return list, nil
}

func folderLanguages(s *Settings, n *yaml.Node) error {
	list, err := wordList(n, 20)
	for _, name := range list {
		if !extract.ValidLanguage(name) {
			return fmt.Errorf("%q is not the name of language data; write for example [eng, deu]", markdown.OneLine(name, 60))
		}
	}
	if err == nil {
		s.OCR.Languages = list
	}
	return err
}

// folderEngines sets the engines that read text from pictures, in order. Models of services come from the settings.
func folderEngines(s *Settings, n *yaml.Node) error {
	engines := []string{EngineTesseract, EngineMistral, EngineModel}
	list, err := wordList(n, len(engines))
	for _, name := range list {
		if !slices.Contains(engines, name) {
			return fmt.Errorf("%q is not one of %s", markdown.OneLine(name, 60), strings.Join(engines, ", "))
		}
	}
	if err == nil {
		s.OCR.Engines = list
	}
	return err
}

// folderVision sets which pages a model reads again. Model and budget come from the settings.
func folderVision(s *Settings, n *yaml.Node) error {
	vision := VisionOff
	err := word(&vision, n, VisionDoubtful, VisionAll, VisionOff)
	if s.OCR.Vision = vision; vision == VisionOff {
		s.OCR.Vision = ""
	}
	return err
}

// folderStrategies sets the strategies for PDFs and pictures from one list: their prefixes differ.
func folderStrategies(s *Settings, n *yaml.Node) error {
	list, err := wordList(n, 20)
	if err != nil {
		return err
	}
	of := func(prefix string) []string {
		return slices.DeleteFunc(slices.Clone(list), func(name string) bool { return !strings.HasPrefix(name, prefix) })
	}
	next := *s
	pdfs, pictures := of("pdf_"), of("image_")
	if len(pdfs) > 0 {
		next.PDF.Strategies = pdfs
	}
	if len(pictures) > 0 {
		next.Image.Strategies = pictures
	}
	if len(pdfs)+len(pictures) < len(list) {
		return errors.New("names of strategies begin with pdf_ or image_")
	}
	if faults := next.strategyFaults(); faults != nil {
		return faults
	}
	*s = next
	return nil
}

func folderTagsOf(s *Settings, n *yaml.Node) error {
	list, err := wordList(n, folderTags)
	if err != nil {
		return err
	}
	all := slices.Clone(s.Tags)
	for _, tag := range list {
		tag = strings.TrimPrefix(tag, "#")
		if !validTag(tag) {
			return fmt.Errorf("%q is not a tag: use letters, digits, _, - and /, and not only digits", markdown.OneLine(tag, 60))
		}
		if !slices.Contains(all, tag) {
			all = append(all, tag)
		}
	}
	if len(all) > folderTags {
		return fmt.Errorf("with those of the parent folders there are more than %d", folderTags)
	}
	s.Tags = all
	return nil
}

// validTag reports whether Obsidian accepts a word as a tag.
func validTag(tag string) bool {
	letters := false
	for _, r := range tag {
		switch {
		case unicode.IsDigit(r):
		case unicode.IsLetter(r) || unicode.IsMark(r) || unicode.Is(unicode.So, r) || strings.ContainsRune("_-/", r):
			letters = true
		default:
			return false
		}
	}
	return letters && len(tag) <= 200
}

func folderTemplate(s *Settings, n *yaml.Node) error {
	if n.Kind != yaml.ScalarNode || n.Value != "" && !fs.ValidPath(n.Value) {
		return fmt.Errorf("%q is not a name in the vault, such as Templates/Invoice.md", markdown.OneLine(n.Value, 60))
	}
	s.Template = n.Value
	return nil
}

package settings

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/vaultflow/vaultflow/failure/diag"

	"github.com/joho/godotenv"
)

// dotEnv is a file of variables. Only those that api_key_env names and a cloud's usual ones are read from it.
type dotEnv struct {
	path    string
	inVault bool
	vars    map[string]string
}

const dotEnvName = ".env"

// keyring looks up variables: in the environment, else in the .env files.
type keyring struct {
	*layers
	files []dotEnv
	asked map[string]bool // the answer about a line of the vault's file
}

// findKeys looks for each provider's key: environment, .env beside a settings file outside the vault, .env in the state directory, .env
// in the vault (once it is granted, with a warning), the settings themselves (with a warning).
func (l *layers) findKeys() {
	s, k := l.into, &keyring{layers: l, files: l.KeyFiles(), asked: map[string]bool{}}
	for _, name := range sortedKeys(s.Providers) {
		p := s.Providers[name]
		p.Key, p.KeyFrom = findKey(s, name, p, k)
		s.Providers[name] = findAccount(s, name, p, k)
		validateAccount(s, name, l.reporter)
		missingAccount(s, name, l.reporter)
	}
	missingKey(s, l.reporter)
	findSearchKey(s, k)
	for _, variable := range s.pending { // ask about all of them at once
		k.lookUp(variable)
	}
}

func findKey(s *Settings, name string, p Provider, k *keyring) (Secret, string) {
	if key, from := k.lookUp(p.APIKeyEnv); key != "" {
		return key, from
	}
	if p.APIKey == "" {
		return "", ""
	}
	key := name + ".api_key"
	if name != "web_search" {
		key = "providers." + key
	}
	secretInFile(s, key, "set a variable in the environment and name it with api_key_env", k.reporter)
	return p.APIKey, "settings"
}

// lookUp returns a variable's value and where it was found: in the environment, else in the first .env file that has it.
func (k *keyring) lookUp(variable string) (value Secret, from string) {
	if variable == "" {
		return "", ""
	}
	if value := strings.TrimSpace(k.environ[variable]); value != "" {
		return Secret(value), "environment variable " + variable
	}
	for _, f := range k.files {
		value := Secret(strings.TrimSpace(f.vars[variable]))
		if value == "" || f.inVault && !k.may(f.path, variable, value) {
			continue
		}
		return value, f.path
	}
	return "", ""
}

// may reports whether a line of the vault's .env counts. Whoever writes that file could have everything sent with their own
// key, or use one of the user's files as credentials.
func (k *keyring) may(path, variable string, value Secret) bool {
	place := path + "\x00" + variable
	if may, known := k.asked[place]; known {
		return may
	}
	may := k.grants(sayVariable(variable, value, Origin{Name: path}))
	k.asked[place] = may
	if may {
		k.report(Origin{Name: path}, diag.SeverityWarning, CodeSecret, "move the file out of the vault, or set the variable in the environment",
			"%s is kept inside the vault, where sync, git and backups copy it", variable)
	}
	return may
}

// secretInFile warns about a secret in a settings file.
func secretInFile(s *Settings, key, suggestion string, r *reporter) {
	if at := placeOf(s, key); at.Source == SourceFile && !r.has(at, CodeSecret) {
		r.report(at, diag.SeverityWarning, CodeSecret, suggestion, "%s: the settings contain a key", key)
	}
}

// missingKey warns when the default model cannot be called.
func missingKey(s *Settings, r *reporter) {
	a, p, ok := s.Alias("")
	if !ok || !p.NeedsKey() || p.Key != "" {
		return
	}
	suggestion := "name a variable with api_key_env"
	if p.APIKeyEnv != "" {
		suggestion = "set " + p.APIKeyEnv
	}
	if p.Kind == "bedrock" {
		suggestion += ", or name a profile"
	}
	at := placeOf(s, "models.default")
	if _, written := s.origins["models.default"]; !written {
		at = placeOf(s, "models.aliases."+s.Models.Default) // the only configured one
	}
	r.report(at, diag.SeverityWarning, CodeReference, suggestion,
		"there is no key for provider %s, which the default model %s needs", a.Provider, s.Models.Default)
}

// dotEnvs reads the .env files, in order of preference.
func (l *layers) KeyFiles() []dotEnv {
	var files []dotEnv
	seen := map[string]bool{}
	for _, path := range l.in.KeyFiles() {
		if real := realPath(path); !seen[real] {
			seen[real] = true
			if f, ok := l.readDotEnv(path); ok {
				files = append(files, f)
			}
		}
	}
	return files
}

func (l *layers) readDotEnv(path string) (dotEnv, bool) {
	where := l.in.placeOf(path)
	if where.linked != "" {
		if _, err := os.Lstat(path); err != nil || !l.grantLink(path, where.linked) {
			return dotEnv{}, false
		}
	}
	data, err := l.in.read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return dotEnv{}, false
	}
	if err != nil {
		l.report(Origin{Name: path}, diag.SeverityWarning, CodeSyntax, "", "the file cannot be read, so its keys are not used: %v", err)
		return dotEnv{}, false
	}
	vars, err := godotenv.UnmarshalBytes(data)
	if err != nil { // its text may contain the line, and so a key
		l.report(Origin{Name: path}, diag.SeverityWarning, CodeSyntax, "write one NAME=value per line", "the file is not a valid .env file, so its keys are not used")
		return dotEnv{}, false
	}
	if info, err := os.Stat(path); err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 && !where.inVault {
		l.report(Origin{Name: path}, diag.SeverityWarning, CodeSecret, "chmod 600 "+path, "other users of this machine can read or change the keys in it (mode %o)", info.Mode().Perm())
	}
	return dotEnv{path: path, inVault: where.inVault, vars: vars}, true
}

// keysInText warns about everything in a settings file that looks like a key, even in comments. It never repeats the key.
func keysInText(path string, data []byte, r *reporter) {
	line := 0
	for text := range strings.Lines(string(data)) {
		line++
		if at := keyLike.FindStringIndex(text); at != nil {
			r.report(Origin{Source: SourceFile, Name: path, Line: line, Column: at[0] + 1}, diag.SeverityWarning, CodeSecret,
				"set a variable in the environment and name it with api_key_env", "this looks like a key")
		}
	}
}

// has reports whether a diagnostic with the code exists for the line.
func (r *reporter) has(at Origin, code string) bool {
	for _, d := range r.list {
		if d.Code == code && d.File == at.place() && d.Line == at.Line {
			return true
		}
	}
	return false
}

// inside reports whether a path is in a folder, after following symbolic links.
func inside(path, folder string) bool {
	if folder == "" {
		return false
	}
	rel, err := filepath.Rel(realPath(folder), realPath(path))
	return err == nil && filepath.IsLocal(rel)
}

// realPath follows symbolic links as far as the path exists.
func realPath(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	for rest := ""; ; {
		if real, err := filepath.EvalSymlinks(abs); err == nil {
			return filepath.Join(real, rest)
		}
		above := filepath.Dir(abs)
		if above == abs {
			return filepath.Join(abs, rest)
		}
		abs, rest = above, filepath.Join(filepath.Base(abs), rest)
	}
}

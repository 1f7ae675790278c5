package sandbox

import (
	"os"
	"path/filepath"
	"slices"
)

// officeModules are the parts of LibreOffice that may be installed each for itself, with the extensions that only they read.
var officeModules = []struct {
	file, pack string
	reads      []string
}{
	{"writer.xcd", "libreoffice-writer", []string{"doc", "docx", "odt", "fodt", "rtf"}},
	{"calc.xcd", "libreoffice-calc", []string{"xls", "xlsx", "xlsb", "ods", "fods"}},
	{"impress.xcd", "libreoffice-impress", []string{"ppt", "pptx", "odp", "fodp"}},
}

// Lacks returns the packages of LibreOffice that are not installed beside others. It returns none if it finds none of them: then it
// does not know the installation.
func (o Office) Lacks() (packages []string) {
	program, err := filepath.EvalSymlinks(o.Program)
	if err != nil {
		return nil
	}
	for _, m := range officeModules {
		if _, err := os.Stat(filepath.Join(filepath.Dir(filepath.Dir(program)), "share", "registry", m.file)); err != nil {
			packages = append(packages, m.pack)
		}
	}
	if len(packages) == len(officeModules) {
		return nil
	}
	return packages
}

// lacksFor returns the package that is not installed and reads files with this extension, or "".
func (o Office) lacksFor(extension string) string {
	lacks := o.Lacks()
	for _, m := range officeModules {
		if slices.Contains(m.reads, extension) && slices.Contains(lacks, m.pack) {
			return m.pack
		}
	}
	return ""
}

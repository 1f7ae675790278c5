package sandbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion/extract"
)

// Report is what a worker reports about itself, and its problems.
type Report struct {
	Worker      string    `json:"worker"` // path of the program
	Version     string    `json:"version,omitempty"`
	MuPDF       string    `json:"mupdf,omitempty"`
	Tesseract   string    `json:"tesseract,omitempty"`
	Tessdata    string    `json:"tessdata,omitempty"`
	Languages   []string  `json:"languages,omitempty"`
	Confinement string    `json:"confinement,omitempty"`
	Problems    []Problem `json:"problems,omitempty"`
}

// Problem is something that the user can fix.
type Problem struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Fix     string `json:"fix"`
}

// Self starts a worker without a document and asks what it is and whether it has the data of these languages. A worker
// that does not start is a problem of the report, not an error; the error is that of ctx.
func Self(ctx context.Context, c Config, languages []string) (Report, error) {
	c = c.withDefaults()
	out := Report{Worker: c.Worker}
	s, err := c.begin(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return out, ctx.Err()
		}
		out.Problems = []Problem{startProblem(err)}
		return out, nil
	}
	h := s.hello
	if err := s.Close(); err != nil {
		return out, err
	}
	out.Version, out.MuPDF, out.Tesseract, out.Tessdata, out.Languages, out.Confinement = h.Version, h.MuPDF, h.Tesseract, h.Tessdata, h.Languages, h.Confinement
	for _, language := range languages {
		if language == extract.AutoLanguage && len(h.Languages) > 0 {
			continue
		}
		if language == extract.AutoLanguage {
			language = "eng"
		}
		if !slices.Contains(h.Languages, language) {
			out.Problems = append(out.Problems, Problem{
				Code: "language_missing", Message: fmt.Sprintf("language data for %q is not in %q", language, h.Tessdata),
				Fix: languageFix(language),
			})
		}
	}
	if p, ok := confinementProblem(h.Confinement); ok {
		out.Problems = append(out.Problems, p)
	}
	return out, nil
}

func languageFix(language string) string {
	if !extract.IsLanguageCode(language) {
		return "write Tesseract's code of the language in ingestion.ocr.languages, such as deu for German"
	}
	return "install tesseract-ocr-" + strings.ReplaceAll(language, "_", "-") + " (Debian, Ubuntu) or tesseract-lang (Homebrew), or change ingestion.ocr.languages"
}

// confinementProblem describes what a hostile document could do if it took over the worker.
func confinementProblem(level string) (Problem, bool) {
	p := Problem{Code: string(failure.Unconfined)}
	const landlock, calls = "run on Linux 5.13 or newer with Landlock enabled", "run on Linux on amd64 or arm64, with seccomp enabled"
	switch level {
	case extract.ConfinedFull:
		return p, false
	case extract.ConfinedLandlock:
		p.Message, p.Fix = "the worker cannot use files or the network, but may make any system call", calls
	case extract.ConfinedFiles:
		p.Message, p.Fix = "the worker cannot use files, but can use the network", calls
	case extract.ConfinedCalls:
		p.Message, p.Fix = "the worker cannot use the network, write files or start programs, but a hostile document could read files", landlock
	default:
		p.Message, p.Fix = fmt.Sprintf("the worker is confined by %q only: a hostile document could read files", level), landlock
	}
	return p, true
}

func startProblem(err error) Problem {
	p := Problem{Code: string(failure.WorkerMissing), Message: err.Error(), Fix: "run make build (it needs a C compiler, libtesseract-dev and libleptonica-dev, or Homebrew's tesseract), or set ingestion.worker to the path of vaultflow-worker"}
	if e, ok := errors.AsType[*extract.Error](err); ok {
		p.Code = string(e.Code)
		if e.Code == failure.Unconfined {
			p.Fix = "run on Linux 5.13 or newer with Landlock and seccomp enabled, or set ingestion.require_confinement to false"
		}
	}
	return p
}

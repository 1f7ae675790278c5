package offline

import (
	"regexp/syntax"
	"strings"
)

// shortest returns a short text that a regular expression matches, with more repetitions wherever it has no end.
func shortest(pattern string, more int) (string, bool) {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return "", false
	}
	var out strings.Builder
	ok := write(&out, re.Simplify(), more)
	return out.String(), ok
}

func write(out *strings.Builder, re *syntax.Regexp, more int) bool {
	switch re.Op {
	case syntax.OpNoMatch:
		return false
	case syntax.OpLiteral:
		out.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		out.WriteRune(readable(re.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		out.WriteByte('-')
	case syntax.OpStar, syntax.OpPlus:
		least := 0
		if re.Op == syntax.OpPlus {
			least = 1
		}
		for range least + more {
			if out.Len() > maxWork || !write(out, re.Sub[0], 0) {
				return false
			}
		}
	case syntax.OpQuest:
		return more == 0 || write(out, re.Sub[0], more-1)
	case syntax.OpCapture, syntax.OpAlternate:
		return write(out, re.Sub[0], more)
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if !write(out, sub, more) {
				return false
			}
		}
	}
	return true // the others match an empty text
}

// readable returns the first character of a class that can be seen, or its very first.
func readable(ranges []rune) rune {
	for i := 0; i < len(ranges); i += 2 {
		if ranges[i+1] > ' ' {
			return max(ranges[i], '!')
		}
	}
	return ranges[0]
}

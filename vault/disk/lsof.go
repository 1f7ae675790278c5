package disk

import (
	"fmt"
	"strconv"
	"strings"
)

// lsofWriter names a program that has a file open for writing, by what lsof -F pca prints about that file: a line for each field, which
// begins with the field's letter. It returns "" if there is none but the process itself.
func lsofWriter(printed string, self int) string {
	pid, command := 0, ""
	for line := range strings.Lines(printed) {
		line = strings.TrimRight(line, "\r\n")
		if line == "" {
			continue
		}
		switch value := line[1:]; line[0] {
		case 'p':
			pid, _ = strconv.Atoi(value) // 0 is nobody
			command = ""
		case 'c':
			command = value
		case 'a':
			if (value == "w" || value == "u") && pid != 0 && pid != self {
				return fmt.Sprintf("%s (process %d)", command, pid)
			}
		}
	}
	return ""
}

package disk

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// writersOf opens the file once more and allows others to read it, but not to write it. Windows refuses that as long as somebody has it
// open for writing, on this machine or on another one that shares it.
func writersOf(file *os.File) writers {
	name, err := windows.UTF16PtrFromString(file.Name())
	if err != nil {
		return writers{}
	}
	h, err := windows.CreateFile(name, windows.GENERIC_READ, windows.FILE_SHARE_READ|windows.FILE_SHARE_DELETE, nil,
		windows.OPEN_EXISTING, windows.FILE_ATTRIBUTE_NORMAL, 0)
	switch {
	case errors.Is(err, windows.ERROR_SHARING_VIOLATION):
		return writers{open: true, sure: true}
	case err != nil:
		return writers{}
	}
	return writers{sure: windows.CloseHandle(h) == nil}
}

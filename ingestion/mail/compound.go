package mail

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"unicode/utf16"
)

// Bounds of a compound file.
const (
	maxEntries = 32 << 10
	maxFolders = 2 * (maxInner + 2) // folders in folders: an attachment and the message in it are two
)

// Kinds of entries.
const (
	folderEntry = 1
	streamEntry = 2
)

// compoundFile is a file of folders and streams ([MS-CFB]). Libraries that read it follow its chains and folders wherever they lead; here
// each sector and each entry is visited once, so that no file takes more work than its size.
type compoundFile struct {
	data    []byte
	sector  int // bytes
	next    []uint32
	small   []byte // the stream that holds the streams of less than smallStream bytes
	nextIn  []uint32
	streams map[string]place
	folders map[string][]string // names of the folders in a folder, in order
}

// place is where a stream is.
type place struct {
	first uint32
	size  int64
}

const (
	smallStream = 4096
	smallSector = 64
	entrySize   = 128
)

func openCompound(data []byte) (*compoundFile, error) {
	switch {
	case !bytes.HasPrefix(data, []byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")):
		return nil, errors.New("it is not a message that Outlook saved")
	case len(data) < 512:
		return nil, errors.New("it ends early")
	}
	shift := binary.LittleEndian.Uint16(data[0x1E:])
	if shift != 9 && shift != 12 {
		return nil, errors.New("its header makes no sense")
	}
	c := &compoundFile{data: data, sector: 1 << shift, streams: map[string]place{}, folders: map[string][]string{}}
	for _, n := range c.tables() {
		c.next = append(c.next, numbers(c.at(n))...)
	}
	directory := c.chain(binary.LittleEndian.Uint32(data[0x30:]), maxEntries*entrySize)
	if len(directory) < entrySize {
		return nil, errors.New("it has no directory")
	}
	c.nextIn = numbers(c.chain(binary.LittleEndian.Uint32(data[0x3C:]), int64(len(data))))
	root := directory[:entrySize]
	c.small = c.chain(binary.LittleEndian.Uint32(root[116:]), int64(binary.LittleEndian.Uint32(root[120:])))
	return c, c.list(directory)
}

func numbers(b []byte) []uint32 {
	list := make([]uint32, len(b)/4)
	for i := range list {
		list[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return list
}

// at returns a sector, or nil. The last one may be short.
func (c *compoundFile) at(n uint32) []byte {
	from := (int64(n) + 1) * int64(c.sector)
	if from >= int64(len(c.data)) {
		return nil
	}
	return c.data[from:min(from+int64(c.sector), int64(len(c.data)))]
}

// tables returns the sectors with the table of chains: 109 in the header, and the others in a chain of their own.
func (c *compoundFile) tables() []uint32 {
	list := numbers(c.data[0x4C:512])
	last := c.sector/4 - 1 // of such a sector leads to the next
	for n, left := binary.LittleEndian.Uint32(c.data[0x44:]), len(c.data)/c.sector; left > 0; left-- {
		more := numbers(c.at(n))
		if len(more) <= last {
			break
		}
		list, n = append(list, more[:last]...), more[last]
	}
	seen := map[uint32]bool{}
	return slices.DeleteFunc(list, func(n uint32) bool {
		again := seen[n] || c.at(n) == nil
		seen[n] = true
		return again
	})
}

// chain returns what is in a chain of sectors, up to a size or to where the file ends.
func (c *compoundFile) chain(n uint32, size int64) []byte {
	var out []byte
	for left := len(c.data) / c.sector; left > 0 && int64(n) < int64(len(c.next)) && int64(len(out)) < size; left-- {
		part := c.at(n)
		out = append(out, part...)
		if len(part) < c.sector {
			break
		}
		n = c.next[n]
	}
	return out[:min(int64(len(out)), size)]
}

// read returns what there is of a stream.
func (c *compoundFile) read(p place) []byte {
	if p.size >= smallStream {
		return c.chain(p.first, p.size)
	}
	var out []byte
	for n, left := p.first, len(c.nextIn); left > 0 && int64(n) < int64(len(c.nextIn)) && int64(len(out)) < p.size; left-- {
		from := min(int64(n)*smallSector, int64(len(c.small)))
		part := c.small[from:min(from+smallSector, int64(len(c.small)))]
		out = append(out, part...)
		if len(part) < smallSector {
			break
		}
		n = c.nextIn[n]
	}
	return out[:min(int64(len(out)), p.size)]
}

// list goes through the tree of entries, and takes the first of each name.
func (c *compoundFile) list(directory []byte) error {
	type visit struct {
		entry  uint32
		folder string
		depth  int
	}
	seen := make([]bool, len(directory)/entrySize)
	for todo := []visit{{}}; len(todo) > 0; {
		v := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if int64(v.entry) >= int64(len(seen)) || seen[v.entry] {
			continue
		}
		if v.depth > maxFolders {
			return errors.New("its folders are nested too deep")
		}
		seen[v.entry] = true
		e := directory[v.entry*entrySize:][:entrySize]
		child := visit{binary.LittleEndian.Uint32(e[76:]), v.folder, v.depth}
		if v.entry != 0 {
			child.folder, child.depth = c.take(e, v.folder), v.depth+1
		}
		for _, at := range []int{68, 72} {
			todo = append(todo, visit{binary.LittleEndian.Uint32(e[at:]), v.folder, v.depth})
		}
		if v.entry == 0 || e[66] == folderEntry {
			todo = append(todo, child)
		}
	}
	for _, names := range c.folders {
		slices.Sort(names)
	}
	return nil
}

// take notes a folder or stream, and returns its path.
func (c *compoundFile) take(e []byte, folder string) string {
	units := make([]uint16, 0, 32)
	for i := 0; i < 64 && (e[i] != 0 || e[i+1] != 0); i += 2 {
		units = append(units, binary.LittleEndian.Uint16(e[i:]))
	}
	name := strings.ReplaceAll(string(utf16.Decode(units)), "/", "_")
	path := within(folder, name)
	switch e[66] {
	case folderEntry:
		if _, known := c.folders[path]; !known {
			c.folders[path] = nil
			c.folders[folder] = append(c.folders[folder], name)
		}
	case streamEntry:
		if _, known := c.streams[path]; !known {
			c.streams[path] = place{binary.LittleEndian.Uint32(e[116:]), int64(binary.LittleEndian.Uint32(e[120:]))}
		}
	}
	return path
}

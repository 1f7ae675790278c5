package imaging

import "bytes"

// stripGIF keeps frames, their timing, how often they repeat, and the colour profile (GIF89a; ICC.1 annex B.1). Comments, XMP, texts
// and other extensions go, with what follows the end.
func stripGIF(c *cutter) bool {
	data := c.data
	if len(data) < 13 || !bytes.HasPrefix(data, []byte("GIF87a")) && !bytes.HasPrefix(data, []byte("GIF89a")) {
		return false
	}
	at := 13 + int(colourTable(data[10]))
	if at > len(data) {
		return false
	}
	c.keep(0, at)
	frames, control := 0, 0 // where the control of the next frame begins; 0: there is none
	for at < len(data) {
		switch data[at] {
		case 0x3b:
			c.keep(at, at+1)
			return frames > 0
		case 0x2c:
			if at+10 > len(data) {
				return false
			}
			end, ok := blocksEnd(data, at+10+int(colourTable(data[at+9]))+1)
			if !ok {
				return false
			}
			if control > 0 {
				c.keep(control, control+8)
			}
			c.keep(at, end)
			at, control, frames = end, 0, frames+1
		case 0x21:
			end, ok := blocksEnd(data, at+2)
			if !ok {
				return false
			}
			switch label := data[at+1]; {
			case label == 0xf9 && end == at+8:
				control = at
			case label == 0x01: // a text, to which the control before it belongs
				control = 0
			case label == 0xff && keptApplication(data[at+2:end]):
				c.keep(at, end)
			}
			at = end
		default:
			return false
		}
	}
	return false
}

// keptApplication reports whether viewers need an application extension.
func keptApplication(blocks []byte) bool {
	for _, id := range []string{"NETSCAPE2.0", "ANIMEXTS1.0", "ICCRGBG1012"} {
		if len(blocks) > 12 && blocks[0] == 11 && string(blocks[1:12]) == id {
			return true
		}
	}
	return false
}

// blocksEnd is where data sub-blocks end, behind the empty one.
func blocksEnd(data []byte, at int) (end int, ok bool) {
	for at < len(data) {
		length := int(data[at])
		if at += 1 + length; length == 0 {
			return at, true
		}
	}
	return 0, false
}

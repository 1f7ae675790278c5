package pdftest

import (
	"fmt"
	"strings"
)

// layout is the numbering of a document's objects while it is written.
type layout struct {
	*Builder
	w             *writer
	catalog, tree int
	regular, bold int
	wideFont      int // 0 when no page needs it
	codedFont     int // likewise
	monoFont      int // likewise
	drawnFont     int // likewise
	pages         []int
	fields        []int
}

func (d *layout) putPage(n int, p *page) {
	content := d.w.reserve()
	d.w.putStream(content, "", []byte(p.content))
	resources := fmt.Sprintf("/Font << /F1 %s /F2 %s >>", ref(d.regular), ref(d.bold))
	for i, font := range []int{d.wideFont, d.codedFont, d.monoFont, d.drawnFont} {
		if font > 0 {
			resources = strings.TrimSuffix(resources, ">>") + fmt.Sprintf("/F%d %s >>", i+3, ref(font))
		}
	}
	if p.picture != nil {
		image := d.w.reserve()
		d.w.putStream(image, fmt.Sprintf("/Type /XObject /Subtype /Image /Width %d /Height %d /ColorSpace /DeviceGray "+
			"/BitsPerComponent 8 /Filter /%s", p.picture.width, p.picture.height, p.picture.filter), p.picture.data)
		resources += " /XObject << /Im0 " + ref(image) + " >>"
	}
	annotations := ""
	if len(p.fields)+len(p.annotations)+len(p.links) > 0 {
		from := len(d.fields)
		for i, f := range p.fields {
			d.putField(n, p, i, f)
		}
		all := d.fields[from:len(d.fields):len(d.fields)]
		for _, a := range p.annotations {
			all = append(all, d.putAnnotation(a))
		}
		for _, l := range p.links {
			all = append(all, d.putLink(p, l))
		}
		annotations = fmt.Sprintf(" /Annots [%s]", refs(all))
	}
	d.w.put(n, fmt.Sprintf("<< /Type /Page /Parent %s /MediaBox [0 0 %g %g] /Rotate %d /Resources << %s >> /Contents %s%s >>",
		ref(d.tree), p.width, p.height, p.rotate, resources, ref(content), annotations))
}

func (d *layout) putField(pageNumber int, p *page, at int, f field) {
	n, top := d.w.reserve(), p.height/2-float64(at)*30
	d.fields = append(d.fields, n)
	if f.box {
		d.putBox(n, pageNumber, fmt.Sprintf("[%d %g %d %g]", margin, top-20, margin+20, top), f)
		return
	}
	kind, look := "/FT /Tx", d.w.reserve()
	if len(f.options) > 0 {
		kind = "/FT /Ch /Ff 131072 /Opt [" // a combo box
		for _, option := range f.options {
			kind += d.w.str(n, option) + " "
		}
		kind += "]"
	}
	d.w.putStream(look, fmt.Sprintf("/Type /XObject /Subtype /Form /BBox [0 0 300 20] /Resources << /Font << /F1 %s >> >>", ref(d.regular)),
		[]byte(fmt.Sprintf("/Tx BMC BT /F1 11 Tf 2 6 Td %s Tj ET EMC\n", literal(f.value))))
	d.w.put(n, fmt.Sprintf("<< /Type /Annot /Subtype /Widget %s /T %s /V %s /DA %s /F 4 /P %s /Rect [%d %g %d %g] /AP << /N %s >> >>",
		kind, d.w.str(n, f.name), d.w.str(n, f.value), d.w.str(n, "/F1 11 Tf 0 g"), ref(pageNumber), margin, top-20, margin+300, top, ref(look)))
}

func (d *layout) putForm() string {
	if len(d.fields) == 0 {
		return ""
	}
	n := d.w.reserve()
	d.w.put(n, fmt.Sprintf("<< /Fields [%s] /DR << /Font << /F1 %s >> >> /DA %s >>", refs(d.fields), ref(d.regular), d.w.str(n, "/F1 11 Tf 0 g")))
	return " /AcroForm " + ref(n)
}

func (d *layout) putOutline() string {
	if len(d.outline) == 0 {
		return ""
	}
	root := d.w.reserve()
	var items []int
	for range d.outline {
		items = append(items, d.w.reserve())
	}
	for i, entry := range d.outline {
		links := ""
		if i > 0 {
			links += " /Prev " + ref(items[i-1])
		}
		if i+1 < len(items) {
			links += " /Next " + ref(items[i+1])
		}
		target := "null"
		if entry.page >= 1 && entry.page <= len(d.pages) {
			target = ref(d.pages[entry.page-1])
		}
		d.w.put(items[i], fmt.Sprintf("<< /Title %s /Parent %s /Dest [%s /Fit]%s >>", d.w.str(items[i], entry.title), ref(root), target, links))
	}
	d.w.put(root, fmt.Sprintf("<< /Type /Outlines /Count %d /First %s /Last %s >>", len(items), ref(items[0]), ref(items[len(items)-1])))
	return " /Outlines " + ref(root)
}

// putMore gives what else the catalog says.
func (d *layout) putMore() (entries string) {
	if d.language != "" {
		entries += " /Lang " + d.w.str(d.catalog, d.language)
	}
	if d.labels != "" {
		entries += " /PageLabels " + d.labels
	}
	var named []string
	for _, f := range d.attached {
		at, spec := d.w.reserve(), d.w.reserve()
		d.w.putStream(at, "/Type /EmbeddedFile", f.data)
		d.w.put(spec, fmt.Sprintf("<< /Type /Filespec /F %s /UF %s /EF << /F %s >> >>", d.w.str(spec, f.name), d.w.str(spec, f.name), ref(at)))
		named = append(named, d.w.str(d.catalog, f.name)+" "+ref(spec))
	}
	if named != nil {
		entries += " /Names << /EmbeddedFiles << /Names [" + strings.Join(named, " ") + "] >> >>"
	}
	return entries
}

func ref(n int) string { return fmt.Sprintf("%d 0 R", n) }

func refs(ns []int) string {
	out := make([]string, len(ns))
	for i, n := range ns {
		out[i] = ref(n)
	}
	return strings.Join(out, " ")
}

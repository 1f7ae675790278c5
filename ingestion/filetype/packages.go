package filetype

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// ZippedPackage is the media type of a ZIP that some program reads as one file, when nothing shows which program.
const ZippedPackage = "application/x-zip-package"

// Comic is the media type of a comic: a ZIP of the pictures of its pages.
const Comic = "application/vnd.comicbook+zip"

// packageTypes are media types, by extension, of files that are ZIP archives for programs and not for people: their members mean
// nothing by themselves.
var packageTypes = map[string]string{
	".jar": "application/java-archive", ".war": "application/java-archive", ".ear": "application/java-archive", ".apk": "application/vnd.android.package-archive",
	".aab": "application/vnd.android.package-archive", ".ipa": "application/x-ios-app", ".xpi": "application/x-xpinstall", ".crx": "application/x-chrome-extension",
	".whl": "application/x-wheel+zip", ".nupkg": "application/vnd.nuget.package", ".vsix": "application/vsix", ".appx": "application/appx", ".msix": "application/appx",
	".oxt": "application/vnd.openofficeorg.extension", ".3mf": "model/3mf", ".kmz": "application/vnd.google-earth.kmz", ".sketch": "application/x-sketch",
	".odb": "application/vnd.oasis.opendocument.base", ".idml": "application/vnd.adobe.indesign-idml-package", ".wacz": "application/x-wacz",
	".kra": "application/x-krita", ".ora": "application/x-openraster", ".dwfx": "model/vnd.dwfx+xps", ".thmx": "application/vnd.ms-officetheme", ".xmind": "application/vnd.xmind.workbook",
	".apkg": "application/x-anki", ".colpkg": "application/x-anki", ".goodnotes": "application/x-goodnotes", ".knwf": "application/x-knime", ".knar": "application/x-knime",
	".note": "application/x-notability", ".mmap": "application/vnd.mindjet", ".usdz": "model/3mf", ".xd": "application/x-adobe-xd", ".qgz": "application/x-qgis", ".npz": "application/x-arrays", ".pt": "application/x-arrays", ".pth": "application/x-arrays", ".keras": "application/x-arrays",
	".afdesign": ZippedPackage, ".fcstd": "application/x-extension-fcstd", ".mscz": "application/x-musescore", ".mxl": "application/vnd.recordare.musicxml", ".ggb": "application/vnd.geogebra.file",
	".drawio": ZippedPackage, ".procreate": ZippedPackage, ".fig": "application/x-figma", ".bbmodel": ZippedPackage, ".sb3": "application/x-scratch", ".pbix": ZippedPackage, ".twbx": ZippedPackage,
}

// iworkTypes are the documents of Apple's programs, by extension.
var iworkTypes = map[string]string{
	".pages": "application/vnd.apple.pages", ".numbers": "application/vnd.apple.numbers", ".key": "application/vnd.apple.keynote", ".template": "application/vnd.apple.pages",
}

// iwork is the media type of such a document under another name.
const iwork = "application/vnd.apple.iwork"

// packed recognises what is one document, although it is a ZIP, by the names of its members and by its own.
func packed(names []string, name string) (mediaType, reason string) {
	ext := strings.ToLower(path.Ext(name))
	for _, n := range names {
		switch lower := strings.ToLower(n); {
		case strings.HasSuffix(lower, "index.zip") && isIWorkFolder(lower) || lower == "index/document.iwa" || lower == "index.apxl" || lower == "index.xml" && iworkTypes[ext] != "":
			if m := iworkTypes[ext]; m != "" {
				return m, "a ZIP with " + n
			}
			return iwork, "a ZIP with " + n
		case lower == "visio/document.xml":
			return "application/vnd.ms-visio.drawing", "a ZIP with " + n
		case strings.HasSuffix(lower, ".fdseq"):
			return "application/oxps", "a ZIP with " + n
		}
	}
	if ext == ".cbz" {
		return Comic, "a ZIP of the kind .cbz"
	}
	if m := packageTypes[ext]; m != "" {
		return m, "a ZIP of the kind " + ext
	}
	ofOffice := KindOf(extensions[ext]) == KindOffice
	switch {
	case ofOffice && (slices.Contains(names, "[Content_Types].xml") || slices.Contains(names, "content.xml")):
		return extensions[ext], "a ZIP with parts of an office file, and the extension says of which"
	case slices.Contains(names, "AndroidManifest.xml"):
		return packageTypes[".apk"], "a ZIP with AndroidManifest.xml"
	case slices.Contains(names, "META-INF/MANIFEST.MF"):
		return packageTypes[".jar"], "a ZIP with META-INF/MANIFEST.MF"
	case slices.Contains(names, "[Content_Types].xml"):
		return ZippedPackage, "a ZIP with [Content_Types].xml, in which programs keep the parts of one document"
	case ofProgram(name):
		return ZippedPackage, "a ZIP with the extension " + ext + ", which archives do not have"
	}
	return "", ""
}

// extension is what programs call their files: letters and digits.
var extension = regexp.MustCompile(`^\.[0-9]{0,2}[a-z][a-z0-9_-]{0,12}$`)

// ofProgram reports whether a name ends as those of some program's files do, and not as those of archives, of other files that people
// misname, or of anything at all.
func ofProgram(name string) bool {
	ext := strings.ToLower(path.Ext(name))
	anything := []string{".zip", ".zipx", ".maff", ".bak", ".old", ".orig", ".tmp", ".bin", ".dat", ".data", ".file", ".download", ".backup", ".copy"}
	return extension.MatchString(ext) && extensions[ext] == "" && keptTypes[ext] == "" && !slices.Contains(anything, ext)
}

// isIWorkFolder reports whether a member is the inner archive of an iWork document that was kept as a folder: Index.zip or
// Talk.key/Index.zip.
func isIWorkFolder(member string) bool {
	dir := path.Dir(member)
	return dir == "." || iworkTypes[path.Ext(dir)] != ""
}

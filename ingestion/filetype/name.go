package filetype

import "strings"

// Name returns what a file of a media type is, for people, such as "an AutoCAD drawing", and what to do to have it read. Both are empty
// for a type that is not in the table.
func Name(mediaType string) (what, advice string) {
	what, advice, _ = strings.Cut(formats[mediaType], "; ")
	return what, advice
}

// What to do with a file that is not read.
const (
	asPDF   = "; export it as PDF to have it read"
	asPNG   = "; export it as PNG or JPEG to see it here"
	asCSV   = "; export its tables as CSV to have them read"
	asPages = "; save the pages as HTML or PDF to have them read"
	unpack  = "; unpack it and drop the files"
)

// formats are files that are kept and not read, or of which only the contents are listed.
var formats = map[string]string{
	"application/java-archive": "a Java program or library", "application/vnd.android.package-archive": "an Android app", "application/x-ios-app": "an iOS app",
	"application/x-xpinstall": "a Firefox extension", "application/x-chrome-extension": "a Chrome extension", "application/x-wheel+zip": "a Python package",
	"application/vnd.nuget.package": "a NuGet package", "application/vsix": "a Visual Studio extension", "application/appx": "a Windows app",
	"application/vnd.openofficeorg.extension": "an extension of LibreOffice", "model/3mf": "a 3D model", "application/vnd.google-earth.kmz": "a map for Google Earth",
	"application/x-sketch": "a Sketch drawing" + asPDF, "application/vnd.oasis.opendocument.base": "a LibreOffice database" + asCSV,
	"application/vnd.adobe.indesign-idml-package": "an InDesign document" + asPDF, "application/x-wacz": "an archive of web pages" + asPages,
	"application/x-krita": "a Krita painting" + asPNG, "application/x-openraster": "a layered picture" + asPNG, "model/vnd.dwfx+xps": "an AutoCAD drawing for viewing" + asPDF,
	"application/vnd.ms-officetheme": "a theme of Office", "application/vnd.xmind.workbook": "a mind map" + asPDF, "application/x-figma": "a Figma design" + asPDF,
	"application/x-musescore": "a MuseScore score" + asPDF, "application/vnd.recordare.musicxml": "a score in MusicXML" + asPDF, "application/vnd.geogebra.file": "a GeoGebra drawing" + asPDF,
	"application/x-anki": "a deck of cards of Anki; export its notes as plain text to have them read", "application/x-goodnotes": "a notebook of GoodNotes" + asPDF,
	"application/x-knime": "a KNIME workflow", "application/x-notability": "a notebook of Notability" + asPDF, "application/vnd.mindjet": "a mind map" + asPDF, "application/x-adobe-xd": "an Adobe XD design" + asPDF,
	"application/x-qgis": "a QGIS project", "application/x-arrays": "a file of arrays of numbers",
	"application/x-extension-fcstd": "a FreeCAD model", "application/x-scratch": "a Scratch project", ZippedPackage: "a ZIP that some program reads as one file",

	"image/vnd.dwg": "an AutoCAD drawing" + asPDF, "image/vnd.dxf": "an AutoCAD exchange drawing" + asPDF, "model/vnd.dwf": "an AutoCAD drawing for viewing" + asPDF, "image/vnd.dgn": "a MicroStation drawing" + asPDF,
	"image/jxl": "a JPEG XL picture" + asPNG, "image/jxs": "a JPEG XS picture" + asPNG, "image/bpg": "a BPG picture" + asPNG, "image/x-icns": "a set of icons of macOS" + asPNG, "image/x-icon": "an icon" + asPNG,
	"image/vnd.djvu": "a DjVu document" + asPDF, "image/jpm": "a JPEG 2000 document" + asPDF, "image/emf": "a Windows drawing (EMF)" + asPDF, "image/wmf": "a Windows drawing (WMF)" + asPDF,
	"image/x-xcf": "a GIMP picture" + asPNG, rawPhotograph: "a raw photograph" + asPNG, "image/x-gimp-pat": "a pattern of GIMP", "image/x-gimp-gbr": "a brush of GIMP", "image/vnd.radiance": "a picture with a high dynamic range" + asPNG,
	"image/x-xpixmap": "an X bitmap" + asPNG, "image/x-portable-arbitrarymap": "a PAM picture" + asPNG, "image/x-pcx": "a PCX picture" + asPNG, "image/x-pict": "a QuickDraw picture" + asPNG,

	oleStorage: "a document of a program that is not known here" + asPDF, "application/vnd.visio": "a Visio drawing from before 2013; save it as vsdx or PDF to have it read",
	"application/vnd.ms-publisher": "a Publisher document" + asPDF, "application/vnd.ms-project": "a Project plan" + asPDF, "application/onenote": "a section of OneNote" + asPDF,
	"application/vnd.ms-tnef": "an attachment in Outlook's own form (winmail.dat); save the files in it from Outlook", "application/x-mswrite": "a Write document" + asPDF, "application/x-staroffice": "a StarOffice document; save it with LibreOffice as odt, ods or odp to have it read",
	"application/x-solidworks": "a SolidWorks drawing or model" + asPDF, "application/x-disk-image": "a disk image; open it and drop the files in it", "application/x-sas-data": "a SAS table" + asCSV,
	"application/x-hwp": "a Hangul document" + asPDF, "application/vnd.ms-works": "a Works document" + asPDF, "application/vnd.wordperfect": "a WordPerfect document" + asPDF, "application/vnd.framemaker": "a FrameMaker document" + asPDF,
	"application/x-indesign": "an InDesign document" + asPDF, "application/vnd.lotus-1-2-3": "a Lotus 1-2-3 spreadsheet; save it as xlsx to have it read", "application/x-quattro-pro": "a Quattro Pro spreadsheet; save it as xlsx to have it read",
	"application/x-mobipocket-ebook": "a Kindle book; convert it to EPUB to have it read", "application/x-ms-reader": "an e-book of Microsoft Reader; convert it to EPUB to have it read", "application/vnd.ms-htmlhelp": "a Windows help file" + asPages,
	"application/postscript": "a PostScript document; convert it to PDF to have it read", "application/vnd.ms-outlook-pst": "an Outlook mailbox; export its messages as mbox, msg or eml to have them read",
	"application/x-sqlite3": "an SQLite database" + asCSV, "application/vnd.sqlite3": "an SQLite database" + asCSV, "application/x-msaccess": "an Access database" + asCSV, "application/x-dbf": "a dBASE table" + asCSV,
	"application/vnd.apache.parquet": "a Parquet table" + asCSV, "application/warc": "an archive of web pages" + asPages, "application/x-webarchive": "a page saved by Safari" + asPages,

	"application/pkcs7-signature": "a signature", "application/pkcs7-mime": "a signed or encrypted message; save what is in it from the mail program", "application/dicom": "a medical picture (DICOM)" + asPNG,
	"application/x-executable": "a program", "application/x-elf": "a program", "application/x-mach-binary": "a program", "application/vnd.microsoft.portable-executable": "a Windows program", "application/x-sharedlib": "a library of a program",
	"application/x-object": "an object file of a program", "application/x-coredump": "a memory dump", "application/wasm": "a WebAssembly program", "application/x-java-applet": "a Java class", "application/x-bytecode.python": "compiled Python",
	"application/vnd.debian.binary-package": "a Debian package", "application/x-rpm": "an RPM package", "application/x-ms-installer": "a Windows installer", "application/x-installshield": "a Windows installer",
	"application/x-ms-shortcut": "a shortcut of Windows", "application/vnd.ms-cab-compressed": "a Windows cabinet" + unpack, "application/x-cpio": "a cpio archive" + unpack, "application/x-archive": "an archive of object files",
	"application/x-7z-compressed": "a 7z archive" + unpack, "application/vnd.rar": "a RAR archive" + unpack, "application/x-rar-compressed": "a RAR archive" + unpack,
	"application/x-xz": "a file packed with xz" + unpack, "application/zstd": "a file packed with zstd" + unpack, "application/x-compress": "a file packed with compress" + unpack, "application/x-lz4": "a file packed with lz4" + unpack,
	archivePart:         "a part of an archive; put the parts together with the program that made them, and drop the files that were packed",
	"application/x-xar": "a xar archive" + unpack, "application/lzip": "an archive" + unpack, "application/zlib": "compressed data", "application/x-shockwave-flash": "a Flash film", "application/fits": "astronomical data (FITS)",
	"application/x-hdf5": "scientific data (HDF5)", "application/grib": "weather data (GRIB)", "application/bufr": "weather data (BUFR)", "application/vnd.shp": "map data (Shapefile)", "application/vnd.shx": "an index of map data (Shapefile)",
	"application/vnd.tcpdump.pcap": "recorded network traffic", "application/x-bittorrent": "a torrent", "application/marc": "library records (MARC)", "model/gltf-binary": "a 3D model", "font/ttf": "a font", "font/otf": "a font",
	"font/woff": "a font", "font/woff2": "a font", "font/collection": "a collection of fonts", "application/vnd.ms-fontobject": "a font",
}

const (
	archivePart   = "application/x-archive-part"
	oleStorage    = "application/x-ole-storage" // a compound file of any program
	rawPhotograph = "image/x-raw"
)

// keptTypes are media types by extension of files that are kept, for those whose bytes show less.
var keptTypes = map[string]string{
	".vsd": "application/vnd.visio", ".vst": "application/vnd.visio", ".pub": "application/vnd.ms-publisher", ".mpp": "application/vnd.ms-project", ".one": "application/onenote", ".hwp": "application/x-hwp",
	".wps": "application/vnd.ms-works", ".wpd": "application/vnd.wordperfect", ".indd": "application/x-indesign", ".qpw": "application/x-quattro-pro", ".wb3": "application/x-quattro-pro",
	".pst": "application/vnd.ms-outlook-pst", ".ost": "application/vnd.ms-outlook-pst", ".mdb": "application/x-msaccess", ".accdb": "application/x-msaccess", ".dbf": "application/x-dbf", ".webarchive": "application/x-webarchive",
	".dwg": "image/vnd.dwg", ".dwf": "model/vnd.dwf", ".dgn": "image/vnd.dgn", ".emf": "image/emf", ".wmf": "image/wmf", ".djvu": "image/vnd.djvu", ".jxl": "image/jxl", ".bpg": "image/bpg", ".ico": "image/x-icon", ".icns": "image/x-icns",
	".sdw": "application/x-staroffice", ".sdc": "application/x-staroffice", ".sdd": "application/x-staroffice", ".sda": "application/x-staroffice", ".vor": "application/x-staroffice", ".wri": "application/x-mswrite", ".tnef": "application/vnd.ms-tnef",
	".sldprt": "application/x-solidworks", ".sldasm": "application/x-solidworks", ".slddrw": "application/x-solidworks", ".iso": "application/x-disk-image", ".img": "application/x-disk-image", ".dmg": "application/x-disk-image",
	".sas7bdat": "application/x-sas-data", ".xpt": "application/x-sas-data", ".z": "application/x-compress", ".lz4": "application/x-lz4",
	".psd": "image/vnd.adobe.photoshop", ".jp2": "image/jp2", ".j2k": "image/jp2", ".jpx": "image/jpx", ".jxr": "image/jxr", ".pcx": "image/x-pcx", ".pct": "image/x-pict", ".pict": "image/x-pict", ".eps": "application/postscript", ".ps": "application/postscript",
	".p7m": "application/pkcs7-mime", ".p7s": "application/pkcs7-signature", ".dcm": "application/dicom", ".h5": "application/x-hdf5", ".hdf": "application/x-hdf5",
	".nef": rawPhotograph, ".nrw": rawPhotograph, ".cr2": rawPhotograph, ".cr3": rawPhotograph, ".crw": rawPhotograph, ".dng": rawPhotograph, ".arw": rawPhotograph, ".sr2": rawPhotograph, ".srw": rawPhotograph, ".pef": rawPhotograph,
	".orf": rawPhotograph, ".rw2": rawPhotograph, ".raf": rawPhotograph, ".3fr": rawPhotograph, ".iiq": rawPhotograph, ".rwl": rawPhotograph, ".kdc": rawPhotograph, ".mrw": rawPhotograph, ".x3f": rawPhotograph,
}

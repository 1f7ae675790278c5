package sandbox

import (
	"fmt"
	"net/url"
	"path/filepath"
)

// officeProfile are settings of LibreOffice, in the form of its registrymodifications.xcu: nothing of a document runs, nothing is
// fetched for it, and no link to another file is followed.
const officeProfile = `<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry" xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
<item oor:path="/org.openoffice.Office.Common/Security/Scripting"><prop oor:name="MacroSecurityLevel" oor:op="fuse"><value>3</value></prop></item>
<item oor:path="/org.openoffice.Office.Common/Security/Scripting"><prop oor:name="DisableMacrosExecution" oor:op="fuse"><value>true</value></prop></item>
<item oor:path="/org.openoffice.Office.Common/Security/Scripting"><prop oor:name="BlockUntrustedRefererLinks" oor:op="fuse"><value>true</value></prop></item>
<item oor:path="/org.openoffice.Office.Common/Security/Scripting"><prop oor:name="DisableActiveContent" oor:op="fuse"><value>true</value></prop></item>
<item oor:path="/org.openoffice.Office.Writer/Content/Update"><prop oor:name="Link" oor:op="fuse"><value>0</value></prop></item>
<item oor:path="/org.openoffice.Office.Calc/Content/Update"><prop oor:name="Link" oor:op="fuse"><value>2</value></prop></item>
<item oor:path="/org.openoffice.Office.Common/Misc"><prop oor:name="UseOpenCL" oor:op="fuse"><value>false</value></prop></item>
<item oor:path="/org.openoffice.Office.Java/VirtualMachine"><prop oor:name="Enabled" oor:op="fuse"><value>false</value></prop></item>
<item oor:path="/org.openoffice.Office.Recovery/AutoSave"><prop oor:name="Enabled" oor:op="fuse"><value>false</value></prop></item>
<item oor:path="/org.openoffice.Office.Recovery/RecoveryInfo"><prop oor:name="Enabled" oor:op="fuse"><value>false</value></prop></item>
</oor:items>
`

// quiet are the arguments that let LibreOffice work without a window, an earlier profile or a question. Its socket comes to lie
// in the folder that it is started in: the path of a socket may have 107 bytes only.
func quiet(dir string) []string {
	profile := url.URL{Scheme: "file", Path: filepath.ToSlash(filepath.Join(dir, "profile"))}
	return []string{
		"-env:UserInstallation=" + profile.String(), "-env:OSL_SOCKET_PATH=.", "--headless", "--norestore", "--nologo", "--nodefault", "--nolockcheck", "--nofirststartwizard",
	}
}

// filter names LibreOffice's way of writing a format. Each sheet of a table becomes one page, so that a wide one does not become
// thousands; hidden slides are printed too, so that each slide has its page. Versions before 7.4 know no such options
// and ignore them.
func (o Office) filter(from, to string) string {
	if to != "pdf" {
		return to
	}
	switch family(from) {
	case "calc":
		return `pdf:calc_pdf_Export:{"SinglePageSheets":{"type":"boolean","value":"true"}}`
	case "impress":
		return fmt.Sprintf(`pdf:impress_pdf_Export:{"ExportHiddenSlides":{"type":"boolean","value":"true"},"PageRange":{"type":"string","value":"1-%d"}}`, o.MaxPages+1)
	}
	return fmt.Sprintf(`pdf:writer_pdf_Export:{"PageRange":{"type":"string","value":"1-%d"}}`, o.MaxPages+1)
}

// family is the part of LibreOffice that opens files of an extension.
func family(extension string) string {
	switch extension {
	case "xlsx", "xls", "xlsm", "xlsb", "ods", "fods", "ots", "csv":
		return "calc"
	case "pptx", "ppt", "pptm", "ppsx", "pps", "odp", "fodp", "otp":
		return "impress"
	}
	return "writer"
}

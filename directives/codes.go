package directives

import (
	"slices"

	"github.com/vaultflow/vaultflow/failure/diag"
)

// Codes of diagnostics. They are stable: a code never gets a second meaning, and unused ones remain in the table. Tens group
// them: 100 file and frontmatter, 120 schedule, 130 sections, 140 directive lines, 150 parameters, 160 targets and paths, 175
// patterns, 180 selection, 190 meaning, 240 notes written for AssistantMD, 260 what is allowed and will surprise, 280 parts.
const (
	CodeUnreadable       = "VF101"
	CodeFrontmatterOpen  = "VF102"
	CodeYAML             = "VF103"
	CodeUnquotedSchedule = "VF104"
	CodeKeyType          = "VF105"
	CodeKeyValue         = "VF106"
	CodeKeyMisspelt      = "VF107"
	CodeKeyOld           = "VF108"
	CodeSubKey           = "VF109"
	CodeKeyGlob          = "VF110"
	CodeNotEnabled       = "VF111"
	CodeManyMistakes     = "VF112"

	CodeScheduleForm  = "VF120"
	CodeCron          = "VF121"
	CodeCronNever     = "VF122"
	CodeCronTooOften  = "VF123"
	CodeCronStep      = "VF124"
	CodeCronZone      = "VF125"
	CodeOnce          = "VF126"
	CodeOnceNoSuch    = "VF127"
	CodeOncePast      = "VF128"
	CodeScheduleTwice = "VF129"

	CodeNoStep          = "VF130"
	CodeDuplicateStep   = "VF131"
	CodeUnnamedStep     = "VF132"
	CodeSetextAccident  = "VF133"
	CodeNothingToSend   = "VF134"
	CodeInInstructions  = "VF135"
	CodeOutsideSection  = "VF136"
	CodeSetextSuspected = "VF137"

	CodeUnknownDirective  = "VF140"
	CodeNotAvailable      = "VF141"
	CodeNoValue           = "VF142"
	CodeRepeatedDirective = "VF143"
	CodeMixedBlock        = "VF144"
	CodeFenceOpen         = "VF145"
	CodeNotDirective      = "VF146"
	CodeLateDirective     = "VF147"
	CodeMalformed         = "VF148"
	CodeLineTooLong       = "VF149"

	CodeUnknownParam   = "VF150"
	CodeRepeatedParam  = "VF151"
	CodeParamValue     = "VF152"
	CodeQuoteOpen      = "VF153"
	CodeTrailingText   = "VF154"
	CodeMalformedParam = "VF155"
	CodeTwoBlocks      = "VF156"
	CodeExclusive      = "VF157"
	CodeParamElsewhere = "VF158"
	CodeNeedsParam     = "VF159"

	CodeNoScheme      = "VF160"
	CodeUnknownScheme = "VF161"
	CodeAbsolute      = "VF162"
	CodeParent        = "VF163"
	CodeBadCharacter  = "VF164"
	CodeHidden        = "VF165"
	CodeImportFolder  = "VF166"
	CodeRefusedPlace  = CodeImportFolder // as the import folder: no output may write there
	CodeExtension     = "VF167"
	CodeNotPermitted  = "VF168"
	CodeVariableName  = "VF169"
	CodeQuotedPattern = "VF170"
	CodeGlob          = "VF171"
	CodeOutputGlob    = "VF172"
	CodeNameTooLong   = "VF173"
	CodeEmptyPath     = "VF174"

	CodeUnknownPattern  = "VF175"
	CodeBraceOpen       = "VF176"
	CodePatternFormat   = "VF177"
	CodePatternPlace    = "VF178"
	CodeFormatLetters   = "VF179"
	CodeMissing         = "VF180"
	CodeTooMany         = "VF181"
	CodeAmbiguousLink   = "VF182"
	CodeCannotRead      = "VF183"
	CodeFolder          = "VF184"
	CodeLinkMissing     = "VF185"
	CodeNoCreationTimes = "VF186"
	CodeFragment        = "VF187"
	CodeOutputLeaves    = "VF188"

	CodeDirectiveValue = "VF190"
	CodeUnknownModel   = "VF191"
	CodeWatchLoop      = "VF192"
	CodePlaceUnused    = "VF193"
	CodePlaceTwice     = "VF194"
	CodeHeaderUnused   = "VF195"
	CodeScopeUnused    = "VF196"
	CodeUnknownTool    = "VF197"
	CodeSchema         = "VF198"
	CodeNoEffect       = "VF199"
	CodeOverwrites     = "VF200"
	CodeCapability     = "VF201"
	CodeForeignPlace   = "VF202"
	CodeModelWaits     = "VF203"

	CodeFixedSubject  = "VF260"
	CodeSameName      = "VF261"
	CodeRunsOverwrite = "VF262"
	CodeNothingToAsk  = "VF263"
	CodeAnswerLost    = "VF264"
	CodeTemplateMark  = "VF265"
	CodeForeignFormat = "VF266"
	CodeNearKey       = "VF267"
	CodeHiddenLine    = "VF268"
	CodePictureGlob   = "VF269"
	CodeSeveralFiles  = "VF270"

	CodeOldMeaning = "VF240"
	CodeOldPlace   = "VF241"
	CodeFormerPath = "VF242"

	CodePartWord    = "VF280"
	CodePartBatch   = "VF281"
	CodePartOverlap = "VF282"
	CodePartSource  = "VF283"
	CodePartItem    = "VF284"
	CodePartNoPages = "VF285"
	CodePartOutline = "VF286"
	CodePagesText   = "VF287"
	CodePartPrompt  = "VF310"

	CodeMoveForm    = "VF300"
	CodeAnswerField = "VF301"
	CodeMoveItems   = "VF302"
	CodeNoSchema    = "VF315"
	CodeWatchNone   = "VF316"
	CodeAsksAnew    = "VF320"
)

// Code describes one code: its meaning and how to fix the fault, each in one line.
type Code struct {
	Code     string        `json:"code"`
	Severity diag.Severity `json:"severity"`
	Meaning  string        `json:"meaning"`
	Fix      string        `json:"fix"`
}

// Codes returns a copy of the whole table, in the order of the codes.
func Codes() []Code { return slices.Clone(codes) }

func codeOf(code string) Code {
	i, found := slices.BinarySearchFunc(codes, code, func(c Code, code string) int {
		switch {
		case c.Code < code:
			return -1
		case c.Code > code:
			return 1
		}
		return 0
	})
	if !found {
		panic("directives: no such code: " + code)
	}
	return codes[i]
}

// Package directives implements the small language at the top of a workflow's steps: the lines that start with `@`, the
// patterns in their paths, and the selection of files for an `@input`.
//
// It has three layers. [Cut] and [Parse] turn source lines into [Directive] values with positions. [Interpret] turns these
// into typed values ([Input], [Output], [ForEach], [When], [Schema], …): plain data that survives JSON, because a run pins it
// in its journal. [Input.Resolve] and [Output.Name] apply them to a vault, as an fs.FS, and to a moment in time, as [Facts].
//
// The package reads and never writes. It keeps no state: a [Pending] knows what has been processed, a [vault.Links] where
// a wikilink leads. Every mistake becomes a [Diagnostic] with file, line, column, a stable code
// and, where there is one, a correction. All mistakes of a text are reported in one pass, and none of them is ever
// taken for prompt text or for the name of a file.
package directives

package directives

import "slices"

// row defines one directive for the parser, the messages and the reference. A new directive is a row, its reader and a field
// of [Set].
type row struct {
	name    string
	grammar grammar
	blocks  []string                                        // parameters of the blocks inside the value
	read    func(s *Set, d Directive, index int, r *report) // index counts the directives of this name, from 0
	advice  string                                          // what to write if the value is missing

	value   string // for the reference: what the value may be
	meaning string
	example string // lines of a step, which a test runs
}

// Advice that readers use too.
const (
	adviceWhen   = "write @when exists notes/today"
	adviceBudget = "write @budget (max_images=5)"
)

// rows is the table of the directives.
func rows() []row {
	return []row{
		{
			name: "input",
			grammar: grammar{
				target: true, lists: []string{"pages", "properties", "union"},
				params: []string{
					"required", "refs_only", "head", "tail", "lines", "properties", "pages", "images", "comments", "embeds", "trust", "as",
					"pending", "latest", "limit", "order", "dir", "changes", "output", "write_mode", "heading", "merge", "union", "scope",
				},
			},
			read:   func(s *Set, d Directive, index int, r *report) { s.readInput(d, index, r) },
			advice: "write @input file: notes/today",
			value:  "`file: PATH`, `variable: NAME`, `trigger`", meaning: "a file, a variable, or what started the run, for the prompt; repeatable, in order",
			example: "@input file: Imported/Workbook/Workbook.md (images=auto, as=book)\n" +
				"@input file: Inbox/*.md (pending, limit=5, required)\n" +
				"@input file: Journal (changes)\n" +
				"@output file: Chapters\n" +
				"\n" +
				"List the chapters of {{book}}.",
		},
		{
			name:    "output",
			grammar: grammar{target: true, params: []string{"scope", "format", "untrusted", "omissions"}},
			read:    func(s *Set, d Directive, _ int, r *report) { s.readOutput(d, r) },
			advice:  "write @output file: notes/today",
			value:   "`file: PATH`, `variable: NAME`", meaning: "where the answer goes; repeatable",
			example: "@output file: Plans/{today} plan\n" +
				"@output variable: plan (scope=workflow, format=json)\n" +
				"\n" +
				"Make a plan as JSON.",
		},
		{
			name:    "header",
			grammar: grammar{single: true},
			read:    func(s *Set, d Directive, _ int, r *report) { s.Header, s.HeaderAt = readHeader(d, r) },
			advice:  "write @header {today}",
			value:   "text with patterns", meaning: "heading above the text of file outputs",
			example: "@header Plan of {today:dddd, D MMMM}\n" +
				"@output file: Plans/{today}\n" +
				"\n" +
				"Make a plan.",
		},
		{
			name:    "model",
			grammar: grammar{single: true, params: []string{"thinking", "temperature", "max_output_tokens", "fallback"}},
			read:    func(s *Set, d Directive, _ int, r *report) { s.Model = readModel(d, r) },
			advice:  "write @model ALIAS, or @model none",
			value:   "alias, or `none` for no model call", meaning: "the step's model",
			example: "@model sonnet (thinking=low, temperature=0.2, max_output_tokens=2000, fallback=local)\n" +
				"@output file: Plans/{today}\n" +
				"\n" +
				"Make a plan.",
		},
		{
			name:    "write_mode",
			grammar: grammar{single: true, lists: []string{"union"}, params: []string{"heading", "merge", "union"}},
			read:    func(s *Set, d Directive, _ int, r *report) { s.WriteMode = readWriteMode(d, r) },
			advice:  "write @write_mode append",
			value:   "`append` (default), `replace`, `new`, `frontmatter`, `section`", meaning: "how outputs are written to their files",
			example: "@output file: Log\n" +
				"@write_mode section (heading=To do, merge=tasks)\n" +
				"\n" +
				"Which tasks are there, and which are done?",
		},
		{
			name:    "run_on",
			grammar: grammar{single: true},
			read:    func(s *Set, d Directive, _ int, r *report) { s.RunOn = readRunOn(d, r) },
			advice:  "write @run_on monday, friday",
			value:   "day names, `daily`, `never`", meaning: "days of scheduled and watched runs",
			example: "@run_on monday, thu\n" +
				"@output file: Reviews/{today}\n" +
				"\n" +
				"Look back at the week.",
		},
		{
			name:   "tools",
			blocks: toolParams, // each tool has its own block
			read:   func(s *Set, d Directive, _ int, r *report) { s.Tools = readTools(d, s.Tools, r) },
			advice: "write @tools read_chunks, or @tools none",
			value:  "names of tools, each with its parameters; `all`, `none`", meaning: "what the model may use",
			example: "@tools read_chunks\n" +
				"@input file: Imported/Workbook/Workbook.md\n" +
				"@output file: Chapters\n" +
				"\n" +
				"Read all of it and list its chapters.",
		},
		{
			name: "for_each",
			grammar: grammar{
				single: true, target: true, parts: true,
				params: []string{"pending", "latest", "limit", "order", "dir", "batch", "window", "overlap", "level", "as", "parallel", "on_error"},
			},
			read:   func(s *Set, d Directive, _ int, r *report) { s.ForEach = readForEach(d, r) },
			advice: "write @for_each file: Inbox/*",
			value:  "`file: PATH`, `trigger`, `variable: NAME` (a JSON list); `pages of`, `chapters of` or `sections of` a `[[document]]`, `file: PATH` or `trigger`", meaning: "runs the step for each item, or for each batch of items",
			example: "@for_each file: Photos/*.jpg (pending, batch=5, on_error=skip)\n" +
				"@input file: {item}\n" +
				"@output file: Tags/batch {batch}\n" +
				"\n" +
				"Assign three tags to each picture.",
		},
		{
			name:    "when",
			grammar: grammar{params: []string{}},
			read:    func(s *Set, d Directive, index int, r *report) { s.readWhen(d, index, r) },
			advice:  adviceWhen,
			value:   "`[not] exists`, `missing`, `changed PATH`; `[not] empty`, `nonempty variable: NAME`", meaning: "skips the step unless it is true; repeatable, all must be true",
			example: "@when exists Inbox/*.md\n" +
				"@when not empty variable: plan\n" +
				"@output file: Inbox plan\n" +
				"\n" +
				"Sort the inbox.",
		},
		{
			name:    "schema",
			grammar: grammar{single: true, target: true, bare: true, body: true, params: []string{"retries"}},
			read:    func(s *Set, d Directive, _ int, r *report) { s.Schema = readSchema(d, r) },
			advice:  "write @schema file: PATH, or a fenced block with the schema right below it",
			value:   "`file: PATH`, or a fenced block right below", meaning: "the answer is JSON that matches a JSON Schema",
			example: "@schema (retries=1)\n" +
				"```yaml\n" +
				"type: object\n" +
				"required: [chapters]\n" +
				"properties:\n" +
				"  chapters: {type: array, items: {type: string}}\n" +
				"```\n" +
				"@output file: chapters.json (format=json)\n" +
				"\n" +
				"List the chapters.",
		},
		{
			name:    "cache",
			grammar: grammar{single: true, params: []string{}},
			read:    func(s *Set, d Directive, _ int, r *report) { s.Cache = readCache(d, r) },
			advice:  "write @cache 7d",
			value:   "duration, `daily`, `weekly`, `forever`", meaning: "reuses an answer while prompt, model and settings are the same",
			example: "@cache 7d\n" +
				"@output file: Words\n" +
				"\n" +
				"Explain the word of the day.",
		},
		{
			name:    "retry",
			grammar: grammar{single: true, params: []string{"backoff"}},
			read:    func(s *Set, d Directive, _ int, r *report) { s.Retry = readRetry(d, r) },
			advice:  "write @retry 3",
			value:   "count", meaning: "how often a failed call to the provider is repeated",
			example: "@retry 5 (backoff=10s)\n" +
				"@output file: Plans/{today}\n" +
				"\n" +
				"Make a plan.",
		},
		{
			name:    "timeout",
			grammar: grammar{single: true, params: []string{}},
			read:    func(s *Set, d Directive, _ int, r *report) { s.Timeout = readTimeout(d, r) },
			advice:  "write @timeout 10m",
			value:   "duration", meaning: "how long the step may take",
			example: "@timeout 10m\n" +
				"@output file: Plans/{today}\n" +
				"\n" +
				"Make a plan.",
		},
		{
			name:    "budget",
			grammar: grammar{single: true, bare: true, params: BudgetKeys()},
			read:    func(s *Set, d Directive, _ int, r *report) { s.Budget = readBudget(d, r) },
			advice:  adviceBudget,
			value:   "", meaning: "limits of the step, in addition to the workflow's",
			example: "@budget (max_images=5, max_cost_usd=0.10, when_exceeded=fail)\n" +
				"@input file: Imported/Workbook/Workbook.md\n" +
				"@output file: Chapters\n" +
				"\n" +
				"List the chapters.",
		},
		{
			name:    "approve",
			grammar: grammar{single: true, params: []string{"timeout", "retries"}},
			read:    func(s *Set, d Directive, _ int, r *report) { s.Approve = readApprove(d, r) },
			advice:  "write @approve outputs",
			value:   "`outputs`, `tools`, `prompt`", meaning: "pauses the run until you approve the step's files, its calls of tools that change something, or a prompt that differs from the last approved one",
			example: "@approve outputs (timeout=2d, retries=1)\n" +
				"@output file: Letters/{today}\n" +
				"\n" +
				"Write the letter.",
		},
		{
			name:    "move",
			grammar: grammar{single: true, to: true, params: []string{"untrusted"}},
			read:    func(s *Set, d Directive, _ int, r *report) { s.Move = readMove(d, r) },
			advice:  adviceMove,
			value:   "`trigger`, `{item}`, `[[note]]` or `file: PATH`, then `to: NAME` or `to: FOLDER/`", meaning: "moves a file, or an imported document as one, once the answer is accepted; links to it follow",
			example: "@input trigger\n" +
				"@schema\n" +
				"```yaml\n" +
				"type: object\n" +
				"required: [year, title]\n" +
				"properties:\n" +
				"  year: {type: integer}\n" +
				"  title: {type: string, minLength: 1}\n" +
				"```\n" +
				"@move trigger to: Receipts/{answer-year}/{answer-title}\n" +
				"\n" +
				"When was this, and what is it?",
		},
		{
			name:    "cite",
			grammar: grammar{single: true, params: []string{}},
			read:    func(s *Set, d Directive, _ int, r *report) { s.Cite = readCite(d, r) },
			advice:  "write @cite pages",
			value:   "`pages`, `quotes`", meaning: "the answer names the pages that it rests on; they become links, and are checked; `quotes` also looks up each quotation on its page",
			example: "@cite quotes\n" +
				"@input file: Imported/Workbook/Workbook.md\n" +
				"@output file: Chapters\n" +
				"\n" +
				"List the chapters, with their first sentences.",
		},
	}
}

// byName holds the rows.
var byName = func() map[string]*row {
	all := map[string]*row{}
	for _, r := range rows() {
		all[r.name] = &r
	}
	return all
}()

// Form describes one directive in the reference.
type Form struct {
	Name    string
	Single  bool     // may be given once in a step
	Target  bool     // the value is `file: …` or `variable: …`
	Params  []string // allowed parameters, in the order of messages
	Value   string   // what the value may be
	Meaning string
	Example string // lines of a step
}

// Forms lists every directive, by name.
func Forms() []Form {
	var forms []Form
	for _, name := range Names() {
		r := byName[name]
		forms = append(forms, Form{
			Name: name, Single: r.grammar.single, Target: r.grammar.target, Params: slices.Concat(r.grammar.params, r.blocks),
			Value: r.value, Meaning: r.meaning, Example: r.example,
		})
	}
	return forms
}

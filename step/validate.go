package step

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/content/conform"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/note"
)

// Validator checks answers against the demands of their steps.
type Validator struct {
	plans   *Plans
	stored  Stored
	demands Demands
}

// Validate checks whether an answer is the JSON that the step wants, by the schema that the prompt was built with.
func (v *Validator) Validate(ctx context.Context, in engine.ValidateIn) (engine.ValidateOut, error) {
	wanted, err := v.wanted(ctx, in)
	if err != nil {
		return engine.ValidateOut{}, err
	}
	answer, err := v.stored.Blobs.Get(ctx, in.Answer)
	if err != nil {
		return engine.ValidateOut{}, failure.New(failure.State, "", "read the answer: %v", err)
	}
	text := note.Unfenced(string(answer))
	problems, err := wanted.problems(ctx, text)
	if err != nil {
		return engine.ValidateOut{}, err
	}
	out := engine.ValidateOut{Problems: problems}
	switch {
	case len(problems) == 0:
		out.Answer, err = v.stored.Blobs.Put(ctx, []byte(text))
	case !in.Last:
		out.Reply, err = v.stored.PutBlocks(ctx, []content.Block{content.Text{Value: wanted.repair(problems)}})
	}
	return out, err
}

// wanted returns the demand in the prompt.
func (v *Validator) wanted(ctx context.Context, in engine.ValidateIn) (demand, error) {
	if in.Prompt != "" {
		stored, err := v.stored.Prompt(ctx, in.Prompt)
		return stored.Demand, err
	}
	s, err := v.plans.Context(ctx, in.StepRef)
	if err != nil {
		return demand{}, err
	}
	return v.demands.of(ctx, s)
}

// problems lists what is wrong with an answer.
func (d demand) problems(ctx context.Context, text string) ([]string, error) {
	value, err := note.ReadJSON(text)
	if err != nil {
		return []string{"the answer is not JSON: " + jsonFault(text, err)}, nil
	}
	if _, isObject := value.(note.Object); d.Object && !isObject {
		return []string{"at the top: want a JSON object with the names of properties as keys"}, nil
	}
	if len(d.Schema) == 0 {
		return nil, nil
	}
	compiled, err := compileSchema(d.Schema)
	if err != nil {
		return nil, failure.New(failure.State, "start the workflow again", "read the pinned schema: %v", err)
	}
	instance, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return []string{"the answer is not JSON: " + jsonFault(text, err)}, nil
	}
	switch err := compiled.Validate(ctx, instance, len(text)); {
	case err == nil:
		return nil, nil
	case errors.Is(err, conform.ErrTooMuch):
		return nil, failure.New(failure.InvalidWorkflow, "simplify the schema: avoid parts that refer to each other several times at each level", "the answer cannot be checked: %v", err)
	case ctx.Err() != nil:
		return nil, err
	default:
		return problemsOf(err), nil
	}
}

// jsonFault describes an error in JSON, with line and column if known.
func jsonFault(text string, err error) string {
	var any json.RawMessage
	fault, ok := errors.AsType[*json.SyntaxError](json.Unmarshal([]byte(text), &any))
	if !ok || fault.Offset > int64(len(text)) {
		return err.Error()
	}
	before := text[:max(fault.Offset-1, 0)]
	line := 1 + strings.Count(before, "\n")
	return fmt.Sprintf("line %d, column %d: %v", line, len([]rune(before[strings.LastIndexByte(before, '\n')+1:]))+1, fault)
}

// instruction returns the prompt's words about the form of the answer. native: the provider enforces the schema.
func (d demand) instruction(native bool) string {
	const alone = "no words around it, no code fence"
	switch {
	case len(d.Schema) > 0 && native:
		return "Answer with JSON that fits the schema, and nothing else."
	case len(d.Schema) > 0:
		return "Answer with JSON only (" + alone + "). It must fit this JSON Schema:\n" + string(d.Schema)
	case d.Object:
		return "Answer with one JSON object only (" + alone + "): the properties to set in the note's frontmatter, by name; null removes one."
	case d.JSON:
		return "Answer with JSON only (" + alone + ")."
	}
	return ""
}

// repair returns the request to mend an answer.
func (d demand) repair(problems []string) string {
	what := "is not what the task asks for"
	if len(d.Schema) > 0 {
		what = "does not fit the schema"
	}
	return "The answer " + what + ":\n- " + strings.Join(problems, "\n- ") +
		"\n\nFix these problems and send the whole answer again: JSON only, no words around it, no code fence."
}

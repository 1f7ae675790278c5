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

// Validator checks answers against what their step wants.
type Validator struct {
	plans   *Plans
	stored  Stored
	demands Demands
}

// Validate asks whether an answer is the JSON that the step wants. The schema is the one that the prompt was built with,
// whatever has become of its file since.
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

// wanted is what the prompt asked of the answer.
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

// problems says what is wrong with an answer; none when it is what was wanted.
func (d demand) problems(ctx context.Context, text string) ([]string, error) {
	value, err := note.ReadJSON(text)
	if err != nil {
		return []string{"the answer is not JSON: " + jsonFault(text, err)}, nil
	}
	if _, isObject := value.(note.Object); d.Object && !isObject {
		return []string{"at the top: a JSON object is wanted, with the names of properties as keys"}, nil
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
		return nil, failure.New(failure.InvalidWorkflow, "write the schema without parts that refer to each other several times at each level", "the answer cannot be checked: %v", err)
	case ctx.Err() != nil:
		return nil, err
	default:
		return problemsOf(err), nil
	}
}

// jsonFault is an error of reading JSON, with line and column where they are known.
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

// instruction tells the model what form its answer must have. native: the provider holds it to the schema.
func (d demand) instruction(native bool) string {
	const alone = "no words around it, no code fence"
	switch {
	case len(d.Schema) > 0 && native:
		return "Answer with JSON that fits the given schema, and nothing else."
	case len(d.Schema) > 0:
		return "Answer with JSON only (" + alone + "). It must fit this JSON Schema:\n" + string(d.Schema)
	case d.Object:
		return "Answer with one JSON object only (" + alone + "): the properties to set in the note's frontmatter, by name; null removes one."
	case d.JSON:
		return "Answer with JSON only (" + alone + ")."
	}
	return ""
}

// repair is what the model is told when its answer will not do.
func (d demand) repair(problems []string) string {
	what := "is not what was asked for"
	if len(d.Schema) > 0 {
		what = "does not fit the schema"
	}
	return "The answer " + what + ":\n- " + strings.Join(problems, "\n- ") +
		"\n\nGive the whole answer again with these mended: JSON only, no words around it, no code fence."
}

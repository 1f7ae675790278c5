package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/failure"
)

// maxToolRounds is how often a model may call tools before it must answer.
const maxToolRounds = 20

// converse asks the model until its answer may be written. In between it sends the results of tool calls, and what is wrong
// with an answer that does not fit the step's schema.
func (w *work) converse(prompt AssembleOut) error {
	in := GenerateIn{StepRef: w.ref, Prompt: prompt.Prompt, Model: prompt.Model, SpentUSD: w.spent, RunUSD: w.runUSD}
	if w.step.Cache {
		in.Key = prompt.Key
	}
	w.talk = &conversation{work: w, key: in.Key, in: in}
	return w.talk.listen()
}

// tell continues the conversation after a valid answer that somebody rejected.
func (c *conversation) tell(reply string) error {
	c.key, c.cache = "", nil
	c.turn(reply)
	return c.listen()
}

func (c *conversation) listen() error {
	for {
		var got GenerateOut
		if err := c.flow.Do(ActivityGenerate, c.in, &got); err != nil {
			return err
		}
		c.place(got.Lost)
		c.heard(got)
		c.raw = got.Raw
		if got.Alias != "" {
			c.in.Model = got.Alias
		}
		reply, err := c.reply(c.in, got)
		if err != nil || reply == "" {
			return err
		}
		c.turn(reply)
	}
}

// place adds to omissions where pictures in the results of tools are embedded.
func (c *conversation) place(lost []Omission) {
	for i := range lost {
		for _, p := range c.pictures {
			if lost[i].Note == "" && lost[i].File == p.Name {
				lost[i].Note, lost[i].Line = p.Note, p.Line
			}
		}
	}
}

// turn answers the model's last turn.
func (c *conversation) turn(reply string) {
	c.rec.Turns = append(c.rec.Turns, Turn{c.raw, reply})
	c.in.Turns, c.in.Key, c.in.SpentUSD = slices.Clone(c.rec.Turns), "", c.spent+c.rec.Usage.CostUSD+c.rec.NestedUSD
}

// heard puts an answer into the record, whatever it is: it was paid for.
func (w *work) heard(got GenerateOut) {
	r := &w.rec
	r.Answer, r.Raw, r.Answered, r.Cached = got.Answer, got.Raw, got.Model, got.Cached
	r.Usage, r.Calls = r.Usage.Add(got.Usage), r.Calls+1
	for _, warning := range got.Warnings {
		if !slices.Contains(r.Warnings, warning) { // a conversation meets the same limit with each call
			r.Warnings = append(r.Warnings, warning)
		}
	}
	if got.Alias != "" {
		r.Sent.differs("model changed: the fallback " + got.Alias + " was asked")
	}
	for _, how := range got.Differs {
		r.Sent.differs(how)
	}
	for _, how := range got.Rewritten {
		r.Sent.differs("request changed: " + how)
	}
	for _, lost := range got.Lost {
		r.Sent.differs("left out while sending: " + lost.File)
	}
	w.left = append(w.left, got.Omitted...)
	if got.Omissions != nil {
		w.omissions = got.Omissions
	}
	if got.Receipt != "" {
		r.Receipt = got.Receipt
	}
	w.lose(got.Lost)
	w.omit()
	w.pages = addPages(w.pages, got.Pages)
	if got.Count != (TokenCount{}) {
		r.Counts = append(r.Counts, got.Count)
	}
}

// conversation is what one work and its model have said so far.
type conversation struct {
	*work
	key    string     // of the cache
	in     GenerateIn // what is asked next
	raw    string     // the model's last turn
	rounds int        // of tools
	media  int        // pictures in the results of tools

	pictures []GivenPicture // they are these
	repairs  int
	lossy    bool // something was left out while sending
}

// reply returns the blob of the next message to the model, or "" if the answer is accepted.
func (c *conversation) reply(in GenerateIn, got GenerateOut) (string, error) {
	c.lossy = c.lossy || len(got.Omitted)+len(got.Lost) > 0
	if err := honest(got); err != nil {
		return "", err
	}
	if got.Stop == StopToolUse {
		return c.useTools(in, got)
	}
	c.text = got.Answer
	if c.step.JSON {
		if reply, err := c.validate(in, got); err != nil || reply != "" {
			return reply, err
		}
	}
	if c.key != "" && c.rounds == 0 && !c.lossy && !got.Cached && got.Alias == "" {
		c.cache = &CacheEntry{Key: c.key, Answer: got.Answer, Raw: got.Raw, Model: got.Model, Provider: got.Provider}
	}
	return "", nil
}

func (c *conversation) useTools(in GenerateIn, got GenerateOut) (string, error) {
	if c.rounds == maxToolRounds {
		return "", failure.New(failure.ToolRounds, "ask for less in one step, or choose another model",
			"the model called tools %d times and asked for more", maxToolRounds)
	}
	c.rounds++
	var out UseToolsOut
	use := UseToolsIn{StepRef: c.ref, Prompt: in.Prompt, Raw: got.Raw, Model: in.Model, Media: c.media, Vars: c.vars, Origins: c.rec.Origins}
	use.Pictures, use.Evicted = slices.Clone(c.pictures), got.Evicted
	if c.countsRounds {
		use.Round = c.rounds
	}
	if c.tellsShown && len(use.Origins) > 0 {
		use.Turns = slices.Clone(c.rec.Turns)
	}
	var err error
	if use.Verdicts, err = c.permitted(use); err != nil {
		return "", err
	}
	if err := c.flow.Do(ActivityUseTools, use, &out); err != nil {
		return "", err
	}
	if out.Reply == "" {
		return "", failure.New(failure.Incomplete, "read the answer in the run's record", "the answer stopped for a tool, but calls none")
	}
	c.media += out.Media
	c.pictures = append(c.pictures, out.Pictures...)
	c.taint(out.Origins)
	c.pages = addPages(c.pages, out.Pages)
	c.heardTools(out)
	c.rec.Warnings = append(c.rec.Warnings, out.Warnings...)
	for _, call := range out.Undone {
		c.undone = append(c.undone, call)
		c.rec.Warnings = append(c.rec.Warnings, "approved, but nothing was done: "+call)
	}
	c.omissions = slices.DeleteFunc(slices.Clone(c.omissions), func(o Omission) bool { return o.delivered(out.Shown) })
	c.left = slices.DeleteFunc(slices.Clone(c.left), func(line string) bool {
		id, _, _ := strings.Cut(line, " ")
		return slices.Contains(out.Shown, strings.TrimSuffix(id, ":"))
	})
	c.omit()
	return out.Reply, nil
}

// validate extracts the JSON of an answer, or returns a message that asks the model to correct it.
func (c *conversation) validate(in GenerateIn, got GenerateOut) (string, error) {
	last := c.repairs >= c.step.Repairs
	var verdict ValidateOut
	if err := c.flow.Do(ActivityValidate, ValidateIn{StepRef: c.ref, Answer: got.Answer, Prompt: in.Prompt, Last: last}, &verdict); err != nil {
		return "", err
	}
	if len(verdict.Problems) == 0 {
		if verdict.Answer != "" {
			c.text = verdict.Answer
		}
		return "", nil
	}
	if last || verdict.Reply == "" {
		return "", invalid(verdict.Problems, c.repairs)
	}
	c.repairs++
	return verdict.Reply, nil
}

// invalid is the failure of an answer that does not fit. It names the first problems only.
func invalid(problems []string, repairs int) error {
	const most = 3
	said := strings.Join(problems[:min(most, len(problems))], "; ")
	if n := len(problems) - most; n > 0 {
		said += fmt.Sprintf("; and %d more", n)
	}
	after := ""
	switch repairs {
	case 0:
	case 1:
		after = " after 1 repair"
	default:
		after = fmt.Sprintf(" after %d repairs", repairs)
	}
	return failure.New(failure.InvalidAnswer, "read the answer in the run's record; choose another model, or raise retries= of @schema",
		"the answer is not valid%s: %s", after, said)
}

// honest returns an error if an answer must not be written and its tools not called.
func honest(got GenerateOut) error {
	switch {
	case got.Stop == StopRefusal:
		return failure.New(failure.Refusal, "read the answer in the run's record; change the prompt or choose another model", "the model refused to answer")
	case len(got.Unseen) > 0:
		return failure.New(failure.Unseen, "choose a model and a provider that take them, or @input … (images=ignore) when the text is enough",
			"the model answered without having seen %s, by the tokens that its service counted", strings.Join(got.Unseen, ", "))
	case got.Stop == StopToolUse:
	case got.Stop == StopLength:
		return failure.New(failure.CutOff, "raise max_output_tokens, or ask for less in one step", "the answer was cut off at its length limit")
	case got.Stop != StopEnd:
		return failure.New(failure.Incomplete, "read the answer in the run's record", "the answer stopped before its end (%s)", got.Stop)
	case got.Empty || got.Answer == "":
		return failure.New(failure.EmptyAnswer, "run the step again, or choose another model", "the model answered nothing")
	}
	return nil
}

package steptest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
)

// Memory is a step.Memory and a step.Cache without a disk. One goroutine uses it at a time.
type Memory struct {
	*Journal
	Shared map[string]string // digests of variables with scope=workflow, by name
	Clock  time.Time         // when answers are kept

	marks  map[string]bool   // by key, name and digest
	last   map[string]string // digests by key and name
	parts  []donePart
	kept   map[string]engine.CacheEntry
	keptAt map[string]time.Time
}

// donePart is a part of a document that a step has done.
type donePart struct {
	engine.PartState
	of string
}

// NewMemory returns an empty memory whose clock is at noon.
func NewMemory(fuse *Fuse) *Memory {
	return &Memory{
		Journal: NewJournal(fuse), Shared: map[string]string{}, Clock: Noon,
		marks: map[string]bool{}, last: map[string]string{}, kept: map[string]engine.CacheEntry{}, keptAt: map[string]time.Time{},
	}
}

// Done implements directives.Pending.
func (m *Memory) Done(_ context.Context, key directives.PendingKey, name, sha256 string) (bool, error) {
	return m.marks[fmt.Sprint(key, name, sha256)], nil
}

// LastSeen implements step.Memory.
func (m *Memory) LastSeen(_ context.Context, key directives.PendingKey, name string) (string, error) {
	return m.last[fmt.Sprint(key, name)], nil
}

// Committed implements step.Memory.
func (m *Memory) Committed(_ context.Context, ref engine.StepRef, marks []engine.Mark, shared []engine.Var) error {
	for _, one := range marks {
		key := directives.PendingKey{Workflow: ref.Workflow, Step: ref.Step, Directive: one.Directive}
		m.marks[fmt.Sprint(key, one.Name, one.SHA256)] = true
		m.last[fmt.Sprint(key, one.Name)] = one.SHA256
		if one.Part != nil {
			m.parts = append(slices.DeleteFunc(m.parts, func(p donePart) bool { return p.of == ref.Step && p.Key() == one.Name }), donePart{*one.Part, ref.Step})
		}
	}
	for _, v := range shared {
		m.Shared[v.Name] = v.Digest
	}
	return nil
}

// Written implements step.Memory. Nothing is undone.
func (m *Memory) Written(_ context.Context, _, name string) ([]engine.Change, error) {
	return m.written[name], nil
}

// Parts implements step.Memory.
func (m *Memory) Parts(_ context.Context, _, step, document string) ([]engine.PartState, error) {
	var list []engine.PartState
	for _, p := range m.parts {
		if p.Document == document && p.of == step {
			list = append(list, p.PartState)
		}
	}
	return list, nil
}

// ForgetPart implements step.Memory.
func (m *Memory) ForgetPart(_ context.Context, ref engine.StepRef, part engine.PartState) error {
	m.parts = slices.DeleteFunc(m.parts, func(p donePart) bool { return p.of == ref.Step && p.Key() == part.Key() })
	return nil
}

// Variable implements step.Memory.
func (m *Memory) Variable(_ context.Context, _, name string) (engine.Var, bool, error) {
	digest, set := m.Shared[name]
	return engine.Var{Name: name, Digest: digest}, set, nil
}

// Cached implements step.Cache.
func (m *Memory) Cached(_ context.Context, key string, since time.Time) (engine.CacheEntry, bool, error) {
	entry, found := m.kept[key]
	return entry, found && !m.keptAt[key].Before(since), nil
}

// Keep implements step.Cache.
func (m *Memory) Keep(_ context.Context, _ engine.StepRef, entry engine.CacheEntry) error {
	m.kept[entry.Key], m.keptAt[entry.Key] = entry, m.Clock
	return nil
}

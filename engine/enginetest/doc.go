// Package enginetest is the contract that every executor passes: [Exercise]. It brings a world of its own, in which
// activities are counted and can be made to fail, hang, panic and die, and a journal that dies after a chosen append.
package enginetest

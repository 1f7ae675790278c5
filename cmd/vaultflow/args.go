package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// listedBy names the commands that list what an argument can be, by its placeholder in a usage line.
var listedBy = map[string]string{"RUN": "runs", "RUN|FILE": "runs", "WORKFLOW": "list", "WORKFLOW [FILE...]": "list"}

// args wraps a check of cobra: its error gets the usage exit code and names the arguments of the command.
func args(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, a []string) error {
		if check(cmd, a) == nil {
			return nil
		}
		return usagef("%s; see `%s --help`", argumentFault(cmd, a), cmd.CommandPath())
	}
}

// argumentFault explains a wrong number of arguments.
func argumentFault(cmd *cobra.Command, a []string) string {
	name := strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
	takes := strings.TrimSpace(strings.TrimPrefix(cmd.Use, cmd.Name()))
	switch {
	case cmd.HasSubCommands():
		return fmt.Sprintf("%s has no command %q", name, a[0])
	case takes == "":
		return fmt.Sprintf("%s takes no arguments, not %q", name, a)
	case len(a) > 0:
		return fmt.Sprintf("%s takes %s, not %q; put quotes around a name with blanks", name, takes, a)
	}
	text := fmt.Sprintf("%s needs %s", name, takes)
	if lister := listedBy[takes]; lister != "" {
		text += fmt.Sprintf("; `vaultflow %s` lists them", lister)
	}
	return text
}

// count is a flag's number from 1.
type count int

var _ pflag.Value = (*count)(nil)

// String implements pflag.Value.
func (c *count) String() string { return strconv.Itoa(int(*c)) }

// Type implements pflag.Value.
func (*count) Type() string { return "count" }

// Set implements pflag.Value.
func (c *count) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err == nil && n < 1 {
		err = strconv.ErrRange
	}
	*c = count(n)
	return err
}

// counted adds a flag with a number from 1. Its value is the default.
func counted(flags *pflag.FlagSet, n *int, name, short, usage string) {
	flags.VarP((*count)(n), name, short, usage)
}

// flagKinds are the kinds of values of flags in words.
var flagKinds = map[string]string{"int": "a whole number", "count": "a whole number from 1", "int64": "a whole number", "duration": "a time such as 90s, 10m or 2h", "bool": "true or false"}

// flagError explains what a flag accepts, instead of the parser's message.
func flagError(err error) error {
	var bad *pflag.InvalidValueError
	if !errors.As(err, &bad) {
		return err
	}
	if kind := flagKinds[bad.GetFlag().Value.Type()]; kind != "" {
		return fmt.Errorf("--%s takes %s, not %q", bad.GetFlag().Name, kind, bad.GetValue())
	}
	return err
}

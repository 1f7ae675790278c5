// Package settings reads what a person decided: one tree of settings from defaults, the user's own file, the vault's
// settings.yaml, the environment and flags, in this order, each going before the one in front of it.
//
// Files of the vault are written by sync and other people too. What they may set without a question is what cannot start,
// connect, listen, or name a key, a program or a place outside; the rest waits (see [Waiting]). They never loosen a cap, a
// deny list or another bound of the user's own file. What holds for each key stands in one table, reaches.
//
// It is strict: an unknown key, a value out of range and a duration without a unit are errors with file, line, column and the nearest
// known name, and all faults are reported in one pass. The struct tags are the one source of names, ranges and descriptions;
// settings.example.yaml is generated from them.
//
// Keys of model providers are found here and held as [Secret], which never prints. The package reads the settings file and
// .env files and writes nothing. It keeps no state and is safe for concurrent use.
package settings

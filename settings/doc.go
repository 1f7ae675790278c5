// Package settings loads the configuration: one tree of settings from defaults, the user's own file, the vault's
// settings.yaml, the environment and flags. Each overrides the ones before it.
//
// Sync and other people can write the vault's files too. Without asking, those may set only what cannot start a program,
// connect, listen, or name a key, a program or a place outside the vault; the rest waits for the user (see [Waiting]). They
// never loosen a cap, a deny list or any other bound of the user's own file. The table reaches has the rule for each key.
//
// It is strict: an unknown key, a value out of range or a duration without a unit is an error with file, line, column and the
// nearest known name. All faults are reported in one pass. The struct tags are the only source of names, ranges and
// descriptions; settings.example.yaml is generated from them.
//
// The keys of model providers are found here and held as [Secret], which never prints. The package reads settings and .env
// files and writes nothing. It keeps no state and is safe for concurrent use.
package settings

// Package settings reads what a person decided: one tree of settings from defaults, settings.yaml, the environment and
// flags, in this order, each going before the one in front of it.
//
// It is strict: an unknown key, a value out of range and a duration without a unit are errors with file, line, column and the nearest
// known name, and all faults are reported in one pass. The struct tags are the one source of names, ranges and descriptions;
// settings.example.yaml is generated from them.
//
// Keys of model providers are found here and held as [Secret], which never prints. The package reads the settings file and
// .env files and writes nothing. It keeps no state and is safe for concurrent use.
package settings

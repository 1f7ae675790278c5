// Package trust decides how far a vault is believed, and remembers it.
//
// A vault is untrusted, shared or one's own. What its files ask for (values of its settings that reach out, and in a
// shared vault the reach of each workflow) waits until a person says yes to exactly that. The answers are kept in the
// state directory, outside the vault, and belong to one vault path.
//
// The package knows nothing of settings, of terminals or of the dashboard: callers bring what is asked as [Ask] values and
// workflows as plans.
package trust

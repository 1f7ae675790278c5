// Package trust decides how far a vault is trusted, and remembers it.
//
// A vault is untrusted, shared or the user's own. What its files ask for (settings that reach out and, in a shared vault, the
// reach of each workflow) waits until the user allows exactly that. The answers are kept in the state directory, outside the
// vault, and belong to one vault path.
//
// The package knows nothing of settings, terminals or the dashboard: callers pass requests as [Ask] values and workflows as
// plans.
package trust

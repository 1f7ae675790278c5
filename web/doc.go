// Package web is the dashboard and the HTTP API of `vaultflow serve`: what runs, what was imported, what comes next, live.
//
// Pages are rendered here from templates and kept current over server-sent events; there is one stylesheet and one small
// script, both embedded, and no other host is ever contacted. The package owns no state: it asks the queries in [Config]
// each time. Everything that comes from the vault or from a model is untrusted: it is shown as text, pictures are served by
// their bytes and from an allow-list, and the content security policy forbids everything else. It never writes to the vault;
// a dropped file goes through [Dropper].
package web

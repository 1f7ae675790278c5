package settings

import (
	"reflect"
	"slices"
	"strings"
)

// providers lays the entries over those below. The identity of a provider (address, key, account) is replaced as a whole, so
// that an address never meets another file's key; limits are replaced one by one.
func (j *judge) providers() {
	for _, name := range sortedKeys(j.from.Providers) {
		said, path := j.from.Providers[name], "providers."+name
		next, there := j.into.Providers[name]
		who := pick(reflect.ValueOf(said), everyProvider).Interface().(Provider)
		switch {
		case empty(reflect.ValueOf(canonical(reflect.ValueOf(who)))):
		case sameProvider(name, who, next, there), j.allows(sayProvider(name, who, placeOf(j.from, path))):
			next = j.replaceWho(path, next, who)
			delete(j.into.withheld.providers, name)
		default:
			whole := who.complete(name)
			j.into.withheld.providers[name] = func() Provider { return whole }
			j.into.pending = append(j.into.pending, whole.APIKeyEnv)
			if _, isKind := kinds[name]; !there && (!isKind || reflect.DeepEqual(said, who)) {
				continue // no entry, so no limits
			}
		}
		j.limits(path, reflect.ValueOf(&next).Elem(), reflect.ValueOf(said))
		if _, set := j.into.origins[path]; !set && j.into.withheld.providers[name] == nil {
			j.into.origins[path] = placeOf(j.from, path)
		}
		j.into.Providers[name] = next
	}
}

const everyProvider = "providers.*"

// sameProvider reports whether an entry names the provider that the layer below would use anyway: the vendor at its own
// address with its usual key, or the user's own entry again.
func sameProvider(name string, who, old Provider, there bool) bool {
	if _, isKind := kinds[name]; !there && !isKind {
		return false
	}
	return reflect.DeepEqual(whoIs(name, who), whoIs(name, old))
}

func whoIs(name string, p Provider) any {
	return canonical(pick(reflect.ValueOf(p.complete(name)), everyProvider))
}

// replaceWho returns an entry with its own limits and another file's address, key and account.
func (j *judge) replaceWho(path string, old, who Provider) Provider {
	v, w := reflect.ValueOf(&old).Elem(), reflect.ValueOf(who)
	for _, f := range fieldsOf(w.Type()) {
		if reaches[join(everyProvider, f.key)] != waits {
			continue
		}
		v.Field(f.index).Set(w.Field(f.index))
		forget(j.into, join(path, f.key))
		adopt(j.into, j.from, join(path, f.key))
	}
	j.into.origins[path] = placeOf(j.from, path)
	return old
}

// limits overrides an entry's limits with those that are set.
func (j *judge) limits(path string, next, said reflect.Value) {
	for _, f := range fieldsOf(said.Type()) {
		how, key, v := reaches[join(everyProvider, f.key)], join(path, f.key), said.Field(f.index)
		if how == waits || v.IsZero() {
			continue
		}
		at := placeOf(j.from, key)
		if how == harmless || !j.theirs || j.stricter(how, key, v, next.Field(f.index), at) {
			next.Field(f.index).Set(v)
			j.into.origins[key] = at
		}
	}
}

// aliases replaces the entries below. An alias whose provider waits is withheld, together with the one of the same name below.
func (j *judge) aliases() {
	for _, name := range sortedKeys(j.from.Models.Aliases) {
		a, path := j.from.Models.Aliases[name], "models.aliases."+name
		if j.into.withheld.providers[a.Provider] != nil {
			if name != Offline { // always the built-in model, whatever a vault sets
				j.into.withheld.aliases[name] = a
			}
			continue
		}
		if j.theirs && j.costsAreCapped() {
			a.Price = j.price(name, path, a)
		}
		forget(j.into, path)
		adopt(j.into, j.from, path)
		delete(j.into.withheld.aliases, name)
		j.into.Models.Aliases[name] = a
	}
}

// price returns the price of a model from the vault if costs are capped outside it. The price of the layer below remains
// until another is granted: an alias with no price, or with 0, would lift the cap.
func (j *judge) price(name, path string, a Alias) Price {
	old := j.into.Models.Aliases[name]
	if a.Price == (Price{}) {
		return old.Price
	}
	if samePrice(a, old) || j.grants(sayPrice(name, a, placeOf(j.from, path+".price"))) {
		return a.Price
	}
	j.into.withheld.keys[path+".price"] = true
	return old.Price
}

func samePrice(a, b Alias) bool {
	return a.Provider == b.Provider && a.Model == b.Model && reflect.DeepEqual(canonical(reflect.ValueOf(a.Price)), canonical(reflect.ValueOf(b.Price)))
}

// costsAreCapped reports whether costs are capped outside the vault. A vault could lift such a cap by setting prices.
func (j *judge) costsAreCapped() bool {
	for path, v := range leaves(j.into) {
		if !strings.HasPrefix(path, "policy.budget.max_cost_usd") {
			continue
		}
		_, flag := j.in.Overrides[path]
		if flag || j.environ[Variable(path)] != "" || !v.IsZero() && byUser(j.into, path) {
			return true
		}
	}
	return false
}

const everyServer = "mcp_servers.*"

// servers replaces the entries below, but keeps their deny lists.
func (j *judge) servers() {
	for _, name := range sortedKeys(j.from.MCPServers) {
		m, path := j.from.MCPServers[name], "mcp_servers."+name
		old, there := j.into.MCPServers[name]
		if j.theirs && !j.server(name, path, &m, old, there) {
			continue
		}
		if j.into.MCPServers == nil {
			j.into.MCPServers = map[string]MCPServer{}
		}
		forget(j.into, path)
		adopt(j.into, j.from, path)
		j.into.MCPServers[name] = m
	}
}

// server reports whether an entry of the vault counts, and removes the tools that do not. A grant for all tools covers each
// of them.
func (j *judge) server(name, path string, m *MCPServer, old MCPServer, there bool) bool {
	at, all := placeOf(j.from, path), len(m.Allow) == 0
	same := there && reflect.DeepEqual(core(*m), core(old))
	counts := same && (len(old.Allow) == 0 || !all) || j.grants(sayServer(name, *m, all, at), sayServer(name, *m, true, at))
	allTools := func() bool { return j.in.Grants != nil && j.in.Grants(sayServer(name, *m, true, at)) }
	if !all && !(same && len(old.Allow) == 0) && !allTools() {
		said := m.Allow
		m.Allow = nil
		for _, tool := range said {
			if same && slices.Contains(old.Allow, tool) || j.grants(sayTool(name, tool, placeOf(j.from, path+".allow"))) {
				m.Allow = append(m.Allow, tool)
			}
		}
		if len(m.Allow) == 0 {
			return false // an empty list would let every tool through
		}
	}
	if !counts {
		return false
	}
	for _, tool := range old.Deny {
		if !slices.Contains(m.Deny, tool) {
			m.Deny = append(slices.Clone(m.Deny), tool)
		}
	}
	return true
}

// core identifies the program or address of an entry, whatever its tools.
func core(m MCPServer) map[string]any {
	m.Allow = nil
	return canonical(pick(reflect.ValueOf(m), everyServer)).(map[string]any)
}

package settings

import (
	"reflect"
	"slices"
	"strings"
)

// providers puts the entries on those below. What says who is asked (address, key, account) replaces that of the entry below
// as a whole, so that an address never meets another file's key; limits are put on one by one.
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
				continue // no entry, so no limits of one
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

// sameProvider reports whether an entry names whom the layer below would ask anyway: the vendor at its own address with its
// usual key, or the user's own entry once more.
func sameProvider(name string, who, old Provider, there bool) bool {
	if _, isKind := kinds[name]; !there && !isKind {
		return false
	}
	return reflect.DeepEqual(whoIs(name, who), whoIs(name, old))
}

func whoIs(name string, p Provider) any {
	return canonical(pick(reflect.ValueOf(p.complete(name)), everyProvider))
}

// replaceWho is an entry with the limits it had and another file's address, key and account.
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

// limits puts the limits that an entry says on those it has.
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

// aliases puts the entries in the place of those below. One whose provider waits is withheld, and so is one of its name below.
func (j *judge) aliases() {
	for _, name := range sortedKeys(j.from.Models.Aliases) {
		a, path := j.from.Models.Aliases[name], "models.aliases."+name
		if j.into.withheld.providers[a.Provider] != nil {
			if name != Offline { // which is the built-in model whatever a vault says that waits
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

// price is what a model of the vault costs where a cap on costs was set outside of it. The price of the layer below stays
// unless another one is granted: an alias without a price, or with one of 0, would lift the cap.
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

// costsAreCapped reports whether a cap on costs was set outside the vault. A vault that sets prices could lift it.
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

// servers puts the entries in the place of those below, and keeps what these deny.
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

// server reports whether an entry of the vault counts, and leaves out those of its tools that do not. A yes to all tools is a
// yes to some.
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

// core is which program or address an entry names, whatever its tools.
func core(m MCPServer) map[string]any {
	m.Allow = nil
	return canonical(pick(reflect.ValueOf(m), everyServer)).(map[string]any)
}

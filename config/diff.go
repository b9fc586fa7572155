package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Change is one difference between two documents.
type Change struct {
	Sign     byte   // '+' added, '-' removed, '~' changed
	Path     string // by id, such as campaigns[cmp_auto].caps[0]
	Old, New string // as JSON; empty where there is none
}

// String is the change in one line.
func (c Change) String() string {
	line := "~ " + c.Path + ": " + c.Old + " -> " + c.New
	switch c.Sign {
	case '+':
		line = "+ " + c.Path + ": " + c.New
	case '-':
		line = "- " + c.Path + ": " + c.Old
	}
	if c.Restart() {
		line += " (at the next start)"
	}
	return line
}

// Restart tells whether the change takes effect at the next start only.
func (c Change) Restart() bool {
	first, _, _ := strings.Cut(c.Path, ".")
	first, _, _ = strings.Cut(first, "[")
	switch first {
	case "data_dir", "listen", "tls", "admin", "tenant", "sandbox", "trusted_networks", "history",
		"idempotency", "ping_idempotency", "token_lifetime", "webhooks", "report", "traces", "limits":
		return true
	}
	return false
}

// Diff lists what makes the second canonical document out of the first. It is
// empty exactly where they are equal. An empty document stands for none. A
// secret that was replaced by another is no difference, and neither is the name of its
// variable: only whether there is one is part of a document.
func Diff(before, after []byte) []Change {
	var d differ
	d.compare("", canonicalNode(before), canonicalNode(after))
	return d.changes
}

// canonicalNode reads what canonical has written.
func canonicalNode(data []byte) *node {
	if len(data) == 0 {
		return &node{kind: mapKind}
	}
	r := &reader{env: func(string) (string, bool) { return "", false }}
	root := r.read(data)
	if len(r.problems) > 0 || root.kind != mapKind {
		panic("BUG: not a canonical document: " + r.problems.Error())
	}
	root.withoutValues()
	return root
}

// withoutValues leaves what makes a difference: of a secret, that there is one, and of an
// address, the names of its variables.
func (n *node) withoutValues() {
	if n.expanded {
		n.text = n.raw
	}
	if _, is := n.saysSet(); is {
		n.members = slices.DeleteFunc(n.members, func(m member) bool { return m.key == "variable" })
	}
	for _, m := range n.members {
		m.value.withoutValues()
	}
	for _, item := range n.items {
		item.withoutValues()
	}
}

type differ struct{ changes []Change }

func (d *differ) add(sign byte, at place, before, after *node) {
	d.changes = append(d.changes, Change{Sign: sign, Path: string(at), Old: before.json(), New: after.json()})
}

func (d *differ) compare(at place, before, after *node) {
	switch {
	case before == nil:
		d.add('+', at, nil, after)
	case after == nil:
		d.add('-', at, before, nil)
	case before.kind == mapKind && after.kind == mapKind:
		d.members(at, before, after)
	case before.kind == listKind && after.kind == listKind:
		d.items(at, before, after)
	case before.expanded != after.expanded:
		d.add('~', at, before.withoutQuery(), after.withoutQuery())
	case before.json() != after.json():
		d.add('~', at, before, after)
	}
}

// withoutQuery hides the query of an address that has a variable on the other side of a
// difference: the value of the variable stands there.
func (n *node) withoutQuery() *node {
	before, _, has := strings.Cut(n.text, "?")
	if n.expanded || !has {
		return n
	}
	return &node{kind: textKind, text: before + "?…"}
}

func (d *differ) members(at place, before, after *node) {
	news := make(map[string]*node, len(after.members))
	for _, m := range after.members {
		news[m.key] = m.value
	}
	olds := make(map[string]bool, len(before.members))
	for _, m := range before.members {
		olds[m.key] = true
		d.child(at.key(m.key), m.value, news[m.key])
	}
	for _, m := range after.members {
		if !olds[m.key] {
			d.child(at.key(m.key), nil, m.value)
		}
	}
}

// child compares two values of one key. A list that appears or goes is told
// entry by entry.
func (d *differ) child(at place, before, after *node) {
	empty := &node{kind: listKind}
	if before == nil && after.entries() {
		before = empty
	}
	if after == nil && before.entries() {
		after = empty
	}
	d.compare(at, before, after)
}

// entries tells whether the node is a list of mappings.
func (n *node) entries() bool {
	return n != nil && n.kind == listKind && len(n.items) > 0 && n.items[0].kind == mapKind
}

func (d *differ) items(at place, before, after *node) {
	if !before.entries() && !after.entries() {
		if before.json() != after.json() {
			d.add('~', at, before, after)
		}
		return
	}
	oldNames, olds := named(before)
	newNames, news := named(after)
	for _, name := range oldNames {
		d.compare(at+place("["+name+"]"), olds[name], news[name])
	}
	for _, name := range newNames {
		if olds[name] == nil {
			d.compare(at+place("["+name+"]"), nil, news[name])
		}
	}
	d.order(at, oldNames, newNames, olds, news)
}

// order tells of entries that are in both lists, but not in the same order.
func (d *differ) order(at place, oldNames, newNames []string, olds, news map[string]*node) {
	oldNames = slices.DeleteFunc(oldNames, func(name string) bool { return news[name] == nil })
	newNames = slices.DeleteFunc(newNames, func(name string) bool { return olds[name] == nil })
	if !slices.Equal(oldNames, newNames) {
		d.changes = append(d.changes, Change{
			Sign: '~', Path: string(at) + " (order)",
			Old: strings.Join(oldNames, " "), New: strings.Join(newNames, " "),
		})
	}
}

// named gives each entry of a list the name by which it is known from one
// document to the next: its id, or the like, and else its place in the list.
func named(list *node) (names []string, byName map[string]*node) {
	byName = make(map[string]*node, len(list.items))
	for i, item := range list.items {
		name := strconv.Itoa(i)
		for _, key := range [...]string{"id", "buyer", "client_id", "name"} {
			if id := item.child(step{key: key, index: -1}); id != nil && id.kind == textKind {
				name = id.text
				break
			}
		}
		name = nameIn(name)
		if byName[name] != nil {
			name = fmt.Sprintf("%s #%d", name, i)
		}
		names = append(names, name)
		byName[name] = item
	}
	return names, byName
}

// nameIn is a name as it stands in brackets.
func nameIn(name string) string {
	if !plainKey(strings.ReplaceAll(name, ".", "-")) {
		return strconv.Quote(name)
	}
	return name
}

// json is the node as compact JSON, empty for none.
func (n *node) json() string {
	if n == nil {
		return ""
	}
	var b strings.Builder
	n.writeJSON(&b)
	return b.String()
}

package canonical

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"pingpost/config/syntax"
)

// Change is one difference between two versions of a configuration document.
type Change struct {
	Sign     byte   // '+' added, '-' removed, '~' changed
	Path     string // by id, such as campaigns[cmp_auto].caps[0]
	Old, New string // as JSON; empty if the value is missing; for another order, the entries' names
}

// String returns the change in one line, as pingpost diff prints it.
func (c Change) String() string {
	if c.NeedsRestart() {
		return c.TextWithoutRestartNote() + " (at the next start)"
	}
	return c.TextWithoutRestartNote()
}

// TextWithoutRestartNote returns the change in one line, without the time at which it takes effect.
func (c Change) TextWithoutRestartNote() string {
	line := "~ " + c.Path + ": " + c.Old + " -> " + c.New
	switch c.Sign {
	case '+':
		line = "+ " + c.Path + ": " + c.New
	case '-':
		line = "- " + c.Path + ": " + c.Old
	}
	return line
}

// NeedsRestart reports whether the change takes effect only when the exchange starts again.
func (c Change) NeedsRestart() bool {
	first, _, _ := strings.Cut(c.Path, ".")
	first, _, _ = strings.Cut(first, "[")
	switch first {
	case "data_dir", "listen", "tls", "admin", "public_url", "time_zone", "tenant", "sandbox", "provisioning", "cluster", "trusted_networks", "history",
		"idempotency", "ping_idempotency", "hot_for", "token_lifetime", "webhooks", "report", "traces", "limits":
		return true
	}
	return false
}

// Diff returns the changes from one canonical document to another. Empty input means an empty
// document.
//
// A replaced secret is no change, because a canonical document does not contain its value. Another
// variable for a secret is no change either.
func Diff(canonicalBefore, canonicalAfter []byte) []Change {
	var d documentDiffer
	d.compareNodes("", parseCanonicalForDiff(canonicalBefore), parseCanonicalForDiff(canonicalAfter))
	return d.changes
}

// parseCanonicalForDiff parses a canonical document (the output of Encode) for a comparison, without
// values that are not compared.
func parseCanonicalForDiff(data []byte) *syntax.Node {
	if len(data) == 0 {
		return &syntax.Node{Kind: syntax.Mapping}
	}
	r := &syntax.Reader{Env: func(string) (string, bool) { return "", false }}
	root := r.Read(data)
	if len(r.Problems) > 0 || root.Kind != syntax.Mapping {
		panic("BUG: not a canonical document: " + r.Problems.Error())
	}
	normalizeVariablesForDiff(root)
	return root
}

// normalizeVariablesForDiff removes from the tree the values that Diff must not compare. Of a secret
// only its existence remains, and of an address with variables the written form.
func normalizeVariablesForDiff(n *syntax.Node) {
	if n.Expanded {
		n.Text = n.Raw
	}
	if _, is := n.ParseSecretSetElsewhere(); is {
		n.Members = slices.DeleteFunc(n.Members, func(m syntax.Member) bool { return m.Key == "variable" })
	}
	for _, m := range n.Members {
		normalizeVariablesForDiff(m.Value)
	}
	for _, item := range n.Items {
		normalizeVariablesForDiff(item)
	}
}

type documentDiffer struct{ changes []Change }

func (d *documentDiffer) addChange(sign byte, at syntax.KeyPath, before, after *syntax.Node) {
	d.changes = append(d.changes, Change{Sign: sign, Path: string(at), Old: before.JSON(), New: after.JSON()})
}

func (d *documentDiffer) compareNodes(at syntax.KeyPath, before, after *syntax.Node) {
	switch {
	case before == nil:
		d.addChange('+', at, nil, after)
	case after == nil:
		d.addChange('-', at, before, nil)
	case before.Kind == syntax.Mapping && after.Kind == syntax.Mapping:
		d.compareMappings(at, before, after)
	case before.Kind == syntax.List && after.Kind == syntax.List:
		d.compareLists(at, before, after)
	case before.Expanded != after.Expanded:
		d.addChange('~', at, hideURLQuery(before), hideURLQuery(after))
	case before.JSON() != after.JSON():
		d.addChange('~', at, before, after)
	}
}

// hideURLQuery returns an address with a hidden query, unless it is in its written form with
// variables. It is used if the other version of the address has a variable, because the query
// may then contain the variable's value.
func hideURLQuery(n *syntax.Node) *syntax.Node {
	before, _, has := strings.Cut(n.Text, "?")
	if n.Expanded || !has {
		return n
	}
	return &syntax.Node{Kind: syntax.Text, Text: before + "?…"}
}

// compareMappings compares the members of two mappings by key.
func (d *documentDiffer) compareMappings(at syntax.KeyPath, before, after *syntax.Node) {
	news := make(map[string]*syntax.Node, len(after.Members))
	for _, m := range after.Members {
		news[m.Key] = m.Value
	}
	olds := make(map[string]bool, len(before.Members))
	for _, m := range before.Members {
		olds[m.Key] = true
		d.compareMember(at.Key(m.Key), m.Value, news[m.Key])
	}
	for _, m := range after.Members {
		if !olds[m.Key] {
			d.compareMember(at.Key(m.Key), nil, m.Value)
		}
	}
}

// compareMember compares the values of one key in two mappings. nil means that the key is
// missing. It reports an added or removed list of mappings entry by entry.
func (d *documentDiffer) compareMember(at syntax.KeyPath, before, after *syntax.Node) {
	empty := &syntax.Node{Kind: syntax.List}
	if before == nil && after.IsListBeginningWithMapping() {
		before = empty
	}
	if after == nil && before.IsListBeginningWithMapping() {
		after = empty
	}
	d.compareNodes(at, before, after)
}

// compareLists compares two lists. It compares lists of mappings entry by entry, and matches their
// entries by id or index (entryNamesOrIndexes). It compares other lists as a whole.
func (d *documentDiffer) compareLists(at syntax.KeyPath, before, after *syntax.Node) {
	if !before.IsListBeginningWithMapping() && !after.IsListBeginningWithMapping() {
		if before.JSON() != after.JSON() {
			d.addChange('~', at, before, after)
		}
		return
	}
	oldNames, olds := entryNamesOrIndexes(before)
	newNames, news := entryNamesOrIndexes(after)
	for _, name := range oldNames {
		d.compareNodes(at+syntax.KeyPath("["+name+"]"), olds[name], news[name])
	}
	for _, name := range newNames {
		if olds[name] == nil {
			d.compareNodes(at+syntax.KeyPath("["+name+"]"), nil, news[name])
		}
	}
	d.compareOrder(at, oldNames, newNames, olds, news)
}

// compareOrder adds a change if the entries that are in both lists have another order in the
// new one.
func (d *documentDiffer) compareOrder(at syntax.KeyPath, oldNames, newNames []string, oldByName, newByName map[string]*syntax.Node) {
	oldNames = slices.DeleteFunc(oldNames, func(name string) bool { return newByName[name] == nil })
	newNames = slices.DeleteFunc(newNames, func(name string) bool { return oldByName[name] == nil })
	if !slices.Equal(oldNames, newNames) {
		d.changes = append(d.changes, Change{
			Sign: '~', Path: string(at) + " (order)",
			Old: strings.Join(oldNames, " "), New: strings.Join(newNames, " "),
		})
	}
}

// entryNamesOrIndexes returns for each entry of a list a name that stays the same in other
// versions of the document: its id or similar key, otherwise its index.
func entryNamesOrIndexes(list *syntax.Node) (names []string, byName map[string]*syntax.Node) {
	byName = make(map[string]*syntax.Node, len(list.Items))
	for i, item := range list.Items {
		name := strconv.Itoa(i)
		for _, key := range [...]string{"id", "buyer", "client_id", "name"} {
			if id := item.MemberValue(key); id != nil && id.Kind == syntax.Text {
				name = id.Text
				break
			}
		}
		name = quoteForBrackets(name)
		if byName[name] != nil {
			name = fmt.Sprintf("%s #%d", name, i)
		}
		names = append(names, name)
		byName[name] = item
	}
	return names, byName
}

// quoteForBrackets returns a name as a path shows it between brackets: in quotes unless it is
// a plain key.
func quoteForBrackets(name string) string {
	if !syntax.CanBeUnquotedInPath(strings.ReplaceAll(name, ".", "-")) {
		return strconv.Quote(name)
	}
	return name
}

package config

// kind is the form of a node.
type kind uint8

const (
	nullKind kind = iota + 1
	textKind
	numberKind
	boolKind
	mapKind
	listKind
)

// said is how a kind is called towards people.
func (k kind) said() string {
	switch k {
	case nullKind:
		return "nothing"
	case textKind:
		return "text"
	case numberKind:
		return "a number"
	case boolKind:
		return "true or false"
	case mapKind:
		return "a mapping"
	case listKind:
		return "a list"
	}
	panic("BUG: unknown kind of node")
}

// position is a place in the text, both from 1; a column counts characters.
type position struct{ line, column int }

// node is one value of a document as it was written. It is the only form in
// which the steps after the parser see YAML or JSON.
type node struct {
	position
	kind     kind
	expanded bool   // holds something from the environment
	raw      string // of text that is expanded: as it is written
	missing  string // what to say where a variable has no value; empty: all have one
	values   map[string]string
	block    bool   // text whose lines are the document's, from the one after the position on
	text     string // of a scalar, expanded; a number's digits as written
	members  []member
	items    []*node
}

// member is one key of a mapping, with the position of the key.
type member struct {
	position
	key   string
	value *node
}

// find is the node at the place, or the deepest one on the way to it.
func (n *node) find(p place) (found *node, exact bool) {
	for p != "" {
		var s step
		s, p = p.next()
		child := n.child(s)
		if child == nil {
			return n, false
		}
		n = child
	}
	return n, true
}

func (n *node) child(s step) *node {
	if s.index >= 0 {
		if s.index < len(n.items) {
			return n.items[s.index]
		}
		return nil
	}
	for i := range n.members {
		if n.members[i].key == s.key {
			return n.members[i].value
		}
	}
	return nil
}

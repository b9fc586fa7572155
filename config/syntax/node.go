package syntax

// Kind is the form of a node.
type Kind uint8

const (
	Null Kind = iota + 1
	Text
	Number
	Bool
	Mapping
	List
)

// Describe is how a kind is called towards people.
func (k Kind) Describe() string {
	switch k {
	case Null:
		return "nothing"
	case Text:
		return "text"
	case Number:
		return "a number"
	case Bool:
		return "true or false"
	case Mapping:
		return "a mapping"
	case List:
		return "a list"
	}
	panic("BUG: unknown kind of node")
}

// Position is a place in the text, both from 1; a column counts characters.
type Position struct{ Line, Column int }

// Node is one value of a document as it was written. It is the only form in
// which the steps after the parser see YAML or JSON.
type Node struct {
	Position
	Kind      Kind
	Expanded  bool   // holds something from the environment
	Raw       string // of text that is expanded: as it is written
	Missing   string // what to say where a variable has no value; empty: all have one
	Variables map[string]string
	Block     bool   // text whose lines are the document's, from the one after the position on
	Text      string // of a scalar, expanded; a number's digits as written
	Members   []Member
	Items     []*Node
}

// Member is one key of a mapping, with the position of the key.
type Member struct {
	Position
	Key   string
	Value *Node
}

// Find is the node at the place, or the deepest one on the way to it.
func (n *Node) Find(p Path) (found *Node, exact bool) {
	for p != "" {
		var s step
		s, p = p.split()
		child := n.child(s)
		if child == nil {
			return n, false
		}
		n = child
	}
	return n, true
}

// Member is the value of a key, or nil.
func (n *Node) Member(key string) *Node { return n.child(step{key: key, index: -1}) }

func (n *Node) child(s step) *Node {
	if s.index >= 0 {
		if s.index < len(n.Items) {
			return n.Items[s.index]
		}
		return nil
	}
	for i := range n.Members {
		if n.Members[i].Key == s.key {
			return n.Members[i].Value
		}
	}
	return nil
}

// HasVariables tells whether something in the node is from the environment.
func (n *Node) HasVariables() bool {
	if n.Expanded {
		return true
	}
	for _, m := range n.Members {
		if m.Value.HasVariables() {
			return true
		}
	}
	for _, item := range n.Items {
		if item.HasVariables() {
			return true
		}
	}
	return false
}

// IsEntryList tells whether the node is a list of mappings.
func (n *Node) IsEntryList() bool {
	return n != nil && n.Kind == List && len(n.Items) > 0 && n.Items[0].Kind == Mapping
}

// SecretMark reports whether a mapping stands for a secret that is known elsewhere, and the
// variable that gives it.
func (n *Node) SecretMark() (variable string, is bool) {
	if n.Kind != Mapping {
		return "", false
	}
	for _, m := range n.Members {
		switch {
		case m.Key == "set" && m.Value.Kind == Bool && m.Value.Text == "true":
			is = true
		case m.Key == "variable" && m.Value.Kind == Text && IsVariableName(m.Value.Text) && len(m.Value.Text) <= maxVariable:
			variable = m.Value.Text
		default:
			return "", false
		}
	}
	return variable, is && len(n.Members) <= 2
}

// maxVariable is the longest name of a variable, in bytes.
const maxVariable = 256

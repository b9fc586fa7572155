package syntax

// NodeKind is the type of a node in a document: empty, text, number, boolean, mapping or list.
type NodeKind uint8

const (
	Null NodeKind = iota + 1
	Text
	Number
	Bool
	Mapping
	List
)

// Describe returns the kind in words, for messages.
func (k NodeKind) Describe() string {
	switch k {
	case Null:
		return "an empty value"
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

// Position is a place in the text. Line and column start at 1; a column counts
// characters.
type Position struct{ Line, Column int }

// Node is one value of a document as written. All later steps see both YAML and JSON in this
// form.
type Node struct {
	Position
	Kind      NodeKind
	Expanded  bool   // the text refers to a variable, set or not, or was rejected
	Raw       string // an expanded text as written
	Missing   string // message for a variable without a value; empty if all have one
	Variables map[string]string
	Block     bool   // text written as a YAML block (|), which begins in the line after the position
	Text      string // of a scalar, after expansion; the digits of a number as written
	Members   []Member
	Items     []*Node
}

// A Member is one key of a mapping, with the position of the key.
type Member struct {
	Position
	Key   string
	Value *Node
}

// FindDeepest returns the node at path p or, if the path does not exist, the deepest existing node
// on the way to it. exact reports whether the path exists.
func (n *Node) FindDeepest(p KeyPath) (nodeOrAncestor *Node, exact bool) {
	for p != "" {
		var s pathStep
		s, p = p.cutFirstStep()
		child := n.childAt(s)
		if child == nil {
			return n, false
		}
		n = child
	}
	return n, true
}

// MemberValue returns the value of a key, or nil.
func (n *Node) MemberValue(key string) *Node { return n.childAt(pathStep{key: key, index: -1}) }

func (n *Node) childAt(s pathStep) *Node {
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

// HasVariables reports whether the node, or a node inside it, refers to an environment variable, set or
// not. It is also true for a text that newExpandedTextNode rejected.
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

// IsListBeginningWithMapping reports whether the node is a list whose first item is a
// mapping. It is false for an empty list and for nil.
func (n *Node) IsListBeginningWithMapping() bool {
	return n != nil && n.Kind == List && len(n.Items) > 0 && n.Items[0].Kind == Mapping
}

// ParseSecretSetElsewhere reports whether the node is {set: true} or {set: true, variable: NAME}, which
// declares a secret without its value. variable is the name of the variable that gives the value, or
// "".
func (n *Node) ParseSecretSetElsewhere() (variable string, isSecretWithoutValue bool) {
	if n.Kind != Mapping {
		return "", false
	}
	for _, m := range n.Members {
		switch {
		case m.Key == "set" && m.Value.Kind == Bool && m.Value.Text == "true":
			isSecretWithoutValue = true
		case m.Key == "variable" && m.Value.Kind == Text && IsVariableName(m.Value.Text) && len(m.Value.Text) <= maxVariable:
			variable = m.Value.Text
		default:
			return "", false
		}
	}
	return variable, isSecretWithoutValue && len(n.Members) <= 2
}

// maxVariable is the maximum length of a variable's name, in bytes.
const maxVariable = 256

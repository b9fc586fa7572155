package config

import "errors"

// Secret is a value that nothing prints: not a format, not JSON, not an error.
// Written back it is {"set": true}, and a document that has it in that form
// says that there is a secret without knowing it.
//
// A secret that a variable of the environment gives keeps the variable's name, and
// writes it back.
type Secret struct {
	value    string
	set      bool
	variable string
}

// NewSecret wraps a value.
func NewSecret(value string) Secret { return Secret{value: value, set: true} }

// Reveal is the value itself; empty where the document only says that there is
// one, or where there is none.
func (s Secret) Reveal() string { return s.value }

// IsSet tells whether there is a secret, known here or not.
func (s Secret) IsSet() bool { return s.set }

// IsZero tells whether there is no secret, for omitzero.
func (s Secret) IsZero() bool { return !s.set }

// String is the same for every secret.
func (s Secret) String() string {
	if s.set {
		return "[secret]"
	}
	return "[none]"
}

// GoString hides the value from %#v.
func (s Secret) GoString() string { return s.String() }

// MarshalJSON tells only that there is a secret.
func (s Secret) MarshalJSON() ([]byte, error) {
	if s.set {
		if s.variable != "" {
			return []byte(`{"set":true,"variable":"` + s.variable + `"}`), nil
		}
		return []byte(`{"set":true}`), nil
	}
	return []byte("null"), nil
}

func (s *Secret) read(n *node) error {
	switch n.kind {
	case textKind:
		if n.missing != "" {
			*s = Secret{set: true, variable: onlyVariable(n.raw)}
			return nil
		}
		if n.text == "" {
			return errors.New("the secret is empty; give it a value, or leave the key out")
		}
		*s = Secret{value: n.text, set: true, variable: onlyVariable(n.raw)}
		return nil
	case mapKind:
		if name, is := n.saysSet(); is {
			s.set, s.variable = true, name
			return nil
		}
		return errors.New("expected the secret as text, or {set: true} where it is known already")
	case numberKind, boolKind:
		return errors.New("expected text, found " + n.kind.said() + "; put it in quotes")
	}
	return expected("text", n)
}

// saysSet reports whether a mapping stands for a secret that is known elsewhere, and the
// variable that gives it.
func (n *node) saysSet() (variable string, is bool) {
	if n.kind != mapKind {
		return "", false
	}
	for _, m := range n.members {
		switch {
		case m.key == "set" && m.value.kind == boolKind && m.value.text == "true":
			is = true
		case m.key == "variable" && m.value.kind == textKind && variableName(m.value.text) && len(m.value.text) <= maxVariable:
			variable = m.value.text
		default:
			return "", false
		}
	}
	return variable, is && len(n.members) <= 2
}

// maxVariable is the longest name of a variable, in bytes.
const maxVariable = 256

// maxSecret is the longest secret, in bytes.
const maxSecret = 4096

// visible tells whether the value can stand in a header: visible ASCII only.
func (s Secret) visible() bool {
	if len(s.value) > maxSecret {
		return false
	}
	for i := range len(s.value) {
		if s.value[i] <= ' ' || s.value[i] > '~' {
			return false
		}
	}
	return true
}

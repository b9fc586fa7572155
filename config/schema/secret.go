package schema

import (
	"errors"

	"pingpost/config/syntax"
)

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

// Variable is the name of the variable of the environment that gave it, empty where none did.
func (s Secret) Variable() string { return s.variable }

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

func (s *Secret) read(n *syntax.Node) error {
	switch n.Kind {
	case syntax.Text:
		if n.Missing != "" {
			*s = Secret{set: true, variable: syntax.SoleVariable(n.Raw)}
			return nil
		}
		if n.Text == "" {
			return errors.New("the secret is empty; give it a value, or leave the key out")
		}
		*s = Secret{value: n.Text, set: true, variable: syntax.SoleVariable(n.Raw)}
		return nil
	case syntax.Mapping:
		if name, is := n.SecretMark(); is {
			s.set, s.variable = true, name
			return nil
		}
		return errors.New("expected the secret as text, or {set: true} where it is known already")
	case syntax.Number, syntax.Bool:
		return errors.New("expected text, found " + n.Kind.Describe() + "; put it in quotes")
	}
	return errExpected("text", n)
}

// MaxSecret is the longest secret, in bytes.
const MaxSecret = 4096

// Visible tells whether the value can stand in a header: visible ASCII only.
func (s Secret) Visible() bool {
	if len(s.value) > MaxSecret {
		return false
	}
	for i := range len(s.value) {
		if s.value[i] <= ' ' || s.value[i] > '~' {
			return false
		}
	}
	return true
}

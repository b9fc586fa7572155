package schema

import (
	"errors"

	"pingpost/config/syntax"
)

// Secret is a secret value that no format, no JSON and no error prints. Its written form is
// {"set": true}. A document with that form declares that a secret exists, without its value.
//
// A secret from an environment variable keeps the variable's name and writes it back.
type Secret struct {
	value    string
	set      bool
	variable string
}

// NewSecret returns a Secret with this value.
func NewSecret(value string) Secret { return Secret{value: value, set: true} }

// Reveal returns the secret value. It is empty if the document only declares the secret, or
// if there is no secret.
func (s Secret) Reveal() string { return s.value }

// IsGivenOrDeclared reports whether there is a secret, with or without its value.
func (s Secret) IsGivenOrDeclared() bool { return s.set }

// VariableName returns the name of the environment variable that gave the value, or "".
func (s Secret) VariableName() string { return s.variable }

// IsZero reports whether there is no secret. encoding/json calls it for the option omitzero.
func (s Secret) IsZero() bool { return !s.set }

// String returns "[secret]" or "[none]", so that no message shows the value.
func (s Secret) String() string {
	if s.set {
		return "[secret]"
	}
	return "[none]"
}

// GoString hides the value from %#v.
func (s Secret) GoString() string { return s.String() }

// MarshalJSON writes that the secret exists, and the name of its variable, but not the value.
func (s Secret) MarshalJSON() ([]byte, error) {
	if s.set {
		if s.variable != "" {
			return []byte(`{"set":true,"variable":"` + s.variable + `"}`), nil
		}
		return []byte(`{"set":true}`), nil
	}
	return []byte("null"), nil
}

func (s *Secret) decodeNode(n *syntax.Node) error {
	switch n.Kind {
	case syntax.Text:
		if n.Missing != "" {
			*s = Secret{set: true, variable: syntax.SoleVariableName(n.Raw)}
			return nil
		}
		if n.Text == "" {
			return errors.New("the secret is empty; give it a value, or leave the key out")
		}
		*s = Secret{value: n.Text, set: true, variable: syntax.SoleVariableName(n.Raw)}
		return nil
	case syntax.Mapping:
		if name, is := n.ParseSecretSetElsewhere(); is {
			s.set, s.variable = true, name
			return nil
		}
		return errors.New("expected the secret as text, or {set: true} if the exchange already has it")
	case syntax.Number, syntax.Bool:
		return errors.New("expected text, found " + n.Kind.Describe() + "; put it in quotes")
	}
	return newExpectedError("text", n)
}

// MaxSecret is the maximum length of a secret, in bytes.
const MaxSecret = 4096

// CanBeHeaderValue reports whether an HTTP header can carry the value: only visible ASCII
// characters, and at most MaxSecret of them.
func (s Secret) CanBeHeaderValue() bool {
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

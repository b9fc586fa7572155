// Package wire is what the generated models need to say what JSON says: that a member is
// absent, is null, or is one that the model does not name.
package wire

import (
	"bytes"
	"encoding/json"
	"maps"
)

// Nullable is a member that may be absent, null, or have a value. Its zero value is absent,
// so it goes with omitzero.
type Nullable[T any] struct {
	value *T
	there bool
}

// Null is a member that is there and null.
func Null[T any]() Nullable[T] { return Nullable[T]{there: true} }

// Value is a member that has a value.
func Value[T any](value T) Nullable[T] { return Nullable[T]{value: &value, there: true} }

// Get is the value. Not ok: the member is null or absent.
func (n Nullable[T]) Get() (value T, ok bool) {
	if n.value == nil {
		return value, false
	}
	return *n.value, true
}

// IsNull reports whether the member is there and null.
func (n Nullable[T]) IsNull() bool { return n.there && n.value == nil }

// IsZero reports whether the member is absent.
func (n Nullable[T]) IsZero() bool { return !n.there }

// MarshalJSON writes the value, or null.
func (n Nullable[T]) MarshalJSON() ([]byte, error) { return json.Marshal(n.value) }

// UnmarshalJSON reads a value, or null.
func (n *Nullable[T]) UnmarshalJSON(text []byte) error {
	n.there, n.value = true, nil
	return json.Unmarshal(text, &n.value)
}

// Join writes the members of a struct, and beside them those in more. A name that is in both
// is the struct's.
func Join(form any, more map[string]any) ([]byte, error) {
	named, err := marshal(form)
	if err != nil || len(more) == 0 {
		return named, err
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(named, &members); err != nil {
		return nil, err
	}
	all := maps.Clone(more)
	for name, value := range members {
		all[name] = value
	}
	return marshal(all)
}

// Split reads a struct's members, and gives back those whose names are not among its own,
// with numbers as json.Number. It is nil where there are none.
func Split(text []byte, form any, names ...string) (map[string]any, error) {
	if err := json.Unmarshal(text, form); err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var all map[string]any
	if err := decoder.Decode(&all); err != nil {
		return nil, err
	}
	for _, name := range names {
		delete(all, name)
	}
	if len(all) == 0 {
		return nil, nil
	}
	return all, nil
}

// marshal leaves < > & as they are: nobody puts this into a page.
func marshal(value any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return bytes.TrimRight(text.Bytes(), "\n"), err
}

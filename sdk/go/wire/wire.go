// Package wire supports the generated models with JSON features that Go structs lack: absent
// members, null, and unknown members.
package wire

import (
	"bytes"
	"encoding/json"
	"maps"
)

// Nullable is a member that may be absent, null, or have a value. Its zero value is absent, so
// use it with omitzero.
type Nullable[T any] struct {
	value   *T
	present bool
}

// Null returns a null member.
func Null[T any]() Nullable[T] { return Nullable[T]{present: true} }

// Value returns a member with a value.
func Value[T any](value T) Nullable[T] { return Nullable[T]{value: &value, present: true} }

// Get returns the value. ok is false if the member is null or absent.
func (n Nullable[T]) Get() (value T, ok bool) {
	if n.value == nil {
		return value, false
	}
	return *n.value, true
}

// IsNull reports whether the member is present and null.
func (n Nullable[T]) IsNull() bool { return n.present && n.value == nil }

// IsZero reports whether the member is absent.
func (n Nullable[T]) IsZero() bool { return !n.present }

// MarshalJSON encodes the value or null.
func (n Nullable[T]) MarshalJSON() ([]byte, error) { return json.Marshal(n.value) }

// UnmarshalJSON decodes a value or null.
func (n *Nullable[T]) UnmarshalJSON(text []byte) error {
	n.present, n.value = true, nil
	return json.Unmarshal(text, &n.value)
}

// Join encodes a struct together with additional members. The struct's members have priority.
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

// Split decodes a struct and returns the members with other names, with numbers as json.Number.
// It returns nil if there are no such members.
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

// marshal does not escape < > &, because the JSON is not embedded in HTML.
func marshal(value any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return bytes.TrimRight(text.Bytes(), "\n"), err
}

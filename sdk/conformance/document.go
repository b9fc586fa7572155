package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// decode decodes one JSON value and keeps all digits of its numbers.
func decode(text []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	if decoder.More() {
		return nil, fmt.Errorf("more than one JSON value")
	}
	return value, nil
}

// valueAt returns the value at a path of members and indexes, such as result.body.data.id or
// sent.0.
func valueAt(value any, path string) (found any, there bool) {
	for _, name := range strings.Split(path, ".") {
		switch within := value.(type) {
		case map[string]any:
			if value, there = within[name]; !there {
				return nil, false
			}
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(within) {
				return nil, false
			}
			value = within[i]
		default:
			return nil, false
		}
	}
	return value, true
}

// setAt sets the value at a path and creates missing objects. It ignores a path that leads
// through another kind of value.
func setAt(object map[string]any, path string, value any) {
	names := strings.Split(path, ".")
	for _, name := range names[:len(names)-1] {
		inner, is := object[name].(map[string]any)
		if !is {
			if _, there := object[name]; there {
				return
			}
			inner = map[string]any{}
			object[name] = inner
		}
		object = inner
	}
	object[names[len(names)-1]] = value
}

// removeAt removes the member at a path.
func removeAt(object map[string]any, path string) {
	names := strings.Split(path, ".")
	for _, name := range names[:len(names)-1] {
		inner, is := object[name].(map[string]any)
		if !is {
			return
		}
		object = inner
	}
	delete(object, names[len(names)-1])
}

package strictjson_test

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strconv"
	"testing"
	"unicode/utf8"

	"pingpost/engine/market"
	"pingpost/internal/strictjson"
)

// rejectionReason is a simple model. It returns the reason to reject a text that encoding/json
// accepts, or an empty string.
func rejectionReason(data []byte) string {
	switch {
	case bytes.TrimLeft(data, " \t\r\n")[0] != '{':
		return "not an object"
	case !utf8.Valid(data):
		return "bad UTF-8"
	case hasUnpairedSurrogate(data):
		return "half a surrogate pair"
	}
	return structureProblem(data)
}

var escapePattern = regexp.MustCompile(`\\(?:u([0-9a-fA-F]{4})|.)`)

func hasUnpairedSurrogate(data []byte) bool {
	high := -1 // offset of the escape after a high surrogate
	for _, match := range escapePattern.FindAllSubmatchIndex(data, -1) {
		var unit uint64
		if match[2] >= 0 {
			unit, _ = strconv.ParseUint(string(data[match[2]:match[3]]), 16, 16)
		}
		isLow := unit >= 0xDC00 && unit <= 0xDFFF
		if (high >= 0) != isLow || isLow && high != match[0] {
			return true
		}
		high = -1
		if unit >= 0xD800 && unit <= 0xDBFF {
			high = match[1]
		}
	}
	return high >= 0
}

// structureProblem checks depth, repeated members and the length of numbers.
func structureProblem(data []byte) string {
	type level struct {
		names map[string]bool // nil in an array
		value bool            // the next token is a member's value
	}
	var open []level
	tokens := json.NewDecoder(bytes.NewReader(data))
	tokens.UseNumber()
	for {
		token, err := tokens.Token()
		if err != nil {
			return ""
		}
		if delim, ok := token.(json.Delim); ok && (delim == '}' || delim == ']') {
			open = open[:len(open)-1]
			continue
		}
		if len(open) > 0 {
			top := &open[len(open)-1]
			if name, ok := token.(string); ok && top.names != nil && !top.value {
				if top.names[name] {
					return "repeated member"
				}
				top.names[name], top.value = true, true
				continue
			}
			top.value = false
		}
		switch token := token.(type) {
		case json.Number:
			if len(token) > strictjson.MaxNumber {
				return "long number"
			}
		case json.Delim:
			next := level{}
			if token == '{' {
				next.names = map[string]bool{}
			}
			if open = append(open, next); len(open) > strictjson.MaxDepth {
				return "too deep"
			}
		}
	}
}

// memberValue returns a member as encoding/json decodes it with UseNumber.
func memberValue(t testing.TB, o *strictjson.Object, m market.JSONMember) any {
	switch m.Kind {
	case market.JSONNull:
		return nil
	case market.JSONBoolean:
		return string(m.Text) == "true"
	case market.JSONNumber:
		return json.Number(m.Text)
	case market.JSONString:
		return string(m.Text)
	case market.JSONObject:
		var sub strictjson.Object
		if !o.ParseMember(m, &sub) {
			t.Fatalf("a checked object cannot be parsed: %q", m.Text)
		}
		return objectValue(t, &sub)
	case market.JSONArray:
		return decode(t, m.Text)
	}
	t.Fatalf("member %q has the unknown kind %d", m.Name, m.Kind)
	return nil
}

func objectValue(t testing.TB, o *strictjson.Object) map[string]any {
	result := map[string]any{}
	for _, m := range o.Members() {
		result[string(m.Name)] = memberValue(t, o, m)
	}
	return result
}

func decode(t testing.TB, data []byte) (v any) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if err := decoder.Decode(&v); err != nil {
		t.Fatalf("encoding/json cannot decode %q: %v", data, err)
	}
	return v
}

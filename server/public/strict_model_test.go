package public

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// escapes finds what a backslash begins; half a surrogate pair is in the group.
var escapes = regexp.MustCompile(`\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\.`)

// strictly reads one JSON object by the contract: what encoding/json takes, less
// what is said twice, nested over 32 deep, no UTF-8, half a character, or a number
// of more than 128 bytes. Why is empty where it is taken. With folds, names that
// differ in case alone are one.
func strictly(body []byte, folds bool) (object map[string]any, why string) {
	switch {
	case !json.Valid(body):
		return nil, "not JSON"
	case !utf8.Valid(body):
		return nil, "bad UTF-8"
	}
	for _, match := range escapes.FindAllSubmatchIndex(body, -1) {
		if match[2] >= 0 {
			return nil, "half a surrogate pair"
		}
	}
	tokens := json.NewDecoder(bytes.NewReader(body))
	tokens.UseNumber()
	s := strictReader{tokens: tokens, folds: folds}
	value := s.value(1)
	object, ok := value.(map[string]any)
	if s.why == "" && !ok {
		s.why = "no object"
	}
	if s.why != "" {
		return nil, s.why
	}
	return object, ""
}

type strictReader struct {
	tokens *json.Decoder
	folds  bool
	why    string
}

func (s *strictReader) refuse(why string) {
	if s.why == "" {
		s.why = why
	}
}

func (s *strictReader) next() json.Token {
	token, err := s.tokens.Token()
	if err != nil {
		s.refuse(err.Error())
	}
	return token
}

// value reads one, at a depth that it would have as an object.
func (s *strictReader) value(depth int) any {
	token := s.next()
	if s.why != "" {
		return nil
	}
	if number, ok := token.(json.Number); ok && len(number) > 128 {
		s.refuse("a long number")
	}
	delim, ok := token.(json.Delim)
	if !ok {
		return token
	}
	if depth > 32 {
		s.refuse("too deep")
		return nil
	}
	if delim == '[' {
		list := []any{}
		for s.why == "" && s.tokens.More() {
			list = append(list, s.value(depth+1))
		}
		s.next()
		return list
	}
	object := map[string]any{}
	for s.why == "" && s.tokens.More() {
		name, _ := s.next().(string)
		for other := range object {
			if other == name || s.folds && strings.EqualFold(other, name) {
				s.refuse("a member twice")
			}
		}
		object[name] = s.value(depth + 1)
	}
	s.next()
	return object
}

// unseen is what does not count as text.
func unseen(r rune) bool {
	return unicode.IsSpace(r) || strings.ContainsRune("\u180E\u200B\u200C\u200D\u2060\uFEFF", r)
}

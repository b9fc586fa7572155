package public

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// escapes matches escape sequences. Its group matches half a surrogate pair.
var escapes = regexp.MustCompile(`\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\.`)

// parseStrict reads one JSON object by the contract: the rules of encoding/json, without
// duplicate names, nesting over 32 levels, invalid UTF-8, half a surrogate pair, or
// numbers over 128 bytes. why is the error, or empty. If folds is true, names that differ
// only in case are duplicates.
func parseStrict(body []byte, folds bool) (object map[string]any, why string) {
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
	value := s.parseValue(1)
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

func (s *strictReader) reject(why string) {
	if s.why == "" {
		s.why = why
	}
}

func (s *strictReader) next() json.Token {
	token, err := s.tokens.Token()
	if err != nil {
		s.reject(err.Error())
	}
	return token
}

// parseValue reads a value at this depth.
func (s *strictReader) parseValue(depth int) any {
	token := s.next()
	if s.why != "" {
		return nil
	}
	if number, ok := token.(json.Number); ok && len(number) > 128 {
		s.reject("a long number")
	}
	delim, ok := token.(json.Delim)
	if !ok {
		return token
	}
	if depth > 32 {
		s.reject("too deep")
		return nil
	}
	if delim == '[' {
		list := []any{}
		for s.why == "" && s.tokens.More() {
			list = append(list, s.parseValue(depth+1))
		}
		s.next()
		return list
	}
	object := map[string]any{}
	for s.why == "" && s.tokens.More() {
		name, _ := s.next().(string)
		for other := range object {
			if other == name || s.folds && strings.EqualFold(other, name) {
				s.reject("a duplicate member")
			}
		}
		object[name] = s.parseValue(depth + 1)
	}
	s.next()
	return object
}

// isInvisible reports whether a character does not count as text.
func isInvisible(r rune) bool {
	return unicode.IsSpace(r) || strings.ContainsRune("\u180E\u200B\u200C\u200D\u2060\uFEFF", r)
}

package config

import (
	"cmp"
	"errors"
	"regexp"
	"strings"
)

var (
	errUnclosed = errors.New("${ has no closing brace; write $${ where a plain ${ is meant")
	errVariable = errors.New("between ${ and } stands no variable's name (letters, digits and _, not beginning with a digit); write $${ where a plain ${ is meant")
)

// expand replaces each ${NAME} of a scalar by the variable's value, and $${ by
// a plain ${. What a variable holds is not looked at again. The error names the
// variable, never a value.
func expand(text string, env func(string) (string, bool)) (out string, expanded bool, err error) {
	if !strings.Contains(text, "${") {
		return text, false, nil
	}
	var b strings.Builder
	var lacking missingVariable
	for text != "" {
		switch {
		case strings.HasPrefix(text, "$${"):
			b.WriteString("${")
			text = text[3:]
		case strings.HasPrefix(text, "${"):
			name, rest, closed := strings.Cut(text[2:], "}")
			if !closed {
				return "", false, errUnclosed
			}
			if !variableName(name) {
				return "", false, errVariable
			}
			value, ok := env(name)
			if !ok {
				lacking = cmp.Or(lacking, missingVariable(name))
			}
			b.WriteString(value)
			text, expanded = rest, true
		default:
			next := strings.IndexByte(text[1:], '$') + 1
			if next == 0 {
				next = len(text)
			}
			b.WriteString(text[:next])
			text = text[next:]
		}
	}
	if lacking != "" {
		return "", true, lacking
	}
	return b.String(), expanded, nil
}

// missingVariable is a variable that the environment lacks.
type missingVariable string

func (name missingVariable) Error() string {
	return "the environment has no variable " + string(name) + "; set it before starting, or write the value here"
}

// onlyVariable is the name of the variable that a text consists of, or empty.
func onlyVariable(raw string) string {
	if reference.FindString(raw) != raw || raw == "" {
		return ""
	}
	return raw[2 : len(raw)-1]
}

func variableName(s string) bool {
	for i := range len(s) {
		c := s[i] | 0x20
		if !('a' <= c && c <= 'z' || s[i] == '_' || i > 0 && '0' <= s[i] && s[i] <= '9') {
			return false
		}
	}
	return s != ""
}

// A brace inside a flow mapping ends a plain scalar, so that the YAML grammar
// has no room for {password: ${NAME}}. The braces of a reference are therefore
// hidden from the parser behind two characters that no text may hold, one for
// one, so that positions stay, and put back into each scalar. Only the braces
// are touched: the value of a variable never meets the parser.
const (
	hiddenOpen  = '\uFDD0'
	hiddenClose = '\uFDD1'
)

var reference = regexp.MustCompile(`\$\{[A-Za-z_][A-Za-z0-9_]*\}`)

func hideReferences(text string) string {
	return reference.ReplaceAllStringFunc(text, func(ref string) string {
		return "$" + string(hiddenOpen) + ref[2:len(ref)-1] + string(hiddenClose)
	})
}

var unhide = strings.NewReplacer(string(hiddenOpen), "{", string(hiddenClose), "}")

func showReferences(text string) string { return unhide.Replace(text) }

// hasHidden tells whether the text holds the characters kept for hiding.
func hasHidden(text string) bool {
	return strings.ContainsRune(text, hiddenOpen) || strings.ContainsRune(text, hiddenClose)
}

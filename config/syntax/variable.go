package syntax

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

// Expand replaces each ${NAME} of a scalar by the variable's value, and $${ by
// a plain ${. What a variable holds is not looked at again. The error names the
// variable, never a value.
func Expand(text string, env func(string) (string, bool)) (out string, expanded bool, err error) {
	if !strings.Contains(text, "${") {
		return text, false, nil
	}
	var b strings.Builder
	var lacking UnsetVariableError
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
			if !IsVariableName(name) {
				return "", false, errVariable
			}
			value, ok := env(name)
			if !ok {
				lacking = cmp.Or(lacking, UnsetVariableError(name))
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

// UnsetVariableError is a variable that the environment lacks.
type UnsetVariableError string

func (name UnsetVariableError) Error() string {
	return "the environment has no variable " + string(name) + "; set it before starting, or write the value here"
}

// SoleVariable is the name of the variable that a text consists of, or empty.
func SoleVariable(raw string) string {
	if VariableReference.FindString(raw) != raw || raw == "" {
		return ""
	}
	return raw[2 : len(raw)-1]
}

func IsVariableName(s string) bool {
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
	HiddenOpen  = '\uFDD0'
	HiddenClose = '\uFDD1'
)

var VariableReference = regexp.MustCompile(`\$\{[A-Za-z_][A-Za-z0-9_]*\}`)

func hideBraces(text string) string {
	return VariableReference.ReplaceAllStringFunc(text, func(ref string) string {
		return "$" + string(HiddenOpen) + ref[2:len(ref)-1] + string(HiddenClose)
	})
}

var unhide = strings.NewReplacer(string(HiddenOpen), "{", string(HiddenClose), "}")

func RestoreBraces(text string) string { return unhide.Replace(text) }

// hasHiddenBraces tells whether the text holds the characters kept for hiding.
func hasHiddenBraces(text string) bool {
	return strings.ContainsRune(text, HiddenOpen) || strings.ContainsRune(text, HiddenClose)
}

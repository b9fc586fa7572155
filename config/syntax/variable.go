package syntax

import (
	"cmp"
	"errors"
	"regexp"
	"strings"
)

var (
	errUnclosed = errors.New("${ has no closing brace; write $${ for a plain ${")
	errVariable = errors.New("the text between ${ and } is not a variable's name (letters, digits and _, not beginning with a digit); write $${ for a plain ${")
)

// ExpandVariables returns the text with each ${NAME} replaced by the variable's value, and
// each $${ by a plain ${. It does not expand the values again. hasVariable reports that the text
// has a variable. The error for an unset variable names it. No error contains a value.
func ExpandVariables(text string, env func(string) (string, bool)) (expandedText string, hasVariable bool, err error) {
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
			text, hasVariable = rest, true
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
	return b.String(), hasVariable, nil
}

// UnsetVariableError is the error for a variable, named by it, that the environment does not
// have.
type UnsetVariableError string

func (name UnsetVariableError) Error() string {
	return "the environment has no variable " + string(name) + "; set it before starting, or write the value here"
}

// SoleVariableName returns the variable's name if the text consists of exactly one ${NAME},
// otherwise "".
func SoleVariableName(raw string) string {
	if VariableReference.FindString(raw) != raw || raw == "" {
		return ""
	}
	return raw[2 : len(raw)-1]
}

// IsVariableName reports whether the text is a valid name of a variable.
func IsVariableName(s string) bool {
	for i := range len(s) {
		c := s[i] | 0x20
		if !('a' <= c && c <= 'z' || s[i] == '_' || i > 0 && '0' <= s[i] && s[i] <= '9') {
			return false
		}
	}
	return s != ""
}

// A brace inside a flow mapping ends a plain scalar, so YAML cannot parse
// {password: ${NAME}}. The reader therefore replaces the braces of a reference by two
// characters that no text may contain, and restores them in each scalar. Each brace
// becomes one character, so positions stay the same. The parser never sees the value of
// a variable.
const (
	EscapedOpenBrace  = '\uFDD0'
	EscapedCloseBrace = '\uFDD1'
)

// VariableReference matches one ${NAME}.
var VariableReference = regexp.MustCompile(`\$\{[A-Za-z_][A-Za-z0-9_]*\}`)

// escapeVariableBracesForYAML replaces the braces of each ${NAME} by the characters EscapedOpenBrace and
// EscapedCloseBrace, so that the YAML parser does not take them for a mapping.
func escapeVariableBracesForYAML(text string) string {
	return VariableReference.ReplaceAllStringFunc(text, func(ref string) string {
		return "$" + string(EscapedOpenBrace) + ref[2:len(ref)-1] + string(EscapedCloseBrace)
	})
}

var unescapeBraces = strings.NewReplacer(string(EscapedOpenBrace), "{", string(EscapedCloseBrace), "}")

// RestoreVariableBraces turns the characters that escapeVariableBracesForYAML has put in back into braces.
func RestoreVariableBraces(text string) string { return unescapeBraces.Replace(text) }

// hasEscapedBraces reports whether the text contains EscapedOpenBrace or EscapedCloseBrace, the characters
// with which escapeVariableBracesForYAML replaces braces.
func hasEscapedBraces(text string) bool {
	return strings.ContainsRune(text, EscapedOpenBrace) || strings.ContainsRune(text, EscapedCloseBrace)
}

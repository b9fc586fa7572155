package adapter

import "errors"

var errJSONRun = errors.New("a value touches the text before or after it; put a comma, a colon or quotes between them")

// contextAfterJSON returns the escaping context after a piece of the operator's JSON text, which begins
// in context c. It is not a parser: Check tests with samples that the whole body is JSON. It
// ensures that a value is inserted only inside a string, or after an opening bracket, a comma or
// a colon, and that the value does not join its neighbours.
func (c escapeContext) contextAfterJSON(text []byte) (escapeContext, error) {
	digits := 0 // offset of the digits of the last \u
	for i, b := range text {
		switch c {
		case jsonEscape:
			if c = jsonText; b == 'u' {
				digits = i + 1
			}
			continue
		case jsonText:
			switch b {
			case '\\':
				c = jsonEscape
			case '"':
				c = jsonDone
			}
			continue
		}
		switch b {
		case ' ', '\t', '\r', '\n':
			if c == jsonWord {
				c = jsonDone
			}
		case '{', '[', ',', ':':
			c = jsonValue
		case '}', ']':
			c = jsonDone
		default:
			if c == jsonDone {
				return 0, errJSONRun
			}
			c = jsonWord
			if b == '"' {
				c = jsonText
			}
		}
	}
	if c == jsonText && digits > 0 && digits+4 > len(text) {
		c = jsonEscape // a value could be the rest of it
	}
	return c, nil
}

// mergeBranchContexts returns the context after an if whose two branches ended in the contexts c and
// otherBranch. possible is false if no text could follow both. If only one branch ended with a value, a
// comma or a bracket must follow.
func (c escapeContext) mergeBranchContexts(otherBranch escapeContext) (merged escapeContext, possible bool) {
	switch {
	case c == otherBranch:
		return c, true
	case c.isInJSONOutsideString() && otherBranch.isInJSONOutsideString():
		return jsonDone, true
	}
	return 0, false
}

// isInJSONOutsideString reports whether the context is in JSON and not inside a string.
func (c escapeContext) isInJSONOutsideString() bool {
	return c == jsonValue || c == jsonWord || c == jsonDone
}

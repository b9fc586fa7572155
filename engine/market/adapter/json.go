package adapter

import "errors"

var errJSONRun = errors.New("a value runs into what stands beside it; put a comma, a colon or quotes between them")

// afterJSON follows the author's text from one byte to the next. It is not a parser: Check
// tests with samples that the whole is JSON. It does ensure that a value is where JSON
// allows one, and does not join its neighbours.
func (c context) afterJSON(text []byte) (context, error) {
	digits := 0 // where those of the last \u begin
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

// join returns the context after an if whose branches ended in c and other. If one of them
// ended with a value and the other did not, only a comma or a bracket may follow.
func (c context) join(other context) (context, bool) {
	switch {
	case c == other:
		return c, true
	case c.outsideJSONText() && other.outsideJSONText():
		return jsonDone, true
	}
	return 0, false
}

func (c context) outsideJSONText() bool { return c == jsonValue || c == jsonWord || c == jsonDone }

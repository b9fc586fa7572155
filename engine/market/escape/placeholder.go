package escape

import (
	"bytes"
	"strings"
)

// A placeholder stands for a secret in the catalog and in logged text: the body of
// a post, an address, a dialect's headers. The secret takes its place when the text
// is sent, and only there. So a rotated secret applies to the next try of a logged
// post, and the log never holds a secret.
//
// A placeholder begins and ends with placeholderMark. Between the two marks are one
// byte for the way the secret is escaped, and the secret's name.
//
// A lead cannot write a placeholder: each escape of AppendJSONString, appendFormText
// and appendXMLText replaces the mark. An author cannot write one either: a template
// with a mark is refused, and so are addresses and headers with control characters.
const placeholderMark = 0x1a // SUB, "substitute"

// Escape is how a secret is written in the place of its placeholder. Values are in
// the log and never change.
type Kind byte

// The escapes.
const (
	None Kind = 'r' // as it is: a header's value, a variable in an address
	JSON Kind = 'j' // inside the quotes of a JSON string
	Form Kind = 'f' // in a form
	URL  Kind = 'u' // in the path or query of an address
	XML  Kind = 'x' // in text and attributes
	Base Kind = 'b' // as it is, without slashes at its end: a variable that a path follows
)

// AppendPlaceholder appends a placeholder for the named secret.
func AppendPlaceholder(dst []byte, how Kind, name string) []byte {
	return append(append(append(dst, placeholderMark, byte(how)), name...), placeholderMark)
}

// HasPlaceholder reports whether the text holds a placeholder.
func HasPlaceholder[T string | []byte](text T) bool {
	for i := range len(text) {
		if text[i] == placeholderMark {
			return true
		}
	}
	return false
}

// AppendResolved appends the text with each placeholder replaced by its secret. It is
// not ok where a secret has no value, cannot stand in its place, or a placeholder is
// damaged; then dst is as it was.
func AppendResolved(dst, text []byte, secrets func(name string) (string, bool)) (resolved []byte, ok bool) {
	start := len(dst)
	for {
		before, rest, found := bytes.Cut(text, []byte{placeholderMark})
		dst = append(dst, before...)
		if !found {
			return dst, true
		}
		inside, after, closed := bytes.Cut(rest, []byte{placeholderMark})
		if !closed || len(inside) < 2 {
			return dst[:start], false
		}
		secret, known := secrets(string(inside[1:]))
		if !known || secret == "" {
			return dst[:start], false
		}
		if dst, ok = Kind(inside[0]).append(dst, secret); !ok {
			return dst[:start], false
		}
		text = after
	}
}

// append writes a secret by the rule of its place.
func (e Kind) append(dst []byte, secret string) ([]byte, bool) {
	switch e {
	case None:
		return append(dst, secret...), isVisibleLine(secret)
	case Base:
		return append(dst, strings.TrimRight(secret, "/")...), isVisibleLine(secret)
	case JSON:
		return AppendJSONText(dst, []byte(secret)), true
	case Form:
		return AppendFormText(dst, []byte(secret)), true
	case URL:
		return append(dst, bytes.ReplaceAll(AppendFormText(nil, []byte(secret)), []byte("+"), []byte("%20"))...), true
	case XML:
		return AppendXMLText(dst, []byte(secret)), true
	}
	return dst, false
}

// isVisibleLine reports whether the text is printable ASCII: nothing in it ends a
// header or a request line.
func isVisibleLine(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}

// ShowPlaceholders writes placeholders as an author writes them: ${NAME} for a
// variable of the environment, {{secret "name"}} for a named secret.
func ShowPlaceholders(text string) string {
	if !HasPlaceholder(text) {
		return text
	}
	var b strings.Builder
	for i, part := range strings.Split(text, string(rune(placeholderMark))) {
		name := part[strings.LastIndexByte(part, '/')+1:]
		switch {
		case i%2 == 0:
			b.WriteString(part)
		case strings.Contains(part, VariablePart):
			b.WriteString("${" + name + "}")
		default:
			b.WriteString(`{{secret "` + name + `"}}`)
		}
	}
	return b.String()
}

// VariablePart is in the name of a sealed value that a variable of the environment
// gave: buyer/<id>/variable/<NAME>.
const VariablePart = "/variable/"

// TrimSlash removes slashes at the end of an address, and those that a variable at its
// end would bring.
func TrimSlash(address string) string {
	address = strings.TrimRight(address, "/")
	rest, ends := strings.CutSuffix(address, string(rune(placeholderMark)))
	if at := strings.LastIndexByte(rest, placeholderMark); ends && at >= 0 && at+1 < len(rest) && Kind(rest[at+1]) == None {
		return rest[:at+1] + string(Base) + rest[at+2:] + string(rune(placeholderMark))
	}
	return address
}

package escape

import (
	"bytes"
	"strings"
)

// placeholderMark is the character that begins and ends a placeholder for a secret. Between the
// two marks are one byte, the SecretEscaping, and the secret's name.
//
// A placeholder replaces a secret in the catalog and in logged text: the body of a post, an
// address, an adapter protocol's headers. The program inserts the secret only when it sends the text. So a
// rotated secret applies to the next attempt of a logged post, and the log never contains a
// secret.
//
// A lead cannot write a placeholder, because AppendJSONString, AppendFormEscaped and AppendXMLEscaped
// escape or replace the mark. An operator cannot write one either: templates with a mark are
// rejected, and so are addresses and headers with control characters.
const placeholderMark = 0x1a // SUB, "substitute"

// SecretEscaping says how a secret is escaped when it replaces its placeholder. The values are in the
// log and never change.
type SecretEscaping byte

// The escaping rules.
const (
	None    SecretEscaping = 'r' // unescaped: a header's value, a variable in an address
	JSON    SecretEscaping = 'j' // inside the quotes of a JSON string
	Form    SecretEscaping = 'f' // in a form
	URL     SecretEscaping = 'u' // in the path or query of an address
	XML     SecretEscaping = 'x' // in text and attributes
	BaseURL SecretEscaping = 'b' // unescaped, without trailing slashes: a variable before a path
)

// AppendSecretPlaceholder appends a placeholder for the secret of this name. escaping is the
// escaping for the secret.
func AppendSecretPlaceholder(dst []byte, escaping SecretEscaping, secretName string) []byte {
	return append(append(append(dst, placeholderMark, byte(escaping)), secretName...), placeholderMark)
}

// HasSecretPlaceholder reports whether the text contains a placeholder for a secret, or a part of one.
func HasSecretPlaceholder[T string | []byte](text T) bool {
	for i := range len(text) {
		if text[i] == placeholderMark {
			return true
		}
	}
	return false
}

// AppendWithSecretsInserted appends the text with each placeholder replaced by its secret, which
// secretByName returns by name. It returns dst unchanged and false if a secret has no value or
// invalid characters, or if a placeholder is damaged.
func AppendWithSecretsInserted(dst, text []byte, secretByName func(name string) (string, bool)) (resolved []byte, ok bool) {
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
		secret, known := secretByName(string(inside[1:]))
		if !known || secret == "" {
			return dst[:start], false
		}
		if dst, ok = SecretEscaping(inside[0]).appendEscapedSecret(dst, secret); !ok {
			return dst[:start], false
		}
		text = after
	}
}

// appendEscapedSecret appends a secret with this escaping. It returns false if the secret has
// characters that cannot be sent there.
func (e SecretEscaping) appendEscapedSecret(dst []byte, secret string) (grown []byte, ok bool) {
	switch e {
	case None:
		return append(dst, secret...), isPrintableASCII(secret)
	case BaseURL:
		return append(dst, strings.TrimRight(secret, "/")...), isPrintableASCII(secret)
	case JSON:
		return AppendJSONEscapedWithoutQuotes(dst, []byte(secret)), true
	case Form:
		return AppendFormEscaped(dst, []byte(secret)), true
	case URL:
		return append(dst, bytes.ReplaceAll(AppendFormEscaped(nil, []byte(secret)), []byte("+"), []byte("%20"))...), true
	case XML:
		return AppendXMLEscaped(dst, []byte(secret)), true
	}
	return dst, false
}

// isPrintableASCII reports whether the text is printable ASCII. Such a text cannot end a header
// or a request line.
func isPrintableASCII(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}

// RewritePlaceholdersForDisplay returns the text for display, with each placeholder as the operator has
// written it in the configuration: ${NAME} for an environment variable, {{secret "name"}} for a
// named secret.
func RewritePlaceholdersForDisplay(text string) string {
	if !HasSecretPlaceholder(text) {
		return text
	}
	var b strings.Builder
	for i, part := range strings.Split(text, string(rune(placeholderMark))) {
		name := part[strings.LastIndexByte(part, '/')+1:]
		switch {
		case i%2 == 0:
			b.WriteString(part)
		case IsVariableName(part):
			b.WriteString("${" + name + "}")
		default:
			b.WriteString(`{{secret "` + name + `"}}`)
		}
	}
	return b.String()
}

// VariablePart is the part of a secret's name that marks the value of an environment variable. The
// full name is buyer/<id>/variable/<NAME>, or the same with supplier.
const VariablePart = "/variable/"

// IsVariableName reports whether a secret of this name is the value of an environment variable.
// VariablePart must follow the id. The id itself may be the word "variable".
func IsVariableName(secretName string) bool {
	_, idAndRest, _ := strings.Cut(secretName, "/")
	_, rest, _ := strings.Cut(idAndRest, "/")
	return strings.HasPrefix("/"+rest, VariablePart)
}

// TrimSlashesOfAddressAndVariable returns the address without slashes at its end. If the address ends with a
// variable, the slashes at the end of the variable's value are removed on sending.
func TrimSlashesOfAddressAndVariable(address string) string {
	address = strings.TrimRight(address, "/")
	rest, ends := strings.CutSuffix(address, string(rune(placeholderMark)))
	if at := strings.LastIndexByte(rest, placeholderMark); ends && at >= 0 && at+1 < len(rest) && SecretEscaping(rest[at+1]) == None {
		return rest[:at+1] + string(BaseURL) + rest[at+2:] + string(rune(placeholderMark))
	}
	return address
}

package adapter

import (
	"errors"

	"pingpost/engine/market/escape"
	"pingpost/engine/market/format"
)

// checkFormTextIsEscaped returns an error if the operator's text has characters that a form must escape.
func checkFormTextIsEscaped(text []byte) error {
	for i, b := range text {
		switch {
		case escape.IsAllowedUnescapedInForm(b), b == '=', b == '&', b == '+', b == '*', b == '[', b == ']':
		case b == '%' && i+2 < len(text) && isHexDigit(text[i+1]) && isHexDigit(text[i+2]):
		default:
			return errors.New("a form is name=value pairs with & between; write a space as + and other characters as %XX")
		}
	}
	return nil
}

func isHexDigit(b byte) bool { return format.IsDigit(b) || 'a' <= b|0x20 && b|0x20 <= 'f' }

package escape

import "pingpost/engine/market/format"

// AppendFormEscaped appends a name or a value of a form, escaped as
// application/x-www-form-urlencoded.
func AppendFormEscaped(dst, text []byte) []byte {
	const digits = "0123456789ABCDEF"
	for _, b := range text {
		switch {
		case IsAllowedUnescapedInForm(b):
			dst = append(dst, b)
		case b == ' ':
			dst = append(dst, '+')
		default:
			dst = append(dst, '%', digits[b>>4], digits[b&15])
		}
	}
	return dst
}

// IsAllowedUnescapedInForm reports whether a form may contain the byte without escaping.
func IsAllowedUnescapedInForm(b byte) bool {
	return 'a' <= b|0x20 && b|0x20 <= 'z' || format.IsDigit(b) || b == '-' || b == '.' || b == '_' || b == '~'
}

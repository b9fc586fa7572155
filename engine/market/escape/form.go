package escape

import "pingpost/engine/market/format"

// AppendFormText appends a name or a value of a form, escaped as
// application/x-www-form-urlencoded.
func AppendFormText(dst, text []byte) []byte {
	const digits = "0123456789ABCDEF"
	for _, b := range text {
		switch {
		case IsFormSafe(b):
			dst = append(dst, b)
		case b == ' ':
			dst = append(dst, '+')
		default:
			dst = append(dst, '%', digits[b>>4], digits[b&15])
		}
	}
	return dst
}

// IsFormSafe reports whether a form may contain the byte without escaping.
func IsFormSafe(b byte) bool {
	return 'a' <= b|0x20 && b|0x20 <= 'z' || format.IsDigit(b) || b == '-' || b == '.' || b == '_' || b == '~'
}

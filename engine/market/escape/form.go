package escape

import "pingpost/engine/market/format"

// appendFormText appends a name or a value as application/x-www-form-urlencoded
// has it.
func AppendFormText(dst, text []byte) []byte {
	const digits = "0123456789ABCDEF"
	for _, b := range text {
		switch {
		case IsFormLetter(b):
			dst = append(dst, b)
		case b == ' ':
			dst = append(dst, '+')
		default:
			dst = append(dst, '%', digits[b>>4], digits[b&15])
		}
	}
	return dst
}

func IsFormLetter(b byte) bool {
	return 'a' <= b|0x20 && b|0x20 <= 'z' || format.IsDigit(b) || b == '-' || b == '.' || b == '_' || b == '~'
}

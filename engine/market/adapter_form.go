package market

import "errors"

// appendFormText appends a name or a value as application/x-www-form-urlencoded
// has it.
func appendFormText(dst, text []byte) []byte {
	const digits = "0123456789ABCDEF"
	for _, b := range text {
		switch {
		case isFormLetter(b):
			dst = append(dst, b)
		case b == ' ':
			dst = append(dst, '+')
		default:
			dst = append(dst, '%', digits[b>>4], digits[b&15])
		}
	}
	return dst
}

func isFormLetter(b byte) bool {
	return 'a' <= b|0x20 && b|0x20 <= 'z' || isDigit(b) || b == '-' || b == '.' || b == '_' || b == '~'
}

// checkForm judges what the author wrote into a form.
func checkForm(text []byte) error {
	for i, b := range text {
		switch {
		case isFormLetter(b), b == '=', b == '&', b == '+', b == '*', b == '[', b == ']':
		case b == '%' && i+2 < len(text) && isHex(text[i+1]) && isHex(text[i+2]):
		default:
			return errors.New("a form is name=value with & between; write a space as + and other characters as %XX")
		}
	}
	return nil
}

func isHex(b byte) bool { return isDigit(b) || 'a' <= b|0x20 && b|0x20 <= 'f' }

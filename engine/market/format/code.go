package format

// maxReasonCode is the maximum length of a reason code in bytes.
const maxReasonCode = 64

// IsReasonCode reports whether a text has the form of a machine-readable reason or error, such as
// "invalid_zip": lower-case letters, digits, dots, hyphens and underscores after a letter, at most 64
// bytes. A sentence has another form. A person's name in lower case has this form too, so the result
// does not exclude personal data.
func IsReasonCode(text string) bool {
	if len(text) > maxReasonCode || text == "" || text[0] < 'a' || text[0] > 'z' {
		return false
	}
	for i := range len(text) {
		switch c := text[i]; {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '_', c == '.', c == '-':
		default:
			return false
		}
	}
	return true
}

package person

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"pingpost/engine/market/format"
)

const (
	masked         = "***"
	maxMaskedWords = 4
)

// Mask returns a contact value in a form by which an operator can recognize it, and that does not
// reveal it: an e-mail address keeps its first letter and its domain (j***@example.com), a phone
// number its last four digits (***-***-0142), and other words their first letter (J*** D***). Words
// that begin with a digit, such as a birth date or the number of a house, become ***.
func Mask(value string) string {
	value = strings.TrimSpace(value)
	if value == "" {
		return ""
	}
	if address, ok := format.AppendEmailWithLowerDomain(nil, []byte(value)); ok {
		local, domain, _ := strings.Cut(string(address), "@")
		return firstCharacterIfLetter(local) + masked + "@" + domain
	}
	if phone, ok := format.AppendPhoneAsE164(nil, []byte(value)); ok {
		return masked + "-" + masked + "-" + string(phone[len(phone)-4:])
	}
	words := strings.Fields(value)
	for i := range words {
		words[i] = firstCharacterIfLetter(words[i]) + masked
	}
	return strings.Join(words[:min(len(words), maxMaskedWords)], " ")
}

// MaskForAuditLog returns a phone number or an e-mail address in a form for the audit log. It keeps less than
// Mask, because an erasure does not change the audit log: the domain of an address can be a name.
func MaskForAuditLog(value string) string {
	shown := Mask(value)
	if local, _, isEmail := strings.Cut(shown, "@"); isEmail {
		return local + "@" + masked
	}
	return shown
}

// firstCharacterIfLetter returns the first character of a text if it is a letter, and otherwise an empty text.
func firstCharacterIfLetter(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	if !unicode.IsLetter(first) {
		return ""
	}
	return text[:size]
}

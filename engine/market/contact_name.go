package market

import (
	"unicode"
	"unicode/utf8"
)

// contactNames are further names under which contact details are known to
// travel; a ping must not carry them either.
var contactNames = []string{
	"full_name", "given_name", "family_name", "surname",
	"phone_number", "telephone", "home_phone", "work_phone", "mobile_phone", "cell_phone",
	"email_address",
	"street", "street_address", "street1", "address1", "address_line1",
}

// longestContact bounds a name of a contact field, in bytes, as appendPlain
// writes it: no letter of one grows by that to more than it may have had.
const longestContact = 2 * maxFieldName

// plainName is the one form in which names of contact fields are compared.
func plainName(name string) string { return string(appendPlain(nil, []byte(name))) }

// appendPlain appends a name as a reader would spell it out: its letters and
// digits alone, in lower case and in their plain shape. So firstName,
// "First-Name" and first_name are one, and so are those that only look it: in
// the wide forms of East Asian text, in the alphabets of mathematics, with
// letters of another script, or with what cannot be seen between them. A name
// without letters or digits stays as it is.
//
// It stops where the name can be no contact field's any more, and so is bounded
// whatever it is given. Names that no reader would take for a contact field's
// pass: who wants to smuggle a person needs no look-alikes.
func appendPlain(dst, name []byte) []byte {
	begun := len(dst)
	for rest := name; len(rest) > 0 && len(dst)-begun <= longestContact; {
		r, size := utf8.DecodeRune(rest)
		rest = rest[size:]
		switch r = plainRune(r); {
		case r < utf8.RuneSelf && (r >= 'a' && r <= 'z' || r >= '0' && r <= '9'):
			dst = append(dst, byte(r))
		case r >= utf8.RuneSelf && r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r)):
			dst = utf8.AppendRune(dst, r)
		}
	}
	if len(dst) == begun {
		dst = append(dst, name[:min(len(name), longestContact)]...)
	}
	return dst
}

// plainRune is a letter or digit in lower case and in its plain shape.
func plainRune(r rune) rune {
	switch {
	case r >= '\uff01' && r <= '\uff5e': // wide
		r -= '\uff01' - '!'
	case r >= '\U0001d400' && r <= '\U0001d6a3': // thirteen alphabets, each with its capitals first
		r = 'a' + (r-'\U0001d400')%26
	case r >= '\U0001d7ce' && r <= '\U0001d7ff': // five rows of digits
		r = '0' + (r-'\U0001d7ce')%10
	}
	if r < utf8.RuneSelf {
		if r >= 'A' && r <= 'Z' {
			r |= 0x20
		}
		return r
	}
	r = unicode.ToLower(r)
	if like, ok := lookAlikes[r]; ok {
		return like
	}
	return r
}

// lookAlikes are the letters, in lower case, that are read as Latin ones, be it
// in one case only: a capital Н is no N.
var lookAlikes = map[rune]rune{
	'ı': 'i', 'ſ': 's', 'ɑ': 'a', 'ɡ': 'g', // Latin
	'а': 'a', 'в': 'b', 'с': 'c', 'ԁ': 'd', 'е': 'e', 'һ': 'h', 'н': 'h', 'і': 'i', 'ј': 'j', 'к': 'k', 'ӏ': 'l', // Cyrillic
	'м': 'm', 'о': 'o', 'р': 'p', 'ԛ': 'q', 'ѕ': 's', 'т': 't', 'у': 'y', 'ѵ': 'v', 'ԝ': 'w', 'х': 'x',
	'α': 'a', 'β': 'b', 'ε': 'e', 'η': 'h', 'ι': 'i', 'κ': 'k', 'μ': 'm', 'ν': 'n', 'ο': 'o', 'ρ': 'p', 'τ': 't', 'υ': 'y', 'χ': 'x', // Greek
}

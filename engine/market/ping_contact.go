package market

import (
	"bytes"
	"strconv"
	"unicode"
	"unicode/utf8"

	"pingpost/engine/market/escape"
)

// isContactFieldName reports whether the name is that of a contact field, in any spelling. A ping must
// not have a member of this name.
func (m *FieldMapping) isContactFieldName(memberName []byte) bool {
	var buffer [longestContact + utf8.UTFMax]byte
	_, ok := m.contactNames[string(appendNormalizedContactFieldName(buffer[:0], memberName))]
	return ok
}

// findContactFieldPath searches an unknown member of a ping for contact fields: its own name, and the
// names at every depth of its value. It returns the dotted path of the first one, or an empty
// string.
func (m *FieldMapping) findContactFieldPath(member *JSONMember) (path string) {
	if m.isContactFieldName(member.Name) {
		return ShortenMemberName(member.Name)
	}
	if member.Kind != JSONObject && member.Kind != JSONArray {
		return ""
	}
	s := contactFieldNameSearch{mapping: m, rest: member.Text}
	if s.searchValueForContactField() {
		return ShortenMemberName(member.Name) + s.path
	}
	return ""
}

// contactFieldNameSearch walks the JSON value of a member and searches it for the names of contact fields.
// The parser has checked the grammar and depth before. On unchecked text the search ends at the
// text's end and does not panic.
type contactFieldNameSearch struct {
	mapping *FieldMapping
	rest    []byte
	name    []byte // the last string, unescaped
	path    string // of the found field, built from the inside out
}

// searchValueForContactField skips one JSON value of any type. It reports whether the value contains a
// contact field; if so, path leads to it.
func (s *contactFieldNameSearch) searchValueForContactField() (foundContact bool) {
	s.skipSpace()
	if len(s.rest) == 0 {
		return false
	}
	switch s.rest[0] {
	case '{':
		return s.searchObjectForContactField()
	case '[':
		return s.searchArrayForContactField()
	case '"':
		s.readStringIntoName()
		return false
	}
	end := bytes.IndexAny(s.rest, ",]}")
	if end < 0 {
		end = len(s.rest)
	}
	s.rest = s.rest[end:]
	return false
}

// searchObjectForContactField skips an object. It reports whether a member's name, or a member's value,
// is or contains a contact field.
func (s *contactFieldNameSearch) searchObjectForContactField() (foundContact bool) {
	for s.moveToNextElement('}') {
		name := s.rest
		s.readStringIntoName()
		if s.mapping.isContactFieldName(s.name) {
			s.path = "." + ShortenMemberName(s.name)
			return true
		}
		s.skipSpaceAndColon() // the colon
		if s.searchValueForContactField() {
			s.rest = name
			s.readStringIntoName()
			s.path = "." + ShortenMemberName(s.name) + s.path
			return true
		}
	}
	return false
}

// searchArrayForContactField skips an array, and reports whether an element contains a contact field.
func (s *contactFieldNameSearch) searchArrayForContactField() (foundContact bool) {
	for i := 0; s.moveToNextElement(']'); i++ {
		if s.searchValueForContactField() {
			s.path = "." + strconv.Itoa(i) + s.path
			return true
		}
	}
	return false
}

// moveToNextElement moves to the next element of an object or array. It returns false at the end, after
// skipping the closing bracket.
func (s *contactFieldNameSearch) moveToNextElement(closingBracket byte) (hasElement bool) {
	s.skipSpace()
	if len(s.rest) == 0 {
		return false
	}
	first := s.rest[0]
	s.rest = s.rest[1:]
	if first == closingBracket {
		return false
	}
	s.skipSpace()
	if len(s.rest) > 0 && s.rest[0] == closingBracket {
		s.rest = s.rest[1:]
		return false
	}
	return len(s.rest) > 0
}

func (s *contactFieldNameSearch) skipSpaceAndColon() {
	s.skipSpace()
	if len(s.rest) > 0 {
		s.rest = s.rest[1:]
	}
}

func (s *contactFieldNameSearch) skipSpace() { s.rest = bytes.TrimLeft(s.rest, " \t\r\n") }

// readStringIntoName skips a JSON string, and stores its unescaped characters in s.name.
func (s *contactFieldNameSearch) readStringIntoName() {
	end := 1
	for end < len(s.rest) && s.rest[end] != '"' {
		if s.rest[end] == '\\' {
			end++
		}
		end++
	}
	end = min(end, len(s.rest))
	s.name = escape.AppendJSONUnescaped(s.name[:0], s.rest[min(1, end):end])
	s.rest = s.rest[min(end+1, len(s.rest)):]
}

// extraContactFieldNames are common names of contact details beyond the known fields. A ping must not
// have members of these names either. The list has only names that mean a person's name, phone number,
// e-mail address or street in every form: a name such as "name" or "address" can mean something else,
// and `mobile` a device, and a supplier's ping with them must pass. docs/supplier.md and
// api/openapi.yaml show the list.
var extraContactFieldNames = []string{
	"full_name", "given_name", "family_name", "surname", "fname", "lname", "contact_name", "customer_name",
	"phone_number", "telephone", "home_phone", "work_phone",
	"mobile_phone", "mobile_number", "cell_phone", "cell_number",
	"email_address",
	"street", "street_address", "street1", "street2", "address1", "address2", "address_line1", "address_line2",
}

// longestContact is the maximum length in bytes of a contact field's normalized name. No letter
// of a configured name grows to more than twice its size.
const longestContact = 2 * maxFieldName

// normalizeContactFieldName returns the name in the form in which contact names are compared: lower-case
// letters and digits alone. See appendNormalizedContactFieldName.
func normalizeContactFieldName(name string) string {
	return string(appendNormalizedContactFieldName(nil, []byte(name)))
}

// appendNormalizedContactFieldName appends a name in the form in which contact names are compared: its
// letters and digits alone, in lower case and in their plain shape. So firstName, "First-Name"
// and first_name are equal. Names that only look alike are equal too: in the wide forms of East
// Asian text, in mathematical alphabets, with letters of another script, or with invisible
// characters. A name without letters or digits stays unchanged.
//
// It stops once the name is too long for a contact field, so its work is bounded. Names that do
// not look like a contact field pass: a supplier that wants to smuggle personal data needs no
// look-alikes.
func appendNormalizedContactFieldName(dst, name []byte) []byte {
	begun := len(dst)
	for rest := name; len(rest) > 0 && len(dst)-begun <= longestContact; {
		r, size := utf8.DecodeRune(rest)
		rest = rest[size:]
		switch r = foldCaseAndLookAlike(r); {
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

// foldCaseAndLookAlike returns a letter or digit in lower case and in its plain shape. A wide,
// mathematical or look-alike character becomes the Latin letter or digit that it resembles.
func foldCaseAndLookAlike(r rune) rune {
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

// lookAlikes maps lower-case letters to the Latin letters that they resemble. A letter is listed
// even if it resembles the Latin letter in one case only: a capital Н is not an N.
var lookAlikes = map[rune]rune{
	'ı': 'i', 'ſ': 's', 'ɑ': 'a', 'ɡ': 'g', // Latin
	'а': 'a', 'в': 'b', 'с': 'c', 'ԁ': 'd', 'е': 'e', 'һ': 'h', 'н': 'h', 'і': 'i', 'ј': 'j', 'к': 'k', 'ӏ': 'l', // Cyrillic
	'м': 'm', 'о': 'o', 'р': 'p', 'ԛ': 'q', 'ѕ': 's', 'т': 't', 'у': 'y', 'ѵ': 'v', 'ԝ': 'w', 'х': 'x',
	'α': 'a', 'β': 'b', 'ε': 'e', 'η': 'h', 'ι': 'i', 'κ': 'k', 'μ': 'm', 'ν': 'n', 'ο': 'o', 'ρ': 'p', 'τ': 't', 'υ': 'y', 'χ': 'x', // Greek
}

package format

import "github.com/nyaruka/phonenumbers"

// Phone numbers have two parsers. Nearly all numbers are North American, in an area code
// whose exchanges are all in use: a table checks them without allocation. libphonenumber
// checks the rest: other countries, partly assigned area codes, and invalid numbers. It is
// also the reference in the tests. So the table may be out of date: a missing area code
// costs time, not a lead.
//
// Rejected: libphonenumber for all. It runs regular expressions over each
// country of +1 and takes about 40 µs per number.
const (
	maxPhoneText   = 64 // bytes as they arrive
	maxPhoneDigits = 15 // E.164
	NationalDigits = 10 // area code, exchange, line
)

// AppendPhoneAsE164 appends the phone number to dst in E.164 form, such as +12025550143. ok reports
// whether the number can exist. It accepts ASCII digits, spaces, ( ) - . and a + before all
// digits. A number without + is North American: ten digits, or eleven that begin with 1. Numbers
// for fiction, 555-0100 to 555-0199 in any area code, are accepted.
func AppendPhoneAsE164(dst, phone []byte) (out []byte, ok bool) {
	var text [maxPhoneDigits]byte
	digits, international, ok := extractPhoneDigits(text[:0], phone)
	if !ok {
		return dst, false
	}
	if len(digits) == NationalDigits+1 && digits[0] == '1' {
		return appendNorthAmericanE164(dst, digits[1:])
	}
	if international {
		return appendE164ByLibphonenumber(dst, digits)
	}
	if len(digits) == NationalDigits {
		return appendNorthAmericanE164(dst, digits)
	}
	return dst, false
}

// extractPhoneDigits appends the digits of phone to dst. international is true if a plus precedes
// them. ok is false if phone has other characters than a phone number, no digits, or too many.
func extractPhoneDigits(dst, phone []byte) (digits []byte, international, ok bool) {
	if len(phone) > maxPhoneText {
		return nil, false, false
	}
	begun := false // something other than a space was seen
	for _, c := range phone {
		switch {
		case IsDigit(c):
			if len(dst) == maxPhoneDigits {
				return nil, false, false
			}
			dst = append(dst, c)
		case c == ' ':
			continue
		case c == '+' && !begun:
			international = true
		case c == '(' || c == ')' || c == '-' || c == '.':
		default:
			return nil, false, false
		}
		begun = true
	}
	return dst, international, len(dst) > 0
}

// appendNorthAmericanE164 checks a North American number of ten digits and appends it in E.164
// form. It uses the table of area codes; numbers that the table does not cover go to
// libphonenumber.
func appendNorthAmericanE164(dst, tenDigits []byte) (out []byte, ok bool) {
	area, exchange := tenDigits[:3], tenDigits[3:6]
	fictional := area[0] >= '2' && string(exchange) == "555" && tenDigits[6] == '0' && tenDigits[7] == '1'
	if !fictional && (exchange[0] < '2' || !fullyAssignedAreas.has(area)) {
		var number [NationalDigits + 1]byte
		number[0] = '1'
		copy(number[1:], tenDigits)
		return appendE164ByLibphonenumber(dst, number[:])
	}
	dst = append(dst, '+', '1')
	return append(dst, tenDigits...), true
}

// appendE164ByLibphonenumber checks digits that begin with a country code, in libphonenumber. It
// appends the number in E.164 form.
func appendE164ByLibphonenumber(dst, digitsWithCountryCode []byte) (out []byte, ok bool) {
	defer func() {
		if recover() != nil { // a panic of the library on a request's text must not end the process
			out, ok = dst, false
		}
	}()
	number, err := phonenumbers.Parse("+"+string(digitsWithCountryCode), "")
	if err != nil || !phonenumbers.IsValidNumber(number) {
		return dst, false
	}
	return append(dst, phonenumbers.Format(number, phonenumbers.E164)...), true
}

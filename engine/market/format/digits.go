package format

// ZIPPrefix3 returns the first three digits of a ZIP code, which may have five digits, the form
// ZIP+4, or three digits alone. It returns nil for any other text.
func ZIPPrefix3(zip []byte) (prefixOrNil []byte) {
	if !IsZIP5OrZIPPlus4(zip) && !IsZIP3(zip) {
		return nil
	}
	return zip[:3]
}

// IsZIP5OrZIPPlus4 reports whether the text is a ZIP code of five digits or in the form ZIP+4
// (94107-1234).
func IsZIP5OrZIPPlus4(text []byte) bool {
	switch len(text) {
	case 5:
		return allDigits(text)
	case 10:
		return allDigits(text[:5]) && text[5] == '-' && allDigits(text[6:])
	}
	return false
}

// IsZIP3 reports whether the text is the first three digits of a ZIP code.
func IsZIP3(text []byte) bool { return len(text) == 3 && allDigits(text) }

func allDigits(text []byte) bool {
	for _, c := range text {
		if !IsDigit(c) {
			return false
		}
	}
	return true
}

// IsDigit reports whether c is an ASCII digit.
func IsDigit(c byte) bool { return c-'0' <= 9 }

package format

// ZIP3 is the first three digits of a ZIP code of five digits or of ZIP+4, or
// the three digits themselves where no more is known. Anything else has none.
func ZIP3(zip []byte) []byte {
	if !IsZIP(zip) && !IsZIP3(zip) {
		return nil
	}
	return zip[:3]
}

func IsZIP(text []byte) bool {
	switch len(text) {
	case 5:
		return allDigits(text)
	case 10:
		return allDigits(text[:5]) && text[5] == '-' && allDigits(text[6:])
	}
	return false
}

func IsZIP3(text []byte) bool { return len(text) == 3 && allDigits(text) }

func allDigits(text []byte) bool {
	for _, c := range text {
		if !IsDigit(c) {
			return false
		}
	}
	return true
}

func IsDigit(c byte) bool { return c-'0' <= 9 }

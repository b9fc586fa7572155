package format

// ParsedDecimal is a JSON number in parts: ±Whole.Fraction × 10^Exponent. Whole and Fraction are
// parts of the text that was parsed, not copies.
type ParsedDecimal struct {
	Negative        bool
	Whole, Fraction []byte
	Exponent        int
}

// maxExponent is the greatest exponent that ParseDecimal returns; it replaces greater ones. It is
// far beyond the length of any text, so no number of digits can compensate it.
const maxExponent = 1 << 40

// ParseDecimal splits a JSON number (RFC 8259) into its parts. ok is false for any other text.
func ParseDecimal(text []byte) (d ParsedDecimal, ok bool) {
	if len(text) > 0 && text[0] == '-' {
		d.Negative = true
		text = text[1:]
	}
	d.Whole, text = cutLeadingDigits(text)
	if len(d.Whole) == 0 || (len(d.Whole) > 1 && d.Whole[0] == '0') {
		return ParsedDecimal{}, false
	}
	if len(text) > 0 && text[0] == '.' {
		d.Fraction, text = cutLeadingDigits(text[1:])
		if len(d.Fraction) == 0 {
			return ParsedDecimal{}, false
		}
	}
	if len(text) > 0 && text[0]|0x20 == 'e' {
		ok = d.setExponentFromText(text[1:])
		return d, ok
	}
	return d, len(text) == 0
}

// setExponentFromText reads the text after the letter e. It returns false if the text is not an
// exponent.
func (d *ParsedDecimal) setExponentFromText(text []byte) bool {
	sign := 1
	if len(text) > 0 && (text[0] == '+' || text[0] == '-') {
		if text[0] == '-' {
			sign = -1
		}
		text = text[1:]
	}
	digits, rest := cutLeadingDigits(text)
	for _, c := range digits {
		d.Exponent = min(d.Exponent*10+int(c-'0'), maxExponent)
	}
	d.Exponent *= sign
	return len(digits) > 0 && len(rest) == 0
}

// cutLeadingDigits splits the text after its leading digits.
func cutLeadingDigits(text []byte) (digits, rest []byte) {
	i := 0
	for i < len(text) && IsDigit(text[i]) {
		i++
	}
	return text[:i], text[i:]
}

package market

// decimal is a JSON number taken apart: ±whole.fraction × 10^exponent. The
// digits are the caller's bytes.
type decimal struct {
	negative        bool
	whole, fraction []byte
	exponent        int
}

// maxExponent is where an exponent stops growing: further than any text is
// long, so that no mantissa can bring the number back.
const maxExponent = 1 << 40

// splitDecimal takes exactly what RFC 8259 calls a number.
func splitDecimal(text []byte) (d decimal, ok bool) {
	if len(text) > 0 && text[0] == '-' {
		d.negative = true
		text = text[1:]
	}
	d.whole, text = leadingDigits(text)
	if len(d.whole) == 0 || (len(d.whole) > 1 && d.whole[0] == '0') {
		return decimal{}, false
	}
	if len(text) > 0 && text[0] == '.' {
		d.fraction, text = leadingDigits(text[1:])
		if len(d.fraction) == 0 {
			return decimal{}, false
		}
	}
	if len(text) > 0 && text[0]|0x20 == 'e' {
		ok = d.readExponent(text[1:])
		return d, ok
	}
	return d, len(text) == 0
}

func (d *decimal) readExponent(text []byte) bool {
	sign := 1
	if len(text) > 0 && (text[0] == '+' || text[0] == '-') {
		if text[0] == '-' {
			sign = -1
		}
		text = text[1:]
	}
	digits, rest := leadingDigits(text)
	for _, c := range digits {
		d.exponent = min(d.exponent*10+int(c-'0'), maxExponent)
	}
	d.exponent *= sign
	return len(digits) > 0 && len(rest) == 0
}

// overflow is the error of a number too far from zero.
func (d *decimal) overflow() error {
	if d.negative {
		return ErrNegative
	}
	return ErrTooLarge
}

func leadingDigits(text []byte) (digits, rest []byte) {
	i := 0
	for i < len(text) && isDigit(text[i]) {
		i++
	}
	return text[:i], text[i:]
}

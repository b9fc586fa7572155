package format

import (
	"math"
	"strconv"

	"pingpost/api/errcode"
)

// MaxNumberText is the maximum length in bytes of a number that ParseNumber accepts.
const MaxNumberText = 128

// maxInt64Digits is the number of decimal digits of the greatest int64.
const maxInt64Digits = 19

// ParseInteger reads a JSON number whose value is an integer, in any notation: 1000, 1e3 and
// 1000.0 are equal. errorCode is empty on success, else the field error's code.
func ParseInteger(text []byte) (n int64, errorCode string) {
	d, ok := ParseDecimal(text)
	if !ok {
		return 0, errcode.FieldWrongType
	}
	count := len(d.Whole) + len(d.Fraction)
	first := 0
	for first < count && d.digitFromLeft(first) == 0 {
		first++
	}
	if first == count {
		return 0, ""
	}
	scale := d.Exponent - len(d.Fraction) // the value is the digits × 10^scale
	for ; scale < 0; scale++ {
		count--
		if count == first || d.digitFromLeft(count) != 0 {
			return 0, errcode.FieldWrongType
		}
	}
	if count-first+scale > maxInt64Digits {
		return 0, errcode.FieldOutOfRange
	}
	var magnitude uint64 // 19 digits fit
	for i := first; i < count+scale; i++ {
		magnitude *= 10
		if i < count {
			magnitude += uint64(d.digitFromLeft(i))
		}
	}
	switch {
	case magnitude <= math.MaxInt64 && d.Negative:
		return -int64(magnitude), ""
	case magnitude <= math.MaxInt64:
		return int64(magnitude), ""
	case d.Negative && magnitude == math.MaxInt64+1:
		return math.MinInt64, ""
	}
	return 0, errcode.FieldOutOfRange
}

// digitFromLeft returns the value of the digit at this position, from the left over Whole and Fraction.
func (d *ParsedDecimal) digitFromLeft(position int) byte {
	if position < len(d.Whole) {
		return d.Whole[position] - '0'
	}
	return d.Fraction[position-len(d.Whole)] - '0'
}

// ParseNumber reads a JSON number as the nearest float64. errorCode is empty on success, else the
// field error's code, for example if the number is too large.
func ParseNumber(text []byte) (f float64, errorCode string) {
	if len(text) > MaxNumberText {
		return 0, errcode.FieldOutOfRange
	}
	if _, ok := ParseDecimal(text); !ok {
		return 0, errcode.FieldWrongType
	}
	f, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		return 0, errcode.FieldOutOfRange
	}
	return f + 0, "" // -0 + 0 is 0
}

// IsPlainInteger reports whether the text is digits alone, with an optional minus. -0 is not
// plain.
func IsPlainInteger(text []byte) bool {
	digits := text
	if len(digits) > 1 && digits[0] == '-' && digits[1] != '0' {
		digits = digits[1:]
	}
	return allDigits(digits)
}

// AppendInteger appends n in decimal to buf. It returns the appended part and the whole grown
// buffer.
func AppendInteger(buf []byte, n int64) (appendedNumber, grownBuffer []byte) {
	start := len(buf)
	buf = strconv.AppendInt(buf, n, 10)
	return buf[start:len(buf):len(buf)], buf
}

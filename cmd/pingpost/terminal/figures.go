package terminal

import (
	"strconv"
	"strings"

	"pingpost/engine/market"
)

// GroupThousands writes 1234567 as 1,234,567.
func GroupThousands(n int) string {
	text := strconv.Itoa(n)
	for at := len(text) - 3; at > 0 && text[at-1] != '-'; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}

// FormatMoney formats an amount with at least two decimals and with commas between thousands.
func FormatMoney(m market.Money) string { return FormatDecimalAsMoney(m.String()) }

// FormatDecimalAsMoney formats an amount, given as decimal digits, with at least two decimals
// and with commas between thousands.
func FormatDecimalAsMoney(decimal string) string {
	whole, fraction, _ := strings.Cut(decimal, ".")
	for len(fraction) < 2 {
		fraction += "0"
	}
	n, err := strconv.Atoi(whole)
	if err != nil {
		return decimal
	}
	text := GroupThousands(n)
	if n == 0 && strings.HasPrefix(whole, "-") {
		text = "-0"
	}
	return text + "." + fraction
}

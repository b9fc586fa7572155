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
func FormatMoney(m market.Money) string {
	whole, fraction, _ := strings.Cut(m.String(), ".")
	for len(fraction) < 2 {
		fraction += "0"
	}
	n, _ := strconv.Atoi(whole)
	text := GroupThousands(n)
	if n == 0 && m < 0 {
		text = "-0"
	}
	return text + "." + fraction
}

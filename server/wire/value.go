package wire

import (
	"time"

	"pingpost/engine/market"
	"pingpost/engine/market/escape"
)

// AppendTextOrNull appends a JSON string, or null for an empty text.
func AppendTextOrNull(body []byte, text string) []byte {
	if text == "" {
		return append(body, "null"...)
	}
	return escape.AppendJSONString(body, []byte(text))
}

// AppendUnquotedTime appends Unix nanoseconds with milliseconds, rounded down, without quotes.
// Rounding up would promise a bid for longer than it is open.
func AppendUnquotedTime(body []byte, at int64) []byte {
	return time.Unix(0, at).UTC().AppendFormat(body, "2006-01-02T15:04:05.000Z")
}

// AppendPrice appends the members amount and currency.
func AppendPrice(body []byte, amount market.Money, currency market.Currency) []byte {
	body = amount.AppendJSON(append(body, `"amount":`...))
	body = append(append(body, `,"currency":"`...), currency[:]...)
	return append(body, '"')
}

// AppendTimeString appends Unix nanoseconds as a JSON string with full precision.
func AppendTimeString(body []byte, at int64) []byte {
	return append(time.Unix(0, at).UTC().AppendFormat(append(body, '"'), time.RFC3339Nano), '"')
}

package wire

import (
	"time"

	"pingpost/engine/market"
	"pingpost/engine/market/escape"
)

// AppendTextOrNull appends text as a JSON string, or null if text is empty.
func AppendTextOrNull(body []byte, text string) []byte {
	if text == "" {
		return append(body, "null"...)
	}
	return escape.AppendJSONString(body, []byte(text))
}

// AppendUnquotedTime appends a time in Unix nanoseconds as RFC 3339 with milliseconds, without
// quotes. It rounds down: rounding up would promise a bid for longer than it is valid.
func AppendUnquotedTime(body []byte, unixNanos int64) []byte {
	return time.Unix(0, unixNanos).UTC().AppendFormat(body, "2006-01-02T15:04:05.000Z")
}

// AppendPriceMembers appends the JSON members amount and currency, without braces.
func AppendPriceMembers(body []byte, amount market.Money, currency market.Currency) []byte {
	body = amount.AppendJSON(append(body, `"amount":`...))
	body = append(append(body, `,"currency":"`...), currency[:]...)
	return append(body, '"')
}

// AppendTimeString appends a time in Unix nanoseconds as a JSON string, in RFC 3339 with full
// precision.
func AppendTimeString(body []byte, unixNanos int64) []byte {
	return append(time.Unix(0, unixNanos).UTC().AppendFormat(append(body, '"'), time.RFC3339Nano), '"')
}

package explain

import (
	"bytes"
	"fmt"
	"strconv"
	"time"

	"pingpost/engine/market"
)

// Amount is an amount of money with its currency, as explanations show it. A margin may be
// negative.
type Amount struct {
	Amount   SignedMoney `json:"amount"`
	Currency string      `json:"currency"`
}

// SignedMoney is an amount of money in millionths of the currency unit, which may be negative.
// market.Money itself rejects a negative number in JSON.
type SignedMoney market.Money

// MarshalJSON writes the amount as the shortest decimal number, such as 12.5.
func (m SignedMoney) MarshalJSON() ([]byte, error) { return market.Money(m).MarshalJSON() }

// UnmarshalJSON reads a decimal number with at most six decimals, with a minus sign if
// negative.
func (m *SignedMoney) UnmarshalJSON(text []byte) error {
	digits, negative := bytes.CutPrefix(text, []byte("-"))
	read, err := market.ParseMoney(digits)
	if err != nil {
		return err
	}
	if negative {
		read = -read
	}
	*m = SignedMoney(read)
	return nil
}

// NanosAsRFC3339 is a time in Unix nanoseconds. Its JSON form is RFC 3339 with milliseconds.
type NanosAsRFC3339 int64

const instantLayout = "2006-01-02T15:04:05.000Z07:00"

// MarshalJSON writes the time in UTC with milliseconds, such as "2026-01-02T15:04:05.000Z".
func (i NanosAsRFC3339) MarshalJSON() ([]byte, error) {
	return strconv.AppendQuote(nil, time.Unix(0, int64(i)).UTC().Format(instantLayout)), nil
}

// UnmarshalJSON reads a time in the form that MarshalJSON writes.
func (i *NanosAsRFC3339) UnmarshalJSON(text []byte) error {
	at, err := time.Parse(`"`+instantLayout+`"`, string(text))
	if err != nil {
		return fmt.Errorf("not a time in the form 2006-01-02T15:04:05.000Z: %w", err)
	}
	*i = NanosAsRFC3339(at.UnixNano())
	return nil
}

// NanosAsMilliseconds is a duration in nanoseconds. Its JSON form is a number of milliseconds
// with at most three decimals.
type NanosAsMilliseconds int64

// MarshalJSON writes the duration as a number of milliseconds, such as 12.345.
func (m NanosAsMilliseconds) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(int64(m)/int64(time.Microsecond))/1000, 'f', -1, 64), nil
}

// UnmarshalJSON reads a number of milliseconds.
func (m *NanosAsMilliseconds) UnmarshalJSON(text []byte) error {
	read, err := strconv.ParseFloat(string(text), 64)
	*m = NanosAsMilliseconds(read * float64(time.Millisecond))
	return err
}

// String returns the amount and its currency, such as "12.5 USD". A nil amount is "nothing".
func (a *Amount) String() string {
	if a == nil {
		return "nothing"
	}
	return market.Money(a.Amount).String() + " " + a.Currency
}

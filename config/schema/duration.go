package schema

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"pingpost/config/syntax"
)

const Day = 24 * time.Hour

// Duration is a length of time in a document, in Go's syntax, optionally after a number of
// days of 24 hours: 2s, 1h30m, 14d, 1d12h.
type Duration time.Duration

var errDuration = errors.New("expected a duration such as 2s, 90m, 1d12h or 14d")

// ParseDuration parses a length of time that is zero or positive, such as 14d or 1h30m.
func ParseDuration(text string) (Duration, error) {
	whole, rest, hasDays := strings.Cut(text, "d")
	if !hasDays {
		whole, rest = "", text
	}
	var total time.Duration
	if hasDays {
		days, err := strconv.ParseUint(whole, 10, 16)
		if err != nil || hasSign(rest) {
			return 0, errDuration
		}
		total = time.Duration(days) * Day
	}
	if rest != "" || !hasDays {
		clock, err := time.ParseDuration(rest)
		if err != nil {
			return 0, errDuration
		}
		if clock < 0 {
			return 0, errors.New("the duration is negative")
		}
		if clock > 1<<62 {
			return 0, errors.New("the duration is too long")
		}
		total += clock
	}
	if total < 0 {
		return 0, errors.New("the duration is too long")
	}
	return Duration(total), nil
}

func (d *Duration) decodeNode(n *syntax.Node) error {
	if n.Kind != syntax.Text && (n.Kind != syntax.Number || n.Text != "0") {
		return errDuration
	}
	parsed, err := ParseDuration(strings.TrimSpace(n.Text))
	*d = parsed
	return err
}

// String returns the duration in days, hours, minutes and seconds, without zero units at the end,
// such as 1d12h. ParseDuration returns the same duration for this text.
func (d Duration) String() string {
	days, rest := time.Duration(d)/Day, time.Duration(d)%Day
	text := ""
	if days > 0 {
		text = strconv.FormatInt(int64(days), 10) + "d"
	}
	if rest == 0 && days > 0 {
		return text
	}
	clock := rest.String()
	if strings.HasSuffix(clock, "m0s") {
		clock = strings.TrimSuffix(clock, "0s")
	}
	if strings.HasSuffix(clock, "h0m") {
		clock = strings.TrimSuffix(clock, "0m")
	}
	return text + clock
}

// MarshalText returns the text of String, for JSON.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// orDefault returns the duration, or the default if the duration is nil.
func (d *Duration) orDefault(fallback time.Duration) *Duration {
	if d != nil {
		return d
	}
	value := Duration(fallback)
	return &value
}

// OrZero returns the duration, or zero if it is nil.
func (d *Duration) OrZero() time.Duration {
	if d == nil {
		return 0
	}
	return time.Duration(*d)
}

// hasSign reports whether the text after the days begins with a sign. A duration such as
// 1d-2h is invalid, because it would read like a sum.
func hasSign(text string) bool { return text != "" && (text[0] == '+' || text[0] == '-') }

package schema

import (
	"errors"
	"strconv"
	"strings"

	"pingpost/config/syntax"
)

// ByteSize is a number of bytes, written plain or with KiB or MiB.
type ByteSize int

const (
	KiB ByteSize = 1 << 10
	MiB ByteSize = 1 << 20
)

var sizeUnits = []struct {
	suffix string
	unit   ByteSize
}{{"MiB", MiB}, {"KiB", KiB}, {"", 1}}

func (s *ByteSize) decodeNode(n *syntax.Node) error {
	wrong := errors.New("expected a size such as 65536, 64KiB or 1MiB")
	if n.Kind != syntax.Text && n.Kind != syntax.Number {
		return wrong
	}
	text := strings.TrimSpace(n.Text)
	for _, u := range sizeUnits {
		digits, ok := strings.CutSuffix(text, u.suffix)
		if !ok {
			continue
		}
		count, err := strconv.ParseUint(strings.TrimSpace(digits), 10, 31)
		if err != nil || ByteSize(count) > (1<<31-1)/u.unit {
			return wrong
		}
		*s = ByteSize(count) * u.unit
		return nil
	}
	return wrong
}

func (s ByteSize) String() string {
	for _, u := range sizeUnits {
		if s%u.unit == 0 && s > 0 {
			return strconv.Itoa(int(s/u.unit)) + u.suffix
		}
	}
	return strconv.Itoa(int(s))
}

// MarshalText returns the same text as String.
func (s ByteSize) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

package sim

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// line is one step of a history, or one line of its market, such as
//
//	+1h30m lead #12 acme auto phone=12 state=CA key=k12
//
// with the time since the previous step, a verb, its objects, and its values. A history
// consists of lines only, so every failure can be printed, reduced and replayed.
type line struct {
	after time.Duration
	verb  string
	about []string
	said  map[string]string
}

func (l line) String() string {
	words := append([]string{"+" + l.after.String(), l.verb}, l.about...)
	for _, name := range slices.Sorted(maps.Keys(l.said)) {
		words = append(words, name+"="+l.said[name])
	}
	return strings.Join(words, " ")
}

// parseHistory parses lines. It skips empty lines and lines that begin with two slashes.
func parseHistory(text string) (history []line, err error) {
	for number, row := range strings.Split(text, "\n") {
		words := strings.Fields(row)
		if len(words) == 0 || strings.HasPrefix(words[0], "//") {
			continue
		}
		l := line{said: map[string]string{}}
		if after, ok := strings.CutPrefix(words[0], "+"); ok {
			if l.after, err = time.ParseDuration(after); err != nil {
				return nil, fmt.Errorf("line %d: %w", number+1, err)
			}
			words = words[1:]
		}
		if len(words) == 0 {
			return nil, fmt.Errorf("line %d: nothing happens", number+1)
		}
		l.verb = words[0]
		for _, word := range words[1:] {
			if name, value, ok := strings.Cut(word, "="); ok {
				l.said[name] = value
			} else {
				l.about = append(l.about, word)
			}
		}
		history = append(history, l)
	}
	return history, nil
}

func printHistory(history []line) string {
	var text strings.Builder
	for _, l := range history {
		text.WriteString(l.String())
		text.WriteByte('\n')
	}
	return text.String()
}

// step returns a line: step("lead", "#1 acme auto", "state", "CA").
func step(verb, about string, pairs ...string) line {
	l := line{verb: verb, about: strings.Fields(about), said: map[string]string{}}
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			l.said[pairs[i]] = pairs[i+1]
		}
	}
	return l
}

// at returns the object with the index, or "".
func (l line) at(i int) string {
	if i < len(l.about) {
		return l.about[i]
	}
	return ""
}

func (l line) has(name string) bool { _, ok := l.said[name]; return ok }

func (l line) number(name string, otherwise int64) int64 {
	n, err := strconv.ParseInt(l.said[name], 10, 64)
	if err != nil {
		return otherwise
	}
	return n
}

func (l line) money(name string) int64 { return moneyOf(l.said[name]) }

func (l line) duration(name string, otherwise time.Duration) time.Duration {
	d, err := time.ParseDuration(cmp.Or(l.said[name], "-"))
	if err != nil {
		return otherwise
	}
	return d
}

func (l line) list(name string) []string {
	if l.said[name] == "" {
		return nil
	}
	return strings.Split(l.said[name], ",")
}

// moneyOf parses a decimal amount into millionths. It returns 0 for an invalid one.
func moneyOf(text string) int64 {
	sign := int64(1)
	if rest, ok := strings.CutPrefix(text, "-"); ok {
		sign, text = -1, rest
	}
	whole, part, _ := strings.Cut(text, ".")
	n, err := strconv.ParseInt(cmp.Or(whole, "0")+(part + "000000")[:6], 10, 64)
	if err != nil {
		return 0
	}
	return sign * n
}

// amount is the inverse of moneyOf.
func amount(n int64) string {
	sign := ""
	if n < 0 {
		sign, n = "-", -n
	}
	text := fmt.Sprintf("%s%d.%06d", sign, n/1_000_000, n%1_000_000)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

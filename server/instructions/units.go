package instructions

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// formatSize returns a number of bytes in the unit that people read, and exactly: 65.5 KB (65,536 bytes). The
// units are decimal, as in the console.
func formatSize(bytes int) string {
	exact := strconv.Itoa(bytes)
	for at := len(exact) - 3; at > 0; at -= 3 {
		exact = exact[:at] + "," + exact[at:]
	}
	left, unit := float64(bytes), ""
	for _, next := range []string{"KB", "MB", "GB"} {
		if left < 999.95 { // else one decimal would show 1000
			break
		}
		left, unit = left/1000, next
	}
	if unit == "" {
		return exact + " bytes"
	}
	return strings.TrimSuffix(strconv.FormatFloat(left, 'f', 1, 64), ".0") + " " + unit + " (" + exact + " bytes)"
}

var (
	durationForm = regexp.MustCompile(`^(\d+[dhms])+$`)
	durationPart = regexp.MustCompile(`(\d+)([dhms])`)
	unitWords    = map[string]string{"d": "day", "h": "hour", "m": "minute", "s": "second"}
)

// spellDuration returns a duration of the configuration in words: 1d12h becomes 1 day 12 hours. It returns
// another text unchanged.
func spellDuration(text string) string {
	if !durationForm.MatchString(text) {
		return text
	}
	var words []string
	for _, part := range durationPart.FindAllStringSubmatch(text, -1) {
		plural := "s"
		if part[1] == "1" {
			plural = ""
		}
		words = append(words, fmt.Sprintf("%s %s%s", part[1], unitWords[part[2]], plural))
	}
	return strings.Join(words, " ")
}

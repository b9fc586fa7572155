package terminal

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Width is the greatest length of a line that the commands print.
const Width = 100

// WrapText breaks text into lines of at most width characters, at spaces, and longer words
// anywhere. Empty text has no lines. The text may come from buyers or sellers, so WrapText
// replaces the characters that a terminal could interpret as commands.
func WrapText(text string, width int) (lines []string) {
	text = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
	line := ""
	for _, word := range strings.Fields(text) {
		for utf8.RuneCountInString(word) > width {
			if line != "" {
				lines, line = append(lines, line), ""
			}
			runes := []rune(word)
			lines, word = append(lines, string(runes[:width])), string(runes[width:])
		}
		switch {
		case line == "":
			line = word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) <= width:
			line += " " + word
		default:
			lines, line = append(lines, line), word
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// Truncate shortens text to maxCharacters. Shortened text ends with an ellipsis.
func Truncate(text string, maxCharacters int) string {
	if utf8.RuneCountInString(text) <= maxCharacters {
		return text
	}
	return string([]rune(text)[:maxCharacters-1]) + "…"
}

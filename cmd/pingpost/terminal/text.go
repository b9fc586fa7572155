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
	text = replaceUnless(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsPrint(r) })
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

// ReplaceUnprintable replaces the characters of a text from outside that are not printable: a terminal could
// interpret them as commands, and a line break would look like another line of the output.
func ReplaceUnprintable(text string) string { return replaceUnless(text, unicode.IsPrint) }

func replaceUnless(text string, isKept func(rune) bool) string {
	return strings.Map(func(r rune) rune {
		if isKept(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}

// Truncate shortens text to maxCharacters. Shortened text ends with an ellipsis.
func Truncate(text string, maxCharacters int) string {
	if utf8.RuneCountInString(text) <= maxCharacters {
		return text
	}
	return string([]rune(text)[:maxCharacters-1]) + "…"
}

package terminal

import (
	"os"
	"strings"
)

// Colors writes text in colors, or unchanged if its file shows none. The zero Colors shows none.
type Colors struct{ shown bool }

// ColorsOf returns the colors for text that is written to file. A file shows colors if it is a
// terminal, and if the environment variable NO_COLOR is not set (https://no-color.org).
func ColorsOf(file *os.File) Colors {
	return Colors{shown: os.Getenv("NO_COLOR") == "" && IsTerminal(file)}
}

// Red returns the text of an error or a loss in red.
func (c Colors) Red(text string) string { return c.paint("31", text) }

// Green returns the text of a success or an addition in green.
func (c Colors) Green(text string) string { return c.paint("32", text) }

// Yellow returns the text of a warning or a change in yellow.
func (c Colors) Yellow(text string) string { return c.paint("33", text) }

// Bold returns the text of a heading in bold.
func (c Colors) Bold(text string) string { return c.paint("1", text) }

// PaintLines returns the text with each line in the color of the prefix that it begins with.
func (c Colors) PaintLines(text string, byPrefix map[string]func(string) string) string {
	if !c.shown {
		return text
	}
	var out strings.Builder
	for line := range strings.Lines(text) {
		body := strings.TrimSuffix(line, "\n")
		for prefix, paint := range byPrefix {
			if strings.HasPrefix(body, prefix) {
				body = paint(body)
				break
			}
		}
		out.WriteString(body + line[len(strings.TrimSuffix(line, "\n")):])
	}
	return out.String()
}

func (c Colors) paint(code, text string) string {
	if !c.shown || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

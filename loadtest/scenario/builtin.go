package scenario

import (
	"embed"
	"slices"
	"strings"
)

//go:embed *.yaml
var files embed.FS

// Names returns the names of the built-in scenarios, sorted.
func Names() (names []string) {
	entries, err := files.ReadDir(".")
	if err != nil {
		panic("BUG: the built-in scenarios cannot be listed: " + err.Error())
	}
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	slices.Sort(names)
	return names
}

// builtin returns the text of a built-in scenario.
func builtin(name string) ([]byte, bool) {
	if strings.ContainsAny(name, "/.") {
		return nil, false
	}
	text, err := files.ReadFile(name + ".yaml")
	return text, err == nil
}

// Text returns the document of a built-in scenario, for printing or as a template.
func Text(name string) (string, bool) {
	text, ok := builtin(name)
	return string(text), ok
}

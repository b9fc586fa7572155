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

// Text returns the document of a built-in scenario, for printing or as a template.
func Text(name string) (string, bool) {
	if strings.ContainsAny(name, "/.") {
		return "", false
	}
	text, err := files.ReadFile(name + ".yaml")
	return string(text), err == nil
}

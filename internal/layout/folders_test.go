package layout_test

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// maxFiles is the highest number of files in a folder, and maxPrefix the highest number
// of files in a folder that share the word before the first underscore. Four such files
// are a package. Tests do not count.
const (
	maxFiles  = 30
	maxPrefix = 3
)

// oversizedFolders lists folders with too many Go files, and prefixes that too many files of
// one folder share.
func oversizedFolders(t *tree) []string {
	byFolder, byPrefix := map[string]int{}, map[string]int{}
	for _, s := range t.sources {
		if s.isTest() {
			continue
		}
		prefix, _, _ := strings.Cut(strings.TrimSuffix(path.Base(s.path), ".go"), "_")
		byFolder[s.dir()]++
		byPrefix[s.dir()+"/"+prefix+"_"]++
	}
	var findings []string
	for _, name := range slices.Sorted(maps.Keys(byFolder)) {
		if n := byFolder[name]; n > maxFiles {
			findings = append(findings, fmt.Sprintf("%s: %d Go files without tests, at most %d: divide the package", name, n, maxFiles))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(byPrefix)) {
		if n := byPrefix[name]; n > maxPrefix {
			findings = append(findings, fmt.Sprintf("%s: %d Go files with this prefix, at most %d: make them a package", name, n, maxPrefix))
		}
	}
	return findings
}

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

// countFiles returns the number of non-test Go files per folder, and per folder and
// prefix. The key of a prefix is "folder/prefix_".
func countFiles(t *tree) (byFolder, byPrefix map[string]int) {
	byFolder, byPrefix = map[string]int{}, map[string]int{}
	for _, s := range t.sources {
		if s.isTest() {
			continue
		}
		prefix, _, _ := strings.Cut(strings.TrimSuffix(path.Base(s.path), ".go"), "_")
		byFolder[s.dir()]++
		byPrefix[s.dir()+"/"+prefix+"_"]++
	}
	return byFolder, byPrefix
}

// crowdedFolders lists folders with more than maxFiles files. The exceptions are higher
// limits of single folders.
func crowdedFolders(t *tree, exceptions map[string]int) []string {
	counts, _ := countFiles(t)
	return aboveLimit(counts, maxFiles, exceptions, "%s: %d Go files without tests, at most %d: divide the package")
}

// sharedPrefixes lists prefixes of more than maxPrefix files in one folder. The
// exceptions are higher limits of single prefixes.
func sharedPrefixes(t *tree, exceptions map[string]int) []string {
	_, counts := countFiles(t)
	return aboveLimit(counts, maxPrefix, exceptions, "%s: %d Go files with this prefix, at most %d: make them a package")
}

func aboveLimit(counts map[string]int, limit int, exceptions map[string]int, message string) []string {
	var findings []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		if allowed := max(limit, exceptions[name]); counts[name] > allowed {
			findings = append(findings, fmt.Sprintf(message, name, counts[name], allowed))
		}
	}
	return findings
}

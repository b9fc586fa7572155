package state

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pingpost/internal/must"
)

// Each kind of value has its own number in the state's hash, so that equal contents of two kinds differ.
func TestHashKindsAreUnique(t *testing.T) {
	call := regexp.MustCompile(`newRunningHash\((\d+)\)`)
	places := make(map[string]string)
	for _, file := range must.Value(filepath.Glob("*.go"))(t) {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		for _, found := range call.FindAllStringSubmatch(string(must.Value(os.ReadFile(file))(t)), -1) {
			if before, ok := places[found[1]]; ok {
				t.Errorf("%s and %s both use kind %s", before, file, found[1])
			}
			places[found[1]] = file
		}
	}
	if len(places) < 25 {
		t.Errorf("only %d kinds found", len(places))
	}
}

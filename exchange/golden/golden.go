// Package golden compares a test's output with a reviewed file, testdata/NAME.golden of
// the test's package. With -update, the test writes the file again for a new review.
package golden

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files again")

// CompareWithFile fails the test if got differs from the file testdata/NAME.golden. With the flag
// -update it first writes got to the file.
func CompareWithFile(t testing.TB, fileName, got string) {
	t.Helper()
	path := filepath.Join("testdata", fileName+".golden")
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: -update writes it again; got\n%s", path, got)
	}
}

// Package golden compares a test's output with a reviewed file, testdata/NAME.golden of
// the test's package. With -update, the test writes the file again for a new review.
package golden

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"pingpost/internal/must"
)

var update = flag.Bool("update", false, "write the golden files again")

// CompareWithFile fails the test if got differs from the file testdata/fileName.golden. With the flag
// -update it first writes got to the file.
func CompareWithFile(t testing.TB, fileName, got string) {
	t.Helper()
	path := filepath.Join("testdata", fileName+".golden")
	if *update {
		must.Succeed(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must.Succeed(t, os.WriteFile(path, []byte(got), 0o600))
	}
	if want := must.Value(os.ReadFile(path))(t); got != string(want) {
		t.Errorf("%s differs from the test's output; run the test with -update to write the file again; output:\n%s", path, got)
	}
}

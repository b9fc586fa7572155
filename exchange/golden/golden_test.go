package golden

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// told is a test that is told of, and goes on.
type told struct {
	testing.TB
	said []string
}

func (t *told) Helper()                   {}
func (t *told) Errorf(f string, a ...any) { t.said = append(t.said, f) }
func (t *told) Fatal(a ...any)            { t.said = append(t.said, "fatal"); panic(t) }

// compare is how often a comparison complains.
func compare(tb testing.TB, name, got string) (said []string) {
	t := &told{TB: tb}
	defer func() {
		if cause := recover(); cause != nil && cause != t {
			panic(cause)
		}
		said = t.said
	}()
	CompareWithFile(t, name, got)
	return t.said
}

func TestCompare(t *testing.T) {
	t.Chdir(t.TempDir())
	if said := compare(t, "one", "a\n"); strings.Join(said, "") != "fatal" {
		t.Errorf("without a file: %q", said)
	}
	*update = true
	said := compare(t, "one", "a\n")
	*update = false
	if text, err := os.ReadFile(filepath.Join("testdata", "one.golden")); len(said) != 0 || err != nil || string(text) != "a\n" {
		t.Errorf("-update: %q, %v, %q", text, err, said)
	}
	if said := compare(t, "one", "a\n"); len(said) != 0 {
		t.Errorf("the same: %q", said)
	}
	if said := compare(t, "one", "a"); len(said) != 1 || said[0] == "fatal" {
		t.Errorf("another: %q", said)
	}
}

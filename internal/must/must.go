// Package must ends a test at an unexpected error. Only tests and their helpers import it.
package must

// Test is the part of testing.TB and rapid.T that this package needs. Tests, benchmarks, fuzz
// targets and rapid properties have it.
type Test interface {
	Helper()
	Fatal(args ...any)
}

// Succeed fails and ends the test t if err is not nil.
func Succeed(t Test, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Value wraps a call that returns a value and an error, for use in a test: text :=
// must.Value(os.ReadFile(path))(t). The returned function returns the value, or ends the test
// if err is not nil.
func Value[V any](value V, err error) func(t Test) V {
	return func(t Test) V {
		t.Helper()
		Succeed(t, err)
		return value
	}
}

// Package must ends a test at an unexpected error. Only tests import it.
package must

// Test is the part that tests, benchmarks, fuzz targets and rapid properties share.
type Test interface {
	Helper()
	Fatal(args ...any)
}

// Succeed ends the test if the error is not nil.
func Succeed(t Test, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Value takes the two results of a call and returns a function that returns the value, or
// ends the test if the error is not nil: text := must.Value(os.ReadFile(path))(t).
func Value[V any](value V, err error) func(t Test) V {
	return func(t Test) V {
		t.Helper()
		Succeed(t, err)
		return value
	}
}

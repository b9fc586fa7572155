package witness

import "context"

// A Clerk takes down what is wrong. *testing.T is one, and so is a program's own.
// Fatal and Fatalf do not return; they may be called by the goroutine alone that
// runs the show.
type Clerk interface {
	Helper()
	Error(args ...any)
	Errorf(format string, args ...any)
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Cleanup(f func())
	Context() context.Context
}

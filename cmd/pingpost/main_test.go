package main

import (
	"os"
	"strings"
	"testing"
)

// TestNoOutputBeforeMain: no library logs during its initialization.
func TestNoOutputBeforeMain(t *testing.T) {
	for _, args := range [][]string{{"version"}, {"--help"}, {"serve", "--help"}} {
		if s := run(t, args...); s.code != 0 || s.err != "" || !strings.Contains(s.out, "pingpost") {
			t.Errorf("%v: exit %d, %q, %q", args, s.code, s.out, s.err)
		}
	}
}

// asProgram in the environment makes the test binary the program itself.
const asProgram = "PINGPOST_TEST_AS_PROGRAM"

// TestMain runs the tests, or the program. The race detector waits a second at the end
// of each process; the tests start hundreds, so this is turned off.
func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	if err := os.Setenv("GORACE", "halt_on_error=1 atexit_sleep_ms=0 "+os.Getenv("GORACE")); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

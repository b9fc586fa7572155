package main

import (
	"strings"
	"testing"
)

// TestNothingIsSaidBeforeTheProgramBegins: libraries that log while they are
// initialized are not heard, whatever the machine lacks.
func TestNothingIsSaidBeforeTheProgramBegins(t *testing.T) {
	for _, args := range [][]string{{"version"}, {"--help"}, {"serve", "--help"}} {
		if s := run(t, args...); s.code != 0 || s.err != "" || !strings.Contains(s.out, "pingpost") {
			t.Errorf("%v: exit %d, %q, %q", args, s.code, s.out, s.err)
		}
	}
}

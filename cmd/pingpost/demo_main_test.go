package main

import (
	"os"
	"testing"
)

// asProgram in the environment makes the test's binary the program itself: it
// is what the demonstration starts as its children.
const asProgram = "PINGPOST_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	withoutWaiting()
	os.Exit(m.Run())
}

// withoutWaiting has children that are built with the race detector end at once. It
// waits a second for races at the end of each process, and of those there are hundreds;
// one that was seen ends its process all the same.
func withoutWaiting() {
	if err := os.Setenv("GORACE", "halt_on_error=1 atexit_sleep_ms=0 "+os.Getenv("GORACE")); err != nil {
		panic(err)
	}
}

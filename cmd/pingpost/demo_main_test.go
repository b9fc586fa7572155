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
	os.Exit(m.Run())
}

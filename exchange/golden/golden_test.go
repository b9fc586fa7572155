package golden

import "testing"

// failureCounter is a test that counts the failures of a comparison.
type failureCounter struct {
	testing.TB
	failures int
}

func (c *failureCounter) Errorf(string, ...any) { c.failures++ }
func (c *failureCounter) Fatal(...any)          { c.failures++ }

// TestCompareWithFile: -update writes the file. A comparison fails without a file, and for another text.
func TestCompareWithFile(t *testing.T) {
	t.Chdir(t.TempDir())
	c := &failureCounter{TB: t}
	if CompareWithFile(c, "one", "a\n"); c.failures == 0 {
		t.Error("a comparison without a file does not fail")
	}
	c.failures = 0
	*update = true
	CompareWithFile(c, "one", "a\n")
	*update = false
	if CompareWithFile(c, "one", "a\n"); c.failures != 0 {
		t.Errorf("%d failures with the same text", c.failures)
	}
	if CompareWithFile(c, "one", "a"); c.failures != 1 {
		t.Errorf("%d failures with another text", c.failures)
	}
}

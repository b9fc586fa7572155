package servertest

import (
	"bytes"
	"io"
	"strings"
	"testing"
)

// RequireMetrics fails the test for each of the lines that the meter's metrics do not contain.
// It returns the text of all metrics.
func RequireMetrics(t testing.TB, meter interface{ WriteMetrics(w io.Writer) }, lines ...string) (text string) {
	t.Helper()
	var written bytes.Buffer
	meter.WriteMetrics(&written)
	for _, line := range lines {
		if !strings.Contains(written.String(), line+"\n") {
			t.Errorf("the metrics lack the line %s", line)
		}
	}
	return written.String()
}

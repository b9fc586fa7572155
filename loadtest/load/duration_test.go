package load

import (
	"testing"
	"time"
)

func TestFormatDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 420: "400ns", 1234: "1.2µs", 12345: "12µs", 1234567: "1.23ms", 12345678: "12.3ms", 999 * time.Millisecond: "999ms",
		1234567890: "1.23s", 12345678901: "12.3s", 31*time.Second + 123456789: "31.1s", 90 * time.Second: "1m30s",
	} {
		if got := FormatDuration(d); got != want {
			t.Errorf("%d is %s, want %s", d, got, want)
		}
	}
}

package main

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"pingpost/internal/must"
)

func TestReadMemoryLimit(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, text string
		parse      func([]byte) (int64, bool)
		want       int64
	}{
		{"a machine", "MemTotal:       24617736 kB\nMemFree: 1 kB\n", parseMemTotal, 24617736 << 10},
		{"a machine without MemTotal", "MemFree: 1 kB\n", parseMemTotal, math.MaxInt64},
		{"a machine with an invalid number", "MemTotal: lots kB\n", parseMemTotal, math.MaxInt64},
		{"a machine with too large a number", "MemTotal: 9223372036854775807 kB\n", parseMemTotal, math.MaxInt64},
		{"a cut line", "MemTotal:", parseMemTotal, math.MaxInt64},
		{"a container", "134217728\n", parseByteCount, 128 << 20},
		{"a container without a limit", "max\n", parseByteCount, math.MaxInt64},
		{"a container with a limit of 0", "0\n", parseByteCount, math.MaxInt64},
	} {
		path := filepath.Join(t.TempDir(), "file")
		must.Succeed(t, os.WriteFile(path, []byte(row.text), 0o600))
		if got := readMemoryLimit(path, row.parse); got != row.want {
			t.Errorf("%s: %d bytes, want %d", row.name, got, row.want)
		}
	}
	if got := readMemoryLimit(filepath.Join(t.TempDir(), "none"), parseByteCount); got != math.MaxInt64 {
		t.Errorf("no file: %d bytes", got)
	}
}

package connection

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
)

func TestConnLimitFitsOpenFileLimit(t *testing.T) {
	for _, row := range []struct {
		wanted      int
		descriptors uint64
		want        int
	}{
		{10_000, 0, 10_000},
		{10_000, 1 << 20, 10_000},
		{10_000, 10_512, 10_000},
		{10_000, 10_511, 9_999},
		{10_000, 1_024, 512},
		{10_000, 256, 128},
		{100, 256, 100},
		{10_000, 1, 1},
	} {
		var log bytes.Buffer
		got := LimitConnectionsToOpenFiles(row.wanted, row.descriptors, slog.New(slog.NewTextHandler(&log, nil)))
		if got != row.want || (got < row.wanted) != strings.Contains(log.String(), "ulimit") {
			t.Errorf("%d with %d descriptors: %d, want %d; %s", row.wanted, row.descriptors, got, row.want, &log)
		}
	}
	if MaxOpenFiles() == 1 {
		t.Error("got a limit of 1 open file, want more")
	}
}

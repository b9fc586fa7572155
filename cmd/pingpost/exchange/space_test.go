package exchange

import (
	"testing"
	"time"

	"pingpost/wal"
)

// What is admitted, and the outcomes of what is open, must fit the log's queue:
// an outcome that found it full would strand its delivery.
func TestLogIsBehindBeforeItsQueueIsFull(t *testing.T) {
	for _, row := range []struct {
		log  wal.Stats
		want bool
	}{
		{wal.Stats{}, false},
		{wal.Stats{Queued: longestQueue, QueueDelay: longestDelay}, false},
		{wal.Stats{Queued: longestQueue + 1}, true},
		{wal.Stats{QueueDelay: longestDelay + time.Nanosecond}, true},
	} {
		if got := behind(row.log); got != row.want {
			t.Errorf("%+v: %v", row.log, got)
		}
	}
	const openPosts, connections = 20_000, 10_000 // the engine's and the server's defaults
	if queueLength < longestQueue+openPosts+connections {
		t.Errorf("the queue holds %d", queueLength)
	}
}

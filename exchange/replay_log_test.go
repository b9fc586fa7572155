package exchange

import (
	"errors"
	"io"
	"strings"
	"testing"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
	"pingpost/wal"
)

// fakeLog returns entries with leads, then the entry with the number malformedAt, which no decoder accepts, and ends
// with end after the last entry.
type fakeLog struct {
	next, last, malformedAt uint64
	end                     error
	data                    []byte
}

func (f *fakeLog) Next() (wal.Entry, error) {
	if f.next++; f.next > f.last {
		return wal.Entry{}, f.end
	}
	lead := event.LeadDecided{Lead: market.LeadID{byte(f.next), byte(f.next >> 8), 1}, Campaign: 1, Supplier: 1, Decided: 1, Keep: 1 << 60}
	f.data = event.AppendRecord(f.data[:0], &lead)
	if f.next == f.malformedAt {
		f.data = append(f.data[:0], 0xff)
	}
	return wal.Entry{Seq: f.next, At: 1, Data: f.data}, nil
}

// TestReplayLogStopsAtError: a replay applies all entries before an error of the log or of the decoder, and no later one,
// wherever the error is in a queue.
func TestReplayLogStopsAtError(t *testing.T) {
	t.Parallel()
	damage := errors.New("damage")
	for _, entries := range []uint64{0, 1, 31, 511, 512, 513, 2048, 5000} {
		for name, row := range map[string]struct {
			log       fakeLog
			lastSeq   uint64
			wantError string
		}{
			"end":         {fakeLog{last: entries, end: io.EOF}, 0, ""},
			"read error":  {fakeLog{last: entries, end: damage}, 0, "replay: cannot read the log: damage"},
			"bad record":  {fakeLog{last: entries + 3000, end: io.EOF, malformedAt: entries + 1}, 0, "cannot replay log entry"},
			"last wanted": {fakeLog{last: entries + 3000, end: damage}, entries, ""},
		} {
			if name == "last wanted" && entries == 0 {
				continue // zero means the end of the log
			}
			s := state.New()
			applied, err := ReplayLog(&row.log, s, row.lastSeq)
			if seq, _ := s.Position(); seq != entries || applied != entries || uint64(s.LeadCountWithExpired()) != entries {
				t.Errorf("%s after %d entries: position %d, %d applied, %d leads", name, entries, seq, applied, s.LeadCountWithExpired())
			}
			if row.wantError == "" && err != nil || row.wantError != "" && (err == nil || !strings.Contains(err.Error(), row.wantError)) {
				t.Errorf("%s after %d entries: error %v", name, entries, err)
			}
			if name == "read error" && !errors.Is(err, damage) {
				t.Errorf("%s after %d entries: %v hides the cause", name, entries, err)
			}
		}
	}
}

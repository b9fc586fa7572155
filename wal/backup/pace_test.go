package backup

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pingpost/wal"

	"pingpost/internal/must"
)

// The rate limits the first copy of the log, but not new entries. Time is virtual, and
// only the rate takes time.
func TestRateIsKept(t *testing.T) {
	const perSecond, entries, entry = 1 << 20, 40, 1 << 19
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, t.TempDir())
		for range entries {
			s.put(strings.Repeat("x", entry))
		}
		opt := small(newDir(t, t.TempDir()), nil)
		opt.Rate = perSecond
		shipper := shipping(t, s, opt)
		ships := func() time.Duration {
			began := time.Now()
			must.Succeed(t, shipper.ShipAll(t.Context()))
			return time.Since(began)
		}
		paced := entries*entry - shipper.pace.Burst() // what comes first need not wait
		if took, least := ships(), time.Duration(paced)*time.Second/perSecond; took < least || took > 2*least {
			t.Errorf("%d bytes took %v, at %d a second, want %v", paced, took, perSecond, least)
		}
		s.put("just now")
		if took := ships(); took > time.Second {
			t.Errorf("an entry that was logged just now waited %v", took)
		}
	})
}

// A snapshot's piece is written to a folder at the rate, because the folder may be on the
// log's disk. Time is virtual.
func TestFolderIsWrittenAtTheRate(t *testing.T) {
	const perSecond, pieces = 1 << 20, 8
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, t.TempDir())
		opt := small(newDir(t, t.TempDir()), nil)
		opt.Rate = perSecond
		shipper := shipping(t, s, opt)
		began := time.Now()
		must.Succeed(t, shipper.bulkStore.Put(t.Context(), "object", make([]byte, pieces*wal.PacedPiece)))
		if took, want := time.Since(began), time.Duration(pieces-1)*wal.PacedPiece*time.Second/perSecond; took != want {
			t.Errorf("it took %v, want %v", took, want)
		}
	})
}

// With the default intervals an entry is in the store within a second. Time is virtual, so
// that load on the machine does not matter.
func TestLossIsASecondAtMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, t.TempDir())
		s.many(3)
		opt := small(newDir(t, t.TempDir()), nil)
		opt.pollInterval, opt.fenceInterval = 0, 0
		opt.Rate, opt.mergeAt = 1<<20, 2<<20 // what is merged would take seconds
		shipper := shipping(t, s, opt)
		ctx, end := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- shipper.Run(ctx) }()
		for i := range 40 {
			time.Sleep(time.Duration(i) * 37 * time.Millisecond)
			s.put(fmt.Sprint("entry ", i, strings.Repeat("x", 1<<19)))
			time.Sleep(time.Second)
			synctest.Wait()
			if got := shipper.Status(); got.Shipped < uint64(len(s.entries)) || got.Lag != 0 {
				t.Errorf("a second after entry %d: %+v", len(s.entries), got)
			}
		}
		end()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

package backup

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestRateIsKept: what the log had before goes no faster than the rate, and what was
// logged just now does not wait for it. Time is virtual: nothing but the rate takes any.
func TestRateIsKept(t *testing.T) {
	const perSecond, entries, entry = 1 << 20, 40, 1 << 19
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, t.TempDir())
		defer s.close()
		for range entries {
			s.put(strings.Repeat("x", entry))
		}
		opt := small(newDir(t, t.TempDir()), nil)
		opt.Rate = perSecond
		shipper, err := NewShipper(Open(s.log), opt)
		if err != nil {
			t.Fatal(err)
		}
		defer shipper.Close()
		ships := func() time.Duration {
			began := time.Now()
			if err := shipper.Once(t.Context()); err != nil {
				t.Fatal(err)
			}
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

package gcpace

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"
)

func TestPercentFor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		live uint64
		want int
	}{
		{"nothing measured yet", 0, 400},
		{"an idle exchange", 4 << 20, 400},
		{"a small exchange", 32 << 20, 50},
		{"a million leads", 256 << 20, 12},
		{"ten million leads", 2 << 30, 12},
	} {
		if got := percentFor(c.live); got != c.want {
			t.Errorf("%s: GOGC %d, want %d", c.name, got, c.want)
		}
	}
}

// TestStartFollowsLiveData: the heap of a process with many live data may grow by an eighth, not by four
// times.
func TestStartFollowsLiveData(t *testing.T) {
	before := debug.SetGCPercent(100)
	defer debug.SetGCPercent(before)
	stop := Start()
	defer stop()
	wait := func(want uint64) {
		t.Helper()
		gogc := []metrics.Sample{{Name: "/gc/gogc:percent"}}
		for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
			if metrics.Read(gogc); gogc[0].Value.Uint64() == want {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("GOGC is %d, want %d", gogc[0].Value.Uint64(), want)
			}
		}
	}
	wait(highestPercent)
	held := make([]byte, leastAllowance*100/leastPercent)
	runtime.GC()
	wait(leastPercent)
	runtime.KeepAlive(held)
	runtime.GC()
	wait(highestPercent)
}

func TestReleaseStartMemory(t *testing.T) {
	inUse := func() (bytes uint64) {
		kept := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/free:bytes"}}
		metrics.Read(kept)
		return kept[0].Value.Uint64() + kept[1].Value.Uint64()
	}
	debug.FreeOSMemory()
	runtime.KeepAlive(make([]byte, 32<<20))
	before := inUse()
	releaseStartMemory()
	if after := inUse(); after > before-24<<20 {
		t.Errorf("%d bytes before, %d after", before, after)
	}
}

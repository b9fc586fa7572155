package histogram

import (
	"slices"
	"testing"
	"time"
)

// TestSlotPrecision: the middle of a slot is within a thirtieth of the latency, and slots increase
// with the latency.
func TestSlotPrecision(t *testing.T) {
	last := 0
	for us := int64(0); us < 1<<36; us += 1 + us/97 {
		took := time.Duration(us) * time.Microsecond
		slot := slotForLatency(int64(took))
		if off := middleLatencyOfSlot(slot) - took; off.Abs() > took/30 || slot < last || slot >= slotLimit {
			t.Fatalf("%s is in slot %d after %d, whose middle is %s", took, slot, last, middleLatencyOfSlot(slot))
		}
		last = slot
	}
	if slotForLatency(-5) != 0 || slotForLatency(int64(1<<62)) != slotLimit-1 {
		t.Errorf("slots of latencies out of range: %d, %d of %d", slotForLatency(-5), slotForLatency(int64(1<<62)), slotLimit)
	}
}

// TestQuantiles checks quantiles by nearest rank.
func TestQuantiles(t *testing.T) {
	h := Histogram{}
	if _, ok := h.Quantile(500); ok {
		t.Error("an empty histogram has a median")
	}
	for ms := int64(1); ms <= 100; ms++ {
		h.Record(ms * int64(time.Millisecond))
	}
	var got []int64
	for _, p := range []uint64{1, 500, 990, 1000} {
		took, _ := h.Quantile(p)
		got = append(got, took.Round(time.Millisecond).Milliseconds())
	}
	if !slices.Equal(got, []int64{1, 50, 100, 100}) { // 99 and 100 ms have the same slot
		t.Errorf("%d", got)
	}
}

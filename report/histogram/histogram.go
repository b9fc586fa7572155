package histogram

import (
	"cmp"
	"encoding/binary"
	"errors"
	"slices"
	"time"
)

// Histogram counts latencies by slots, which are ranges of latency, in ascending order. A nil
// Histogram is empty. Its stored form is a blob: for each slot the distance from the previous
// slot and the count, as varints.
type Histogram []slotCount

type slotCount struct{ slot, count uint64 }

// Record adds one latency, in nanoseconds, to the histogram.
func (h *Histogram) Record(elapsedNanos int64) { h.addToSlot(uint64(slotForLatency(elapsedNanos)), 1) }

// addToSlot adds count latencies to a slot.
func (h *Histogram) addToSlot(slot, count uint64) {
	i, known := slices.BinarySearchFunc(*h, slot, func(t slotCount, slot uint64) int { return cmp.Compare(t.slot, slot) })
	if known {
		(*h)[i].count += count
		return
	}
	*h = slices.Insert(*h, i, slotCount{slot, count})
}

// Add adds all latencies of another histogram to this one.
func (h *Histogram) Add(other Histogram) {
	for _, t := range other {
		h.addToSlot(t.slot, t.count)
	}
}

// Quantile returns the latency that thousandths/1000 of the recorded ones did not exceed, by
// nearest rank and rounded to its slot: 990 gives the 99th percentile. hasLatencies is false
// for an empty histogram.
func (h Histogram) Quantile(thousandths uint64) (latency time.Duration, hasLatencies bool) {
	total := uint64(0)
	for _, t := range h {
		total += t.count
	}
	rank := (total*thousandths + 999) / 1000
	for _, t := range h {
		if t.count >= rank {
			return middleLatencyOfSlot(int(t.slot)), true
		}
		rank -= t.count
	}
	return 0, false
}

// AppendEncodedTo appends the histogram's stored form to dst.
func (h Histogram) AppendEncodedTo(dst []byte) []byte {
	last := uint64(0)
	for _, t := range h {
		dst = binary.AppendUvarint(binary.AppendUvarint(dst, t.slot-last), t.count)
		last = t.slot
	}
	return dst
}

// errInvalid reports a blob that is not a histogram.
var errInvalid = errors.New("the report's database contains an invalid histogram")

// histogramAccumulator adds up many histograms. It has one counter for each possible slot.
type histogramAccumulator [slotLimit]uint64

func (s *histogramAccumulator) add(blob []byte) error {
	slot := uint64(0)
	for len(blob) > 0 {
		step, read := binary.Uvarint(blob)
		n, then := binary.Uvarint(blob[max(0, read):])
		if slot += step; read <= 0 || then <= 0 || step >= slotLimit || slot >= slotLimit {
			return errInvalid
		}
		s[slot] += n
		blob = blob[read+then:]
	}
	return nil
}

func (s *histogramAccumulator) Histogram() (h Histogram) {
	for slot, n := range s {
		if n > 0 {
			h = append(h, slotCount{uint64(slot), n})
		}
	}
	return h
}

// ParseStored decodes the stored form of a histogram.
func ParseStored(blob []byte) (Histogram, error) {
	var sum histogramAccumulator
	err := sum.add(blob)
	return sum.Histogram(), err
}

package report

import (
	"cmp"
	"encoding/binary"
	"errors"
	"slices"
	"time"
)

// histogram counts times by slot, in the order of the slots; nil: none. In the file it is
// a blob: of each slot how far it is from the one before and how many there are, as
// varints.
type histogram []times

type times struct{ slot, n uint64 }

// count adds times of one slot.
func (h *histogram) count(slot, n uint64) {
	i, known := slices.BinarySearchFunc(*h, slot, func(t times, slot uint64) int { return cmp.Compare(t.slot, slot) })
	if known {
		(*h)[i].n += n
		return
	}
	*h = slices.Insert(*h, i, times{slot, n})
}

// add adds another one's times.
func (h *histogram) add(other histogram) {
	for _, t := range other {
		h.count(t.slot, t.n)
	}
}

// quantile is the time that so many thousandths did not exceed; false: there is none.
func (h histogram) quantile(thousandths uint64) (time.Duration, bool) {
	total := uint64(0)
	for _, t := range h {
		total += t.n
	}
	rank := (total*thousandths + 999) / 1000
	for _, t := range h {
		if t.n >= rank {
			return slotTime(int(t.slot)), true
		}
		rank -= t.n
	}
	return 0, false
}

func (h histogram) appendTo(dst []byte) []byte {
	last := uint64(0)
	for _, t := range h {
		dst = binary.AppendUvarint(binary.AppendUvarint(dst, t.slot-last), t.n)
		last = t.slot
	}
	return dst
}

// errNoTimes is of a blob that is no histogram.
var errNoTimes = errors.New("a histogram in the report's file is none")

// slotSums counts times while they are added up: a number for each slot.
type slotSums [slots]uint64

func (s *slotSums) add(blob []byte) error {
	slot := uint64(0)
	for len(blob) > 0 {
		step, read := binary.Uvarint(blob)
		n, then := binary.Uvarint(blob[max(0, read):])
		if slot += step; read <= 0 || then <= 0 || step >= slots || slot >= slots {
			return errNoTimes
		}
		s[slot] += n
		blob = blob[read+then:]
	}
	return nil
}

func (s *slotSums) histogram() (h histogram) {
	for slot, n := range s {
		if n > 0 {
			h = append(h, times{uint64(slot), n})
		}
	}
	return h
}

// histogramOf reads a blob.
func histogramOf(blob []byte) (histogram, error) {
	var sum slotSums
	err := sum.add(blob)
	return sum.histogram(), err
}

package main

import (
	"math"
	"time"
)

const (
	askAgainAfter   = int64(50 * time.Millisecond) // an ask without an answer is sent again
	silence         = int64(time.Second)           // a partition without an answer is left alone for this time
	verdictLifetime = int64(time.Minute)           // "full" is asked again then, if no message ended it before
	useMemory       = 30 * time.Second             // over which a holder measures its use
)

// holding is a partition's part of a resource that another partition owns.
type holding struct {
	durableWindow int64
	durable       totals // in the log: the amount that leads may use is durable.held()

	window   int64  // of appended
	appended totals // after the entries on their way to the log

	askUntil   int64 // an ask is open until then
	fullWindow int64
	fullUntil  int64
	shortUntil int64
	recalled   bool // the owner recalled in this window: capacity that returns goes to the owner

	use   float64 // decaying sum of the amounts of sales
	useAt int64
}

// restore continues after a replay, which set the durable part.
func (h *holding) restore() { h.window, h.appended = h.durableWindow, h.durable }

// startWindow begins with zero totals if the window is new.
func (h *holding) startWindow(window int64) {
	if window > h.window {
		h.window, h.appended, h.recalled, h.askUntil = window, totals{}, false, 0
	}
}

func (h *holding) addUse(amount, now int64) {
	h.use = h.use*math.Exp(-float64(now-h.useAt)/float64(useMemory)) + float64(amount)
	h.useAt = now
}

// expectedUse returns the use of the next half minute if the demand stays.
func (h *holding) expectedUse(now int64) int64 {
	return int64(h.use * math.Exp(-float64(now-h.useAt)/float64(useMemory)))
}

// confirmed returns the durable totals of the holding's window. A message never has others.
func (h *holding) confirmed() totals {
	if h.durableWindow != h.window {
		return totals{}
	}
	return h.durable
}

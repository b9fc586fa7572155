package exchange

import (
	"fmt"
	"time"
)

// Limits for the difference between the wall clock and the log's last entry at a start.
// Time in the log never goes back. One start with a clock that is wrong by years would let
// everything expire for good. After a start with a fast clock, hours and days begin too
// early until the real time catches up.
const (
	maxClockAhead  = 7 * 24 * time.Hour
	maxClockBehind = time.Hour
)

// alignClockWithLog compares the wall clock with the time of the log's last entry at a
// start. If they differ too much, it returns an error, unless Options.AcceptClock is set. If
// the wall clock is behind, it sets the exchange's clock forward to the entry's time, because
// time in the log never goes back.
func (x *Exchange) alignClockWithLog() error {
	seq, at := x.log.Durable()
	if seq == 0 {
		return nil
	}
	past := time.Duration(x.clock.Now() - at)
	if err := checkClockNearLastEntry(past, at); err != nil && !x.options.AcceptClock {
		return err
	}
	if behind := x.clock.AdvanceTo(at); behind > time.Second {
		x.logger.Warn("the clock is behind the log's last entry; the exchange's clock continues from that entry and stays ahead until a later start",
			"behind", behind.String(), "log", time.Unix(0, at).UTC(), "clock", time.Unix(0, at).Add(-behind).UTC())
	}
	return nil
}

// checkClockNearLastEntry returns an error if the wall clock is a week or more ahead of the log's
// last entry, or over an hour behind it. ahead is the distance, negative if the clock is behind.
// lastEntryNanos is the entry's time in Unix nanoseconds.
func checkClockNearLastEntry(ahead time.Duration, lastEntryNanos int64) error {
	logged := time.Unix(0, lastEntryNanos).UTC()
	shows := func() (clock, log string) {
		return logged.Add(ahead).Format(time.RFC3339), logged.Format(time.RFC3339)
	}
	switch {
	case ahead >= maxClockAhead:
		clock, log := shows()
		return fmt.Errorf("the clock, %s, is %s past the log's last entry, %s; if it is right, start once with --accept-clock, if not, set it",
			clock, ahead.Round(time.Hour), log)
	case ahead < -maxClockBehind:
		clock, log := shows()
		return fmt.Errorf("the clock, %s, is %s behind the log's last entry, %s; if it is wrong, set it; "+
			"if it is right, the log was written under a wrong one: wait until that time has come, "+
			"or start with --accept-clock, and the exchange's clock goes on from there, ahead of the real one",
			clock, (-ahead).Round(time.Minute), log)
	}
	return nil
}

package exchange

import (
	"fmt"
	"time"
)

// How far the wall clock may be from the log's last entry at a start. Time is
// logged and never goes back, so one start with a clock that is wrong by years
// would let everything expire for good; and after one whose clock was far ahead,
// hours and days begin too early until the real time has caught up.
const (
	maxClockAhead  = 7 * 24 * time.Hour
	maxClockBehind = time.Hour
)

// setClock judges the wall clock by the log's last entry, and goes on from that
// where the wall clock is behind.
func (x *Exchange) setClock() error {
	seq, at := x.log.Durable()
	if seq == 0 {
		return nil
	}
	past := time.Duration(x.clock.Now() - at)
	if err := checkClock(past, at); err != nil && !x.options.AcceptClock {
		return err
	}
	if behind := x.clock.Forward(at); behind > time.Second {
		x.logger.Warn("the clock is behind the log's last entry; the exchange's goes on from there, and stays ahead until a later start",
			"behind", behind.String(), "log", time.Unix(0, at).UTC(), "clock", time.Unix(0, at).Add(-behind).UTC())
	}
	return nil
}

// checkClock is told how far the clock is past at, the time of the log's last
// entry; less than nothing where it is behind.
func checkClock(past time.Duration, at int64) error {
	logged := time.Unix(0, at).UTC()
	shows := func() (clock, log string) {
		return logged.Add(past).Format(time.RFC3339), logged.Format(time.RFC3339)
	}
	switch {
	case past >= maxClockAhead:
		clock, log := shows()
		return fmt.Errorf("the clock, %s, is %s past the log's last entry, %s; if it is right, start once with --accept-clock, if not, set it",
			clock, past.Round(time.Hour), log)
	case past < -maxClockBehind:
		clock, log := shows()
		return fmt.Errorf("the clock, %s, is %s behind the log's last entry, %s; if it is wrong, set it; "+
			"if it is right, the log was written under a wrong one: wait until that time has come, "+
			"or start with --accept-clock, and the exchange's clock goes on from there, ahead of the real one",
			clock, (-past).Round(time.Minute), log)
	}
	return nil
}

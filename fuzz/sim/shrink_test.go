package sim

import (
	"slices"
	"time"
)

// shrink searches for the shortest history that still fails. It removes ranges of steps, then
// single steps, as long as possible, and then shortens the times between the rest. The result
// is a valid history, because steps about missing objects do not count.
func shrink(history []line, fails func([]line) bool, until time.Time) []line {
	for size := len(history) / 2; size > 0; {
		dropped := false
		for from := 0; from < len(history) && time.Now().Before(until); {
			shorter := slices.Delete(slices.Clone(history), from, min(from+size, len(history)))
			if begins(shorter) && fails(shorter) {
				history, dropped = shorter, true
			} else {
				from += size
			}
		}
		if !dropped || size > 1 {
			size /= 2
		}
	}
	for i := range history {
		for _, after := range []time.Duration{0, time.Second, history[i].after.Truncate(time.Hour), history[i].after.Truncate(time.Minute)} {
			shorter := slices.Clone(history)
			shorter[i].after = after
			if after < history[i].after && time.Now().Before(until) && fails(shorter) {
				history = shorter
				break
			}
		}
	}
	return history
}

func begins(history []line) bool {
	return slices.ContainsFunc(history, func(l line) bool { return l.verb == "begin" })
}

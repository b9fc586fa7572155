package certificate

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// said counts the lines of a log at a level that have these words.
func said(log *bytes.Buffer, level, words string) (n int) {
	for line := range strings.Lines(log.String()) {
		if strings.Contains(line, "level="+level) && strings.Contains(line, words) {
			n++
		}
	}
	return n
}

// TestWatcher: it looks by itself and when it is told to.
func TestWatcher(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		begun := time.Now()
		cert, key := madeFrom(t, 1, begun, begun.Add(90*24*time.Hour))
		next, nextKey := madeFrom(t, 2, begun, begun.Add(90*24*time.Hour))
		d := newDisk(t)
		d.write(cert, key)
		p := d.open()
		again, gone, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
		go func() {
			NewWatcher(p, slog.New(slog.NewTextHandler(&log, nil))).Run(again, gone)
			close(done)
		}()
		synctest.Wait()
		d.write(next, key)
		again <- struct{}{}
		synctest.Wait()
		if said(&log, "WARN", "previous certificate stays") != 1 || shows(t, p) != 1 {
			t.Errorf("half of a pair: %s", log.String())
		}
		d.write(next, nextKey)
		time.Sleep(checkEvery)
		synctest.Wait()
		if said(&log, "INFO", "new TLS certificate") != 1 || shows(t, p) != 2 {
			t.Errorf("the whole pair: %s", log.String())
		}
		close(gone)
		<-done
	})
}

// TestTheEndIsTold: once a day from a fortnight before it, and past it as an error;
// another certificate begins anew.
func TestTheEndIsTold(t *testing.T) {
	cert, key := made(t, 1, noon.Add(15*24*time.Hour))
	next, nextKey := made(t, 2, noon.Add(60*24*time.Hour))
	d := newDisk(t)
	d.write(cert, key)
	var log bytes.Buffer
	w := NewWatcher(d.open(), slog.New(slog.NewTextHandler(&log, nil)))
	hours := func(from, to int) {
		for hour := from; hour < to; hour++ {
			w.reloadAndWarnOfExpiry(noon.Add(time.Duration(hour) * time.Hour))
		}
	}
	for _, row := range []struct{ until, warnings, errors int }{
		{24, 0, 0}, {25, 1, 0}, {48, 1, 0}, {49, 2, 0}, {15 * 24, 14, 0}, {15*24 + 1, 14, 1}, {17 * 24, 14, 2},
	} {
		log.Reset()
		w.warnedAt = time.Time{}
		hours(0, row.until)
		if warnings, errors := said(&log, "WARN", "soon"), said(&log, "ERROR", "has expired"); warnings != row.warnings || errors != row.errors {
			t.Errorf("until hour %d: %d warnings and %d errors, want %d and %d", row.until, warnings, errors, row.warnings, row.errors)
		}
	}
	d.write(next, nextKey)
	log.Reset()
	hours(17*24, 46*24)
	if said(&log, "WARN", "") != 0 || said(&log, "ERROR", "") != 0 {
		t.Errorf("the next one, in its time: %s", log.String())
	}
}

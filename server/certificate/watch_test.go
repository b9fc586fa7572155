package certificate

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// countLines returns the number of log lines of this level that contain the words.
func countLines(log *bytes.Buffer, level, words string) (n int) {
	for line := range strings.Lines(log.String()) {
		if strings.Contains(line, "level="+level) && strings.Contains(line, words) {
			n++
		}
	}
	return n
}

// The watcher reloads the files on demand and periodically.
func TestWatcherReloads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		begun := time.Now()
		cert, key := newCertificateFrom(t, 1, begun, begun.Add(90*24*time.Hour))
		next, nextKey := newCertificateFrom(t, 2, begun, begun.Add(90*24*time.Hour))
		d := newKeyPairDir(t)
		d.write(cert, key)
		p := d.load()
		reload, stop, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
		go func() {
			NewWatcher(p, slog.New(slog.NewTextHandler(&log, nil))).Run(reload, stop)
			close(done)
		}()
		synctest.Wait()
		d.write(next, key)
		reload <- struct{}{}
		synctest.Wait()
		if countLines(&log, "WARN", "previous certificate stays") != 1 || servedSerial(t, p) != 1 {
			t.Errorf("half of a pair: want one warning and the old certificate, log: %s", log.String())
		}
		d.write(next, nextKey)
		time.Sleep(checkEvery)
		synctest.Wait()
		if countLines(&log, "INFO", "new TLS certificate") != 1 || servedSerial(t, p) != 2 {
			t.Errorf("the whole pair: want one line and the new certificate, log: %s", log.String())
		}
		close(stop)
		<-done
	})
}

// From 14 days before expiry the watcher logs a warning each day, and an error each day
// after it. A new certificate resets this.
func TestWatcherWarnsOfExpiry(t *testing.T) {
	cert, key := newCertificate(t, 1, noon.Add(15*24*time.Hour))
	next, nextKey := newCertificate(t, 2, noon.Add(60*24*time.Hour))
	d := newKeyPairDir(t)
	d.write(cert, key)
	var log bytes.Buffer
	w := NewWatcher(d.load(), slog.New(slog.NewTextHandler(&log, nil)))
	runHours := func(from, to int) {
		for hour := from; hour < to; hour++ {
			w.reloadAndWarnOfExpiry(noon.Add(time.Duration(hour) * time.Hour))
		}
	}
	for _, row := range []struct{ until, warnings, errors int }{
		{24, 0, 0}, {25, 1, 0}, {48, 1, 0}, {49, 2, 0}, {15 * 24, 14, 0}, {15*24 + 1, 14, 1}, {17 * 24, 14, 2},
	} {
		log.Reset()
		w.warnedAt = time.Time{}
		runHours(0, row.until)
		if warnings, errors := countLines(&log, "WARN", "soon"), countLines(&log, "ERROR", "has expired"); warnings != row.warnings || errors != row.errors {
			t.Errorf("until hour %d: %d warnings and %d errors, want %d and %d", row.until, warnings, errors, row.warnings, row.errors)
		}
	}
	d.write(next, nextKey)
	log.Reset()
	runHours(17*24, 46*24)
	if countLines(&log, "WARN", "") != 0 || countLines(&log, "ERROR", "") != 0 {
		t.Errorf("new certificate: want no line, got %s", log.String())
	}
}

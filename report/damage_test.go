package report

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/report/projection"
)

// overwrite puts garbage over all of a file but its first bytes.
func overwrite(t *testing.T, path string, from int64) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	garbage := make([]byte, max(0, info.Size()-from))
	for i := range garbage {
		garbage[i] = byte(i*7 + 3)
	}
	if _, err := f.WriteAt(garbage, from); err != nil {
		t.Fatal(err)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// checkpointed has all of the log of SQLite in the file itself.
func (r *running) checkpointed() {
	r.t.Helper()
	var busy, pages, done int
	if err := r.file.readers.QueryRow("PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &done); err != nil || busy != 0 {
		r.t.Fatal(busy, err)
	}
}

// TestDamageWhileRunning: whatever happens to its files while they are in use, the
// report has all again a little later.
func TestDamageWhileRunning(t *testing.T) {
	for what, do := range map[string]func(*testing.T, *running){
		"the file is removed":      func(t *testing.T, r *running) { must(t, os.Remove(r.path())) },
		"its log is removed":       func(t *testing.T, r *running) { must(t, os.Remove(r.path()+"-wal")) },
		"the folder is removed":    func(t *testing.T, r *running) { must(t, os.RemoveAll(r.opt.Dir)) },
		"its log is in its place":  func(t *testing.T, r *running) { must(t, os.Rename(r.path()+"-wal", r.path())) },
		"garbage in the file":      func(t *testing.T, r *running) { r.checkpointed(); overwrite(t, r.path(), 4096) },
		"garbage from its head on": func(t *testing.T, r *running) { r.checkpointed(); overwrite(t, r.path(), 0) },
		"the file is cut off":      func(t *testing.T, r *running) { r.checkpointed(); must(t, os.Truncate(r.path(), 4096)) },
		"the map is cut off":       func(t *testing.T, r *running) { must(t, os.Truncate(r.path()+"-shm", 0)) },
		"a row that cannot be": func(_ *testing.T, r *running) {
			r.slip("PRAGMA ignore_check_constraints = 1; INSERT INTO place SELECT 2, exchange, epoch, seq, at, begins FROM place")
		},
		"something panics":     func(_ *testing.T, r *running) { r.log.change(func() { r.log.panics = true }) },
		"somebody asks for it": func(_ *testing.T, r *running) { r.Rebuild() },
	} {
		t.Run(what, func(t *testing.T) {
			r := traded(t)
			before := r.Status().Rebuilds
			do(t, r)
			r.log.log(110*time.Minute, &event.LeadDecided{Lead: leadID(20), Campaign: 1, Supplier: 2, Reason: market.ReasonFiltered})
			r.rebuilt(before)
			r.wants(whole(ByBuyer), append([]string{" : leads 5 unmatched 2 auctions 2"}, wanted[1:]...))
			if files, err := filepath.Glob(filepath.Join(r.opt.Dir, "*"+suffix)); err != nil || len(files) != 1 {
				t.Errorf("%q are left: %v", files, err)
			}
		})
	}
}

// slip has another program write into the file.
func (r *running) slip(text string) {
	r.t.Helper()
	db, err := sql.Open("sqlite", dsn(r.path(), "rw", "busy_timeout(5000)"))
	if err == nil {
		_, err = db.Exec(text)
	}
	if err = errors.Join(err, db.Close()); err != nil {
		r.t.Fatal(err)
	}
}

// TestReplaced: a good copy in the file's place is not the file, to which SQLite would
// go on writing while others read the copy.
func TestReplaced(t *testing.T) {
	log := newLog()
	trade(log)
	opt := options(log, t.TempDir())
	opt.checkInterval = time.Hour
	r := run(t, log, opt)
	r.caughtUp()
	bytes, err := os.ReadFile(r.path())
	must(t, err)
	other := filepath.Join(t.TempDir(), "copy")
	must(t, os.WriteFile(other, bytes, 0o600))
	must(t, os.Rename(other, r.path()))
	r.rebuilt(0)
	r.wants(whole(ByBuyer), wanted)
}

// TestDamageFoundByAnAnswer: what only who asks comes across.
func TestDamageFoundByAnAnswer(t *testing.T) {
	log := newLog()
	trade(log)
	opt := options(log, t.TempDir())
	opt.checkInterval = time.Hour
	r := run(t, log, opt)
	r.caughtUp()
	time.Sleep(50 * time.Millisecond) // the first check
	r.checkpointed()
	overwrite(t, r.path(), 4096)
	r.until("somebody meets the damage", func() bool {
		a, err := r.Ask(t.Context(), whole(ByBuyer, ByState))
		if err == nil {
			_, err = a.Next()
			a.Close()
		}
		return err != nil || r.Status().Rebuilds > 0
	})
	r.rebuilt(0)
	r.wants(whole(ByBuyer), wanted)
}

// TestUseless: a file that is of no use is thrown away by a start.
func TestUseless(t *testing.T) {
	for what, test := range map[string]struct {
		do       func(*testing.T, *running)
		rebuilds uint64
	}{
		"none":                   {func(t *testing.T, r *running) { must(t, os.RemoveAll(r.opt.Dir)) }, 0},
		"garbage":                {func(t *testing.T, r *running) { overwrite(t, r.oldest(), 0) }, 1},
		"an empty one":           {func(t *testing.T, r *running) { must(t, os.Truncate(r.oldest(), 0)) }, 1},
		"of another version":     {func(t *testing.T, r *running) { r.alter("PRAGMA user_version = 99") }, 1},
		"of another program":     {func(t *testing.T, r *running) { r.alter("PRAGMA application_id = 99") }, 1},
		"of another life":        {func(_ *testing.T, r *running) { r.log.change(func() { r.log.life.Epoch++ }) }, 1},
		"of another exchange":    {func(_ *testing.T, r *running) { r.log.change(func() { r.log.life.Exchange[0]++ }) }, 1},
		"further than the log":   {func(_ *testing.T, r *running) { r.alter("UPDATE place SET seq = 1000") }, 1},
		"without a table":        {func(_ *testing.T, r *running) { r.alter("DROP TABLE cells") }, 1},
		"good, and all there is": {func(*testing.T, *running) {}, 0},
	} {
		t.Run(what, func(t *testing.T) {
			r := traded(t)
			r.stop()
			test.do(t, r)
			r.log.log(110*time.Minute, &event.LeadDecided{Lead: leadID(20), Campaign: 1, Supplier: 2, Reason: market.ReasonFiltered})
			r = run(t, r.log, r.opt)
			r.caughtUp()
			r.wants(whole(ByBuyer), append([]string{" : leads 5 unmatched 2 auctions 2"}, wanted[1:]...))
			if n := r.Status().Rebuilds; n != test.rebuilds {
				t.Errorf("%d rebuilds, not %d", n, test.rebuilds)
			}
		})
	}
}

func (r *running) oldest() string {
	r.t.Helper()
	_, all, err := listFiles(r.opt.Dir)
	if err != nil || len(all) != 1 {
		r.t.Fatal(all, err)
	}
	for _, path := range all {
		return path
	}
	return ""
}

func (r *running) alter(text string) {
	r.t.Helper()
	f, err := connect(r.t.Context(), r.oldest())
	if err == nil {
		err = errors.Join(f.exec(r.t.Context(), text), f.close())
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

// TestHistory: a report of a log whose beginning is gone goes back as far as that, and
// says so; one whose place is gone is built anew.
func TestHistory(t *testing.T) {
	r := traded(t)
	r.stop()
	r.log.change(func() { r.log.first = 6 })
	r = r.again() // it goes on where it was
	r.wants(whole(ByBuyer), wanted)
	r.Rebuild()
	r.rebuilt(0)
	var fault *Fault
	if _, err := r.Ask(t.Context(), whole()); !errors.As(err, &fault) || fault.Field != "from" {
		t.Errorf("a time before the history is answered with %v", err)
	}
	later := whole(ByBuyer)
	later.From = start.Add(30 * time.Minute).UnixNano()
	r.wants(later, []string{
		" : leads 1 auctions 2", // and the returned lead's source is not known
		"buy_a USD: returns 1 credit 12050001 reversal 9640000",
		"buy_b USD: pings 1 bids 1 wins 1 posts 1 post_rejects 1 sales 1 revenue 5000000 payout 4000000",
		"buy_c USD: posts 1 sales 1 revenue 8000000 payout 6400000",
	})
	r.stop()
	r.alter("UPDATE place SET seq = 3")
	r = run(t, r.log, r.opt)
	r.rebuilt(0)
	r.wants(later, said(later, r.ask(later)))
}

// TestRoom: it waits while there is little room on the disk, and goes on by itself.
func TestRoom(t *testing.T) {
	log := newLog()
	trade(log)
	opt := options(log, t.TempDir())
	little := make(chan bool, 1)
	little <- true
	opt.HasDiskSpace = func() bool {
		now := <-little
		little <- now
		return !now
	}
	r := run(t, log, opt)
	r.until("it waits", func() bool { return r.Status().Paused })
	if s := r.Status(); s.Seq != 0 || s.LagEntries == 0 {
		t.Errorf("it went on: %+v", s)
	}
	if _, err := r.Ask(t.Context(), whole()); !errors.As(err, new(*Behind)) {
		t.Errorf("it answers with what it has not: %v", err)
	}
	<-little
	little <- false
	r.caughtUp()
	r.wants(whole(ByBuyer), wanted)
}

// TestLogFails: a log that cannot be read for a while costs nothing but time.
func TestLogFails(t *testing.T) {
	log := newLog()
	trade(log)
	log.change(func() { log.fails = errors.New("the disk stutters") })
	r := run(t, log, options(log, t.TempDir()))
	r.caughtUp()
	r.wants(whole(ByBuyer), wanted)
	if s := r.Status(); s.Errors != 1 || s.Rebuilds != 0 || s.Lag != 0 || s.LagEntries != 0 {
		t.Errorf("%+v", s)
	}
}

// TestKeep: what is past Keep goes, and is not answered for.
func TestKeep(t *testing.T) {
	log := newLog()
	trade(log)
	opt := options(log, t.TempDir())
	opt.Retention = 24*time.Hour - 30*time.Minute // by the clock of the tests
	r := run(t, log, opt)
	later := whole(ByBuyer)
	later.From = start.Add(30 * time.Minute).UnixNano()
	r.caughtUp()
	r.until("the oldest are gone, a quarter at a time", func() bool {
		return r.scalar("SELECT min(start) FROM cells WHERE unit = 1") == fmt.Sprint(projection.QuarterOf(later.From))
	})
	var fault *Fault
	if _, err := r.Ask(t.Context(), whole(ByBuyer)); !errors.As(err, &fault) || fault.Field != "from" {
		t.Errorf("what is gone is answered for: %v", err)
	}
	if got := r.scalar("SELECT count(*) FROM leads"); got != "0" { // by their identifiers all are of the first minute
		t.Errorf("%s leads are left", got)
	}
	if rows := said(later, r.ask(later)); len(rows) != 4 {
		t.Errorf("%q", rows)
	}
}

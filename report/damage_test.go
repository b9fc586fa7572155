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

	"pingpost/internal/must"
)

// overwrite puts garbage over all of a file but its first bytes.
func overwrite(t *testing.T, path string, from int64) {
	t.Helper()
	f := must.Value(os.OpenFile(path, os.O_RDWR, 0))(t)
	defer f.Close()
	info := must.Value(f.Stat())(t)
	garbage := make([]byte, max(0, info.Size()-from))
	for i := range garbage {
		garbage[i] = byte(i*7 + 3)
	}
	must.Value(f.WriteAt(garbage, from))(t)
}

// checkpointAll moves all of SQLite's log into the file.
func (r *testReport) checkpointAll() {
	r.t.Helper()
	var busy, pages, done int
	if err := r.file.readers.QueryRow("PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &done); err != nil || busy != 0 {
		r.t.Fatal(busy, err)
	}
}

// The report recovers from any damage to its open files.
func TestDamageWhileRunning(t *testing.T) {
	for what, do := range map[string]func(*testing.T, *testReport){
		"the file is removed":      func(t *testing.T, r *testReport) { must.Succeed(t, os.Remove(r.path())) },
		"its log is removed":       func(t *testing.T, r *testReport) { must.Succeed(t, os.Remove(r.path()+"-wal")) },
		"the folder is removed":    func(t *testing.T, r *testReport) { must.Succeed(t, os.RemoveAll(r.opt.Dir)) },
		"its log is in its place":  func(t *testing.T, r *testReport) { must.Succeed(t, os.Rename(r.path()+"-wal", r.path())) },
		"garbage in the file":      func(t *testing.T, r *testReport) { r.checkpointAll(); overwrite(t, r.path(), 4096) },
		"garbage from its head on": func(t *testing.T, r *testReport) { r.checkpointAll(); overwrite(t, r.path(), 0) },
		"the file is cut off":      func(t *testing.T, r *testReport) { r.checkpointAll(); must.Succeed(t, os.Truncate(r.path(), 4096)) },
		"the map is cut off":       func(t *testing.T, r *testReport) { must.Succeed(t, os.Truncate(r.path()+"-shm", 0)) },
		"a row that cannot be": func(_ *testing.T, r *testReport) {
			r.execInFile("PRAGMA ignore_check_constraints = 1; INSERT INTO place SELECT 2, exchange, epoch, seq, at, begins FROM place")
		},
		"something panics":     func(_ *testing.T, r *testReport) { r.log.change(func() { r.log.panics = true }) },
		"somebody asks for it": func(_ *testing.T, r *testReport) { r.RequestRebuild() },
	} {
		t.Run(what, func(t *testing.T) {
			r := newTradeReport(t)
			before := r.ProgressStatus().Rebuilds
			do(t, r)
			r.log.log(110*time.Minute, &event.LeadDecided{Lead: leadID(20), Campaign: 1, Supplier: 2, Reason: market.ReasonFiltered})
			r.waitRebuilt(before)
			r.wantRows(wholeTime(ByBuyer), append([]string{" : leads 5 unmatched 2 auctions 2"}, wanted[1:]...))
			if files, err := filepath.Glob(filepath.Join(r.opt.Dir, "*"+suffix)); err != nil || len(files) != 1 {
				t.Errorf("%q are left: %v", files, err)
			}
		})
	}
}

// execInFile executes a statement over another connection.
func (r *testReport) execInFile(text string) {
	r.t.Helper()
	db, err := sql.Open("sqlite", dsn(r.path(), "rw", "busy_timeout(5000)"))
	if err == nil {
		_, err = db.Exec(text)
	}
	if err = errors.Join(err, db.Close()); err != nil {
		r.t.Fatal(err)
	}
}

// A good copy in the file's place is detected. SQLite would otherwise write to the deleted
// file while readers use the copy.
func TestReplacedFile(t *testing.T) {
	log := newLog()
	trade(log)
	opt := options(log, t.TempDir())
	opt.checkInterval = time.Hour
	r := run(t, log, opt)
	r.waitCaughtUp()
	bytes := must.Value(os.ReadFile(r.path()))(t)
	other := filepath.Join(t.TempDir(), "copy")
	must.Succeed(t, os.WriteFile(other, bytes, 0o600))
	must.Succeed(t, os.Rename(other, r.path()))
	r.waitRebuilt(0)
	r.wantRows(wholeTime(ByBuyer), wanted)
}

// Damage that only a question finds causes a rebuild.
func TestDamageFoundByAnAnswer(t *testing.T) {
	log := newLog()
	trade(log)
	opt := options(log, t.TempDir())
	opt.checkInterval = time.Hour
	r := run(t, log, opt)
	r.waitCaughtUp()
	time.Sleep(50 * time.Millisecond) // the first check
	r.checkpointAll()
	overwrite(t, r.path(), 4096)
	r.waitUntil("somebody meets the damage", func() bool {
		a, err := r.Ask(t.Context(), wholeTime(ByBuyer, ByState))
		if err == nil {
			_, err = a.Next()
			a.Close()
		}
		return err != nil || r.ProgressStatus().Rebuilds > 0
	})
	r.waitRebuilt(0)
	r.wantRows(wholeTime(ByBuyer), wanted)
}

// The start deletes a file that it cannot use.
func TestUnusableFile(t *testing.T) {
	for what, test := range map[string]struct {
		do       func(*testing.T, *testReport)
		rebuilds uint64
	}{
		"none":                   {func(t *testing.T, r *testReport) { must.Succeed(t, os.RemoveAll(r.opt.Dir)) }, 0},
		"garbage":                {func(t *testing.T, r *testReport) { overwrite(t, r.oldest(), 0) }, 1},
		"an empty one":           {func(t *testing.T, r *testReport) { must.Succeed(t, os.Truncate(r.oldest(), 0)) }, 1},
		"of another version":     {func(t *testing.T, r *testReport) { r.changeFile("PRAGMA user_version = 99") }, 1},
		"of another program":     {func(t *testing.T, r *testReport) { r.changeFile("PRAGMA application_id = 99") }, 1},
		"of another life":        {func(_ *testing.T, r *testReport) { r.log.change(func() { r.log.life.Epoch++ }) }, 1},
		"of another exchange":    {func(_ *testing.T, r *testReport) { r.log.change(func() { r.log.life.Exchange[0]++ }) }, 1},
		"further than the log":   {func(_ *testing.T, r *testReport) { r.changeFile("UPDATE place SET seq = 1000") }, 1},
		"without a table":        {func(_ *testing.T, r *testReport) { r.changeFile("DROP TABLE cells") }, 1},
		"good, and all there is": {func(*testing.T, *testReport) {}, 0},
	} {
		t.Run(what, func(t *testing.T) {
			r := newTradeReport(t)
			r.stop()
			test.do(t, r)
			r.log.log(110*time.Minute, &event.LeadDecided{Lead: leadID(20), Campaign: 1, Supplier: 2, Reason: market.ReasonFiltered})
			r = run(t, r.log, r.opt)
			r.waitCaughtUp()
			r.wantRows(wholeTime(ByBuyer), append([]string{" : leads 5 unmatched 2 auctions 2"}, wanted[1:]...))
			if n := r.ProgressStatus().Rebuilds; n != test.rebuilds {
				t.Errorf("%d rebuilds, not %d", n, test.rebuilds)
			}
		})
	}
}

func (r *testReport) oldest() string {
	r.t.Helper()
	_, all, err := listDatabaseFiles(r.opt.Dir)
	if err != nil || len(all) != 1 {
		r.t.Fatal(all, err)
	}
	for _, path := range all {
		return path
	}
	return ""
}

func (r *testReport) changeFile(text string) {
	r.t.Helper()
	f, err := openDatabase(r.t.Context(), r.oldest())
	if err == nil {
		err = errors.Join(f.executeStatement(r.t.Context(), text), f.close())
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

// A report of a log without its beginning starts at the oldest entry and reports that
// time. A report whose position is gone from the log is rebuilt.
func TestHistory(t *testing.T) {
	r := newTradeReport(t)
	r.stop()
	r.log.change(func() { r.log.first = 6 })
	r = r.restart() // it goes on where it was
	r.wantRows(wholeTime(ByBuyer), wanted)
	r.RequestRebuild()
	r.waitRebuilt(0)
	var fault *InvalidQuestionError
	if _, err := r.Ask(t.Context(), wholeTime()); !errors.As(err, &fault) || fault.Field != "from" {
		t.Errorf("a time before the history is answered with %v", err)
	}
	later := wholeTime(ByBuyer)
	later.From = start.Add(30 * time.Minute).UnixNano()
	r.wantRows(later, []string{
		" : leads 1 auctions 2", // and the returned lead's source is not known
		"buy_a USD: returns 1 credit 12050001 reversal 9640000",
		"buy_b USD: pings 1 bids 1 wins 1 posts 1 post_rejects 1 sales 1 revenue 5000000 payout 4000000",
		"buy_c USD: posts 1 sales 1 revenue 8000000 payout 6400000",
	})
	r.stop()
	r.changeFile("UPDATE place SET seq = 3")
	r = run(t, r.log, r.opt)
	r.waitRebuilt(0)
	r.wantRows(later, rowLines(later, r.ask(later)))
}

// The report pauses while the disk has too little space, and continues by itself.
func TestDiskSpace(t *testing.T) {
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
	r.waitUntil("it waits", func() bool { return r.ProgressStatus().Paused })
	if s := r.ProgressStatus(); s.Seq != 0 || s.LagEntries == 0 {
		t.Errorf("it went on: %+v", s)
	}
	if _, err := r.Ask(t.Context(), wholeTime()); !errors.As(err, new(*LogNotReachedError)) {
		t.Errorf("it answers with what it has not: %v", err)
	}
	<-little
	little <- false
	r.waitCaughtUp()
	r.wantRows(wholeTime(ByBuyer), wanted)
}

// The report continues after a temporary failure of the log.
func TestLogFails(t *testing.T) {
	log := newLog()
	trade(log)
	log.change(func() { log.fails = errors.New("the disk stutters") })
	r := run(t, log, options(log, t.TempDir()))
	r.waitCaughtUp()
	r.wantRows(wholeTime(ByBuyer), wanted)
	if s := r.ProgressStatus(); s.Errors != 1 || s.Rebuilds != 0 || s.Lag != 0 || s.LagEntries != 0 {
		t.Errorf("%+v", s)
	}
}

// Data older than Retention is removed, and questions about it return a fault.
func TestRetention(t *testing.T) {
	log := newLog()
	trade(log)
	opt := options(log, t.TempDir())
	opt.Retention = 24*time.Hour - 30*time.Minute // by the clock of the tests
	r := run(t, log, opt)
	later := wholeTime(ByBuyer)
	later.From = start.Add(30 * time.Minute).UnixNano()
	r.waitCaughtUp()
	r.waitUntil("the oldest are gone, a quarter at a time", func() bool {
		return r.scalar("SELECT min(start) FROM cells WHERE unit = 1") == fmt.Sprint(projection.QuarterHourOf(later.From))
	})
	var fault *InvalidQuestionError
	if _, err := r.Ask(t.Context(), wholeTime(ByBuyer)); !errors.As(err, &fault) || fault.Field != "from" {
		t.Errorf("what is gone is answered for: %v", err)
	}
	if got := r.scalar("SELECT count(*) FROM leads"); got != "0" { // by their identifiers all are of the first minute
		t.Errorf("%s leads are left", got)
	}
	if rows := rowLines(later, r.ask(later)); len(rows) != 4 {
		t.Errorf("%q", rows)
	}
}

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

// overwriteFrom overwrites a file with garbage from an offset to its end.
func overwriteFrom(t *testing.T, path string, from int64) {
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

func TestRebuildAfterDamageToOpenFiles(t *testing.T) {
	for name, damage := range map[string]func(*testing.T, *testReport){
		"the file is removed":                 func(t *testing.T, r *testReport) { must.Succeed(t, os.Remove(r.path())) },
		"the log is removed":                  func(t *testing.T, r *testReport) { must.Succeed(t, os.Remove(r.path()+"-wal")) },
		"the folder is removed":               func(t *testing.T, r *testReport) { must.Succeed(t, os.RemoveAll(r.opt.Dir)) },
		"the log replaces the file":           func(t *testing.T, r *testReport) { must.Succeed(t, os.Rename(r.path()+"-wal", r.path())) },
		"garbage in the file":                 func(t *testing.T, r *testReport) { r.checkpointAll(); overwriteFrom(t, r.path(), 4096) },
		"garbage in the whole file":           func(t *testing.T, r *testReport) { r.checkpointAll(); overwriteFrom(t, r.path(), 0) },
		"the file is truncated":               func(t *testing.T, r *testReport) { r.checkpointAll(); must.Succeed(t, os.Truncate(r.path(), 4096)) },
		"the shared memory file is truncated": func(t *testing.T, r *testReport) { must.Succeed(t, os.Truncate(r.path()+"-shm", 0)) },
		"an impossible row": func(_ *testing.T, r *testReport) {
			r.execInFile("PRAGMA ignore_check_constraints = 1; INSERT INTO place SELECT 2, exchange, epoch, seq, at, begins FROM place")
		},
		"a panic":             func(_ *testing.T, r *testReport) { r.log.change(func() { r.log.panics = true }) },
		"a requested rebuild": func(_ *testing.T, r *testReport) { r.RequestRebuild() },
	} {
		t.Run(name, func(t *testing.T) {
			r := newTradeReport(t)
			before, errorsBefore := r.ProgressStatus().Rebuilds, r.ProgressStatus().Errors
			damage(t, r)
			r.log.log(110*time.Minute, &event.LeadDecided{Lead: leadID(20), Campaign: 1, Supplier: 2, Reason: market.ReasonFiltered})
			r.waitRebuilt(before)
			r.wantRows(wholeTime(ByBuyer), append([]string{" : leads 5 unmatched 2 auctions 2"}, tradeRowsByBuyer[1:]...))
			if counted := r.ProgressStatus().Errors - errorsBefore; counted > 0 != (name != "a requested rebuild") {
				t.Errorf("%d errors counted", counted)
			}
			if files, err := filepath.Glob(filepath.Join(r.opt.Dir, "*"+suffix)); err != nil || len(files) != 1 {
				t.Errorf("files after the rebuild: %q, %v", files, err)
			}
		})
	}
}

// execInFile executes a statement on another connection.
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

// TestReplacedFileCausesRebuild: otherwise SQLite would write to the deleted file while readers use
// the copy in its place.
func TestReplacedFileCausesRebuild(t *testing.T) {
	log := newTestLog()
	logTrade(log)
	opt := testOptions(log, t.TempDir())
	opt.checkInterval = time.Hour
	r := startReport(t, log, opt)
	r.waitCaughtUp()
	bytes := must.Value(os.ReadFile(r.path()))(t)
	other := filepath.Join(t.TempDir(), "copy")
	must.Succeed(t, os.WriteFile(other, bytes, 0o600))
	must.Succeed(t, os.Rename(other, r.path()))
	r.waitRebuilt(0)
	r.wantRows(wholeTime(ByBuyer), tradeRowsByBuyer)
}

func TestDamageFoundByAnswerCausesRebuild(t *testing.T) {
	log := newTestLog()
	logTrade(log)
	opt := testOptions(log, t.TempDir())
	opt.checkInterval = time.Hour
	r := startReport(t, log, opt)
	r.waitCaughtUp()
	time.Sleep(50 * time.Millisecond) // the first check
	r.checkpointAll()
	overwriteFrom(t, r.path(), 4096)
	r.waitUntil("an answer finds the damage", func() bool {
		a, err := r.Ask(t.Context(), wholeTime(ByBuyer, ByState))
		if err == nil {
			_, err = a.Next()
			a.Close()
		}
		return err != nil || r.ProgressStatus().Rebuilds > 0
	})
	r.waitRebuilt(0)
	r.wantRows(wholeTime(ByBuyer), tradeRowsByBuyer)
}

func TestUnusableFileIsRebuiltAtStart(t *testing.T) {
	for name, test := range map[string]struct {
		damage   func(*testing.T, *testReport)
		rebuilds uint64
		errors   uint64
	}{
		"no file":                {func(t *testing.T, r *testReport) { must.Succeed(t, os.RemoveAll(r.opt.Dir)) }, 0, 0},
		"garbage":                {func(t *testing.T, r *testReport) { overwriteFrom(t, r.onlyFile(), 0) }, 1, 1},
		"empty file":             {func(t *testing.T, r *testReport) { must.Succeed(t, os.Truncate(r.onlyFile(), 0)) }, 1, 0},
		"another version":        {func(t *testing.T, r *testReport) { r.changeFile("PRAGMA user_version = 99") }, 1, 0},
		"another program":        {func(t *testing.T, r *testReport) { r.changeFile("PRAGMA application_id = 99") }, 1, 0},
		"another log epoch":      {func(_ *testing.T, r *testReport) { r.log.change(func() { r.log.identity.Epoch++ }) }, 1, 0},
		"another exchange":       {func(_ *testing.T, r *testReport) { r.log.change(func() { r.log.identity.Exchange[0]++ }) }, 1, 0},
		"position after the log": {func(_ *testing.T, r *testReport) { r.changeFile("UPDATE place SET seq = 1000") }, 1, 0},
		"missing table":          {func(_ *testing.T, r *testReport) { r.changeFile("DROP TABLE cells") }, 1, 1},
		"valid file":             {func(*testing.T, *testReport) {}, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := newTradeReport(t)
			r.stop()
			test.damage(t, r)
			r.log.log(110*time.Minute, &event.LeadDecided{Lead: leadID(20), Campaign: 1, Supplier: 2, Reason: market.ReasonFiltered})
			r = startReport(t, r.log, r.opt)
			r.waitCaughtUp()
			r.wantRows(wholeTime(ByBuyer), append([]string{" : leads 5 unmatched 2 auctions 2"}, tradeRowsByBuyer[1:]...))
			if s := r.ProgressStatus(); s.Rebuilds != test.rebuilds || s.Errors != test.errors {
				t.Errorf("%d rebuilds and %d errors, want %d and %d", s.Rebuilds, s.Errors, test.rebuilds, test.errors)
			}
		})
	}
}

func (r *testReport) onlyFile() string {
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
	f, err := openDatabaseForWriting(r.t.Context(), r.onlyFile())
	if err == nil {
		err = errors.Join(f.executeStatement(r.t.Context(), text), f.close())
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

// TestReportStartsAtOldestLogEntry: a rebuild starts at the oldest entry, and earlier questions are
// invalid. A report whose position is no longer in the log is rebuilt.
func TestReportStartsAtOldestLogEntry(t *testing.T) {
	r := newTradeReport(t)
	r.stop()
	r.log.change(func() { r.log.first = 6 })
	r = r.restart() // continues at its position
	r.wantRows(wholeTime(ByBuyer), tradeRowsByBuyer)
	r.RequestRebuild()
	r.waitRebuilt(0)
	var invalid *InvalidQuestionError
	if _, err := r.Ask(t.Context(), wholeTime()); !errors.As(err, &invalid) || invalid.Field != "from" {
		t.Errorf("question about a time before the log: %v", err)
	}
	later := wholeTime(ByBuyer)
	later.From = start.Add(30 * time.Minute).UnixNano()
	r.wantRows(later, []string{
		" : leads 1 auctions 2", // the returned lead's source is unknown
		"buy_a USD: returns 1 credit 12050001 reversal 9640000",
		"buy_b USD: pings 1 bids 1 wins 1 posts 1 post_rejects 1 sales 1 revenue 5000000 payout 4000000",
		"buy_c USD: posts 1 sales 1 revenue 8000000 payout 6400000",
	})
	r.stop()
	r.changeFile("UPDATE place SET seq = 3")
	r = startReport(t, r.log, r.opt)
	r.waitRebuilt(0)
	r.wantRows(later, rowLines(later, r.rowsOf(later)))
}

// TestReportPausesWithoutDiskSpace also checks that the report continues by itself.
func TestReportPausesWithoutDiskSpace(t *testing.T) {
	log := newTestLog()
	logTrade(log)
	opt := testOptions(log, t.TempDir())
	isFull := make(chan bool, 1)
	isFull <- true
	opt.HasDiskSpace = func() bool {
		now := <-isFull
		isFull <- now
		return !now
	}
	r := startReport(t, log, opt)
	r.waitUntil("the report pauses", func() bool { return r.ProgressStatus().Paused })
	if s := r.ProgressStatus(); s.Seq != 0 || s.LagEntries == 0 {
		t.Errorf("the paused report has progress: %+v", s)
	}
	if _, err := r.Ask(t.Context(), wholeTime()); !errors.As(err, new(*NotFollowedYetError)) {
		t.Errorf("answer of a paused report: %v, want LogNotReachedError", err)
	}
	<-isFull
	isFull <- false
	r.waitCaughtUp()
	r.wantRows(wholeTime(ByBuyer), tradeRowsByBuyer)
}

func TestReportContinuesAfterLogError(t *testing.T) {
	log := newTestLog()
	logTrade(log)
	log.change(func() { log.nextErr = errors.New("temporary disk error") })
	r := startReport(t, log, testOptions(log, t.TempDir()))
	r.waitCaughtUp()
	r.wantRows(wholeTime(ByBuyer), tradeRowsByBuyer)
	if s := r.ProgressStatus(); s.Errors != 1 || s.Rebuilds != 0 || s.Lag != 0 || s.LagEntries != 0 {
		t.Errorf("status %+v", s)
	}
}

// TestRetentionRemovesOldData: questions about removed data are invalid.
func TestRetentionRemovesOldData(t *testing.T) {
	log := newTestLog()
	logTrade(log)
	opt := testOptions(log, t.TempDir())
	opt.Retention = 24*time.Hour - 30*time.Minute // by the clock of the tests
	r := startReport(t, log, opt)
	later := wholeTime(ByBuyer)
	later.From = start.Add(30 * time.Minute).UnixNano()
	r.waitCaughtUp()
	r.waitUntil("the oldest quarter hours are removed", func() bool {
		return r.queryString("SELECT min(start) FROM cells WHERE unit = 1") == fmt.Sprint(projection.QuarterHourOf(later.From))
	})
	var invalid *InvalidQuestionError
	if _, err := r.Ask(t.Context(), wholeTime(ByBuyer)); !errors.As(err, &invalid) || invalid.Field != "from" {
		t.Errorf("question about removed data: %v", err)
	}
	if got := r.queryString("SELECT count(*) FROM leads"); got != "0" { // the ids of all leads are from the first minute
		t.Errorf("%s leads remain, want 0", got)
	}
	if rows := rowLines(later, r.rowsOf(later)); len(rows) != 4 {
		t.Errorf("rows %q, want 4", rows)
	}
}

package sim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"pingpost/engine/event"
	"pingpost/engine/ledger"
	"pingpost/engine/market"
	"pingpost/engine/state"
	leadreport "pingpost/report"
	"pingpost/wal"
)

// logSource provides the exchange's log to a report.
type logSource struct {
	x     *exchange
	whole *state.State // has the names
}

func (logSource) Life() leadreport.Life { return leadreport.Life{Exchange: [16]byte{1}, Epoch: 1} }

func (l logSource) Durable() (seq uint64, at int64) {
	all := l.x.disk.all()
	if len(all) == 0 {
		return 0, 0
	}
	return uint64(len(all)), all[len(all)-1].at
}

func (l logSource) NameOf(kind event.ObjectKind, ref market.Ref) string {
	return l.whole.NameOf(kind, ref)
}

func (l logSource) RefOf(kind event.ObjectKind, id string) market.Ref { return l.whole.RefOf(kind, id) }

func (l logSource) NewReader(from uint64) (leadreport.Reader, error) {
	return &tellings{l.x.disk, max(1, from)}, nil
}

type tellings struct {
	disk *disk
	next uint64
}

func (r *tellings) Next() (wal.Entry, error) {
	all := r.disk.all()
	if r.next > uint64(len(all)) {
		return wal.Entry{}, io.EOF
	}
	e := all[r.next-1]
	r.next++
	return wal.Entry{Seq: r.next - 1, At: e.at, Data: e.data}, nil
}

func (*tellings) Close() {}

// TestReportIsTheLedger plays histories with crashes. A report follows each history; chance
// stops, deletes and damages it. At the end and at each stop, its sums must equal every party's
// statement exactly.
func TestReportIsTheLedger(t *testing.T) {
	if testing.Short() {
		t.Skip("long: make test-long compares the report with the ledger")
	}
	most := 20 // days; a few weeks are enough for a return
	if raceDetector || testing.Short() {
		most = 5
	}
	rapid.Check(t, func(draw *rapid.T) {
		seed := rapid.Uint64Range(1, 60).Draw(draw, "seed")
		days := rapid.IntRange(most/4, most).Draw(draw, "days")
		spoils := rapid.SliceOfN(rapid.IntRange(0, 5), 4, 4).Draw(draw, "spoils") // drawn outside the bubble
		dir, fault := t.TempDir(), ""
		synctest.Test(t, func(t *testing.T) {
			p := &play{x: newExchange(t), sent: map[string]line{}}
			defer func() {
				if p.x.engine != nil {
					p.x.killProcess()
				}
			}()
			history := generate(seed, days)
			for i, l := range history {
				if fault = p.step(l); fault != "" {
					return
				}
				if every := len(history)/len(spoils) + 1; p.m != nil && i%every == every/2 {
					if fault = failed(damageReport(spoils[i/every], dir)); fault != "" {
						return
					}
					if fault = p.auditReport(t, dir); fault != "" {
						return
					}
				}
			}
			fault = p.auditReport(t, dir)
		})
		if fault != "" {
			draw.Fatal(fault)
		}
	})
}

// damageReport deletes or damages the report's files.
func damageReport(how int, dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.db*"))
	switch how {
	case 0:
		err = os.RemoveAll(dir)
	case 1:
		for _, file := range files {
			err = errors.Join(err, os.Truncate(file, 5000))
		}
	}
	return err
}

// auditReport lets a report catch up, and compares it.
func (p *play) auditReport(t *testing.T, dir string) string {
	whole, err := p.x.replayed(false)
	if err != nil {
		return err.Error()
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	r := leadreport.New(leadreport.Options{Dir: dir, Source: logSource{p.x, whole}})
	go func() {
		defer close(ended)
		r.Run(ctx)
	}()
	defer func() {
		cancel()
		<-ended
	}()
	seq, _ := logSource{x: p.x}.Durable()
	for waits := 0; r.Status().Seq < seq; waits++ {
		if time.Sleep(time.Second); waits > 1000 {
			return fmt.Sprintf("the report is at %+v, but the log at %d", r.Status(), seq)
		}
	}
	return p.compareReport(r, whole)
}

// compareReport compares the report with the statements of all parties over the whole history.
func (p *play) compareReport(r *leadreport.Report, whole *state.State) string {
	const span = 240 * time.Hour
	period := ledger.Period{From: p.first.Add(-span).Truncate(24 * time.Hour).UnixNano(), To: time.Now().Add(span).Truncate(24 * time.Hour).UnixNano()}
	statements, err := p.statements(whole, period)
	if err != nil {
		return err.Error()
	}
	for name, sum := range statements {
		if fault := compareParty(r, sum, name); fault != "" {
			return fault
		}
	}
	return ""
}

// compareParty queries in several ways: the sum of the rows must always equal the statement.
func compareParty(r *leadreport.Report, sum *ledger.Statement, name string) string {
	want := map[string]int64{}
	for _, total := range sum.Totals {
		of := total.Currency.String() + " "
		switch {
		case total.Kind == ledger.EntrySale && sum.IsBuyer():
			want[of+"sales"] += int64(total.Count)
			want[of+"revenue"] -= int64(total.Amount)
		case total.Kind == ledger.EntrySale:
			want[of+"payout"] += int64(total.Amount)
		case total.Kind == ledger.EntryReturn:
			want[of+"returns"] += int64(total.Count)
			want[of+"credit"] += int64(total.Amount)
		case total.Kind == ledger.EntryReversal:
			want[of+"reversal"] -= int64(total.Amount)
		}
	}
	whose, columns := leadreport.ByBuyer, []string{"sales", "revenue", "returns", "credit"}
	if !sum.IsBuyer() {
		whose, columns = leadreport.BySupplier, []string{"payout", "reversal"}
	}
	for _, by := range [][]leadreport.Dimension{nil, {leadreport.ByDay, leadreport.ByCampaign}, {leadreport.ByHour, leadreport.BySource, leadreport.ByState, leadreport.ByReason}} {
		q := leadreport.Question{By: by, From: sum.From, To: sum.To, Only: map[leadreport.Dimension]string{whose: name}}
		got, err := sums(r, q, columns)
		if err != nil {
			return err.Error()
		}
		if fault := differ(got, want); fault != "" {
			return fmt.Sprintf("of %s by %v: %s", name, by, fault)
		}
	}
	return ""
}

func sums(r *leadreport.Report, q leadreport.Question, columns []string) (map[string]int64, error) {
	answer, err := r.Ask(context.Background(), q)
	if err != nil {
		return nil, err
	}
	defer answer.Close()
	all := map[string]int64{}
	for {
		row, err := answer.Next()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		for _, name := range columns {
			all[row.Currency+" "+name] += row.Count(name)
		}
	}
}

func differ(got, want map[string]int64) string {
	for _, pair := range [][2]map[string]int64{{got, want}, {want, got}} {
		for name := range pair[0] {
			if got[name] != want[name] {
				return fmt.Sprintf("the report has%s %s, the statement %s", " "+strings.TrimSpace(name), amount(got[name]), amount(want[name]))
			}
		}
	}
	return ""
}

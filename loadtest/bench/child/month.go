package child

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
	"pingpost/report"
	"pingpost/wal"
)

// MonthSpec describes the report of a month for an exchange that does not run.
type MonthSpec struct {
	Dir   string // the exchange's data folder
	Leads int
}

// MonthResult is the size of the report.
type MonthResult struct{ Bytes float64 }

// monthLog is the log of a month. It is generated while it is read. Its last entry has the number of the
// last entry of an exchange's log, so that the exchange continues the report from its own next entry.
type monthLog struct {
	leads        int
	began        time.Time
	identity     report.LogIdentity
	lastSeq      uint64
	*state.State // names
}

const monthSpan = 30 * 24 * time.Hour

func (m *monthLog) interval() time.Duration { return monthSpan / time.Duration(m.leads) }

func (m *monthLog) ends() time.Time { return m.began.Add(m.interval() * time.Duration(m.leads)) }

// LogIdentity returns the identity of the exchange's log.
func (m *monthLog) LogIdentity() report.LogIdentity { return m.identity }

// LastEntry returns the position of the last lead.
func (m *monthLog) LastEntry() (seq uint64, at int64) { return m.lastSeq, m.ends().UnixNano() }

// NewReader returns a reader at the first lead.
func (m *monthLog) NewReader(from uint64) (report.LogReader, error) {
	if from > 1 {
		return nil, errors.New("a month is read from its beginning")
	}
	events := newLeadEvents(m.began.UnixNano())
	events.interval = m.interval()
	return &monthLogReader{log: m, events: events}, nil
}

type monthLogReader struct {
	log    *monthLog
	events *leadEvents
	n      int
	acted  bool // the action before lead n was returned
	data   []byte
}

// leadsPerAction is the number of leads between two actions of operators.
const leadsPerAction = 1000

// Next returns the next lead, or an operator's action before it. One lead in three has no buyer, and the
// states vary.
func (r *monthLogReader) Next() (wal.Entry, error) {
	if r.n == r.log.leads {
		return wal.Entry{}, io.EOF
	}
	if r.n%leadsPerAction == 0 && !r.acted {
		r.acted = true
		return r.nextAction(), nil
	}
	r.acted = false
	lead := r.events.leadDecided(r.n)
	r.events.addAuction(ReportBids)
	if r.n%3 == 0 {
		lead.Sale.Buyer, lead.Reason = 0, market.ReasonNoBid
		lead.Auction.Bids[0].Outcome = market.OutcomeNoBid
	}
	lead.Fields[0].Text = []byte(monthStates[r.n%len(monthStates)])
	r.n++
	r.data = event.AppendRecord(r.data[:0], lead)
	entry := wal.Entry{Seq: r.log.lastSeq + uint64(r.n), At: lead.Decided, Data: r.data}
	if r.n == r.log.leads {
		entry.Seq = r.log.lastSeq
	}
	return entry, nil
}

// nextAction returns the entry of an action of an operator at the time of the next lead.
func (r *monthLogReader) nextAction() wal.Entry {
	at := r.log.began.Add(r.log.interval() * time.Duration(r.n)).UnixNano()
	action := &event.OperatorActionRecorded{
		Action: market.RequestID(r.events.newID(at)), Phase: event.ActionWhole, At: at, By: "ann", Credential: event.BySession, Role: market.RoleOperator,
		Address: "192.0.2.7", Operation: "POST /admin/v1/buyers/{id}/pause", TargetKind: "buyer", Target: "buy_00007", Before: `{"paused":false}`, After: `{"paused":true}`, Status: 204,
	}
	r.data = event.AppendRecord(r.data[:0], action)
	return wal.Entry{Seq: r.log.lastSeq + uint64(r.n), At: at, Data: r.data}
}

// Close does nothing.
func (*monthLogReader) Close() {}

var monthStates = strings.Fields("AL CA DE IL KY MI NE NY OR TX WA WY")

// buildMonth builds the report of a month in the data folder of an exchange, in place of the exchange's
// own report. When the exchange starts, it continues this report.
func buildMonth(spec *MonthSpec) (*MonthResult, error) {
	m := &monthLog{leads: spec.Leads, began: time.Now().Add(-monthSpan).Truncate(time.Hour), State: state.New()}
	m.Apply(1, m.began.UnixNano(), newLeadEvents(0).namesGiven())
	if err := m.readEndOfExchangeLog(spec.Dir); err != nil {
		return nil, err
	}
	folder := filepath.Join(spec.Dir, "report")
	if err := os.RemoveAll(folder); err != nil {
		return nil, err
	}
	kept, stop := startReport(m, spec.Dir)
	defer stop()
	last := m.began.Add(m.interval() * time.Duration(m.leads-1)).UnixNano()
	for status := kept.ProgressStatus(); status.At < last; status = kept.ProgressStatus() {
		if status.Errors > 0 {
			return nil, errors.New("the report met an error")
		}
		time.Sleep(time.Millisecond)
	}
	size, err := folderSize(folder)
	return &MonthResult{Bytes: float64(size)}, err
}

// readEndOfExchangeLog reads the identity of an exchange's log, and the number of its last entry.
func (m *monthLog) readEndOfExchangeLog(dir string) (err error) {
	if m.identity.Epoch, err = wal.ReadEpoch(dir); err != nil {
		return err
	}
	reader, err := wal.NewReader(dir, 1)
	if err != nil {
		return err
	}
	defer reader.Close()
	var decoder event.Decoder
	for {
		entry, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		decoded, err := decoder.Decode(entry.Data)
		if err != nil {
			return err
		}
		if founded, ok := decoded.(*event.ExchangeFounded); ok {
			m.identity.Exchange = founded.Epoch
		}
		m.lastSeq = entry.Seq
	}
}

package admin

import (
	"bytes"
	"encoding/csv"
	"strconv"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/ledger"
	"pingpost/engine/market"
	"pingpost/engine/market/escape"
	"pingpost/engine/state"
	"pingpost/report"
	"pingpost/report/columnar"
	"pingpost/server/wire"
)

// statementWriter encodes a statement in one output format. Each method appends the encoded
// text to dst.
type statementWriter interface {
	appendBegin(dst []byte, sum *ledger.Statement) []byte
	appendEntry(dst []byte, e *ledger.Entry) []byte
	// finish ends the statement. After an error the answer is incomplete and must not look
	// complete.
	appendEnd(dst []byte) ([]byte, error)
}

// statementContext has the data that a statement's entries lack: the names of campaigns and the
// account's currency.
type statementContext struct {
	names    *state.State
	id       string
	currency market.Currency // of the account
}

// currencyOf returns the name of the currency c. An operator's top-up has no currency of its
// own; for it the result is the account's.
func (w *statementContext) currencyOf(c market.Currency) string {
	if c == (market.Currency{}) {
		return w.currency.String()
	}
	return c.String()
}

func (w *statementContext) campaignName(ref market.Ref) string {
	if ref == 0 {
		return ""
	}
	return w.names.NameOf(event.ObjectCampaign, ref)
}

// appendEntryMembers appends an entry of a statement as a JSON object. buys is set for a buyer:
// its entries always have a balance, which is null without an account.
func (w *statementContext) appendEntryMembers(dst []byte, e *ledger.Entry, buys bool) []byte {
	dst = wire.AppendTimeString(append(dst, `{"at":`...), e.At)
	dst = strconv.AppendUint(append(dst, `,"entry":`...), e.Seq, 10)
	dst = append(append(append(dst, `,"kind":"`...), e.Kind.String()...), '"')
	if !e.Lead.IsZero() {
		dst = append(e.Lead.AppendTo(append(dst, `,"lead_id":"`...)), '"')
	}
	if campaign := w.campaignName(e.Campaign); campaign != "" {
		dst = escape.AppendJSONString(append(dst, `,"campaign_id":`...), []byte(campaign))
	}
	dst = append(append(append(dst, `,"currency":"`...), w.currencyOf(e.Currency)...), '"')
	dst = e.Amount.AppendJSON(append(dst, `,"amount":`...))
	switch {
	case e.InAccount:
		dst = e.Balance.AppendJSON(append(dst, `,"balance":`...))
	case buys:
		dst = append(dst, `,"balance":null`...)
	}
	if e.Note != "" {
		dst = escape.AppendJSONString(append(dst, `,"note":`...), []byte(e.Note))
	}
	return append(dst, '}')
}

// jsonStatement encodes a statement as one JSON document: the totals, and then a list of
// entries.
type jsonStatement struct {
	statementContext
	buys, more bool
}

func (w *jsonStatement) appendBegin(dst []byte, sum *ledger.Statement) []byte {
	w.buys = sum.IsBuyer()
	whose := `{"supplier_id":`
	if w.buys {
		whose = `{"buyer_id":`
	}
	dst = escape.AppendJSONString(append(dst, whose...), []byte(w.id))
	dst = wire.AppendTimeString(append(dst, `,"from":`...), sum.From)
	dst = wire.AppendTimeString(append(dst, `,"to":`...), sum.To)
	dst = strconv.AppendUint(append(dst, `,"as_of":{"entry":`...), sum.Seq, 10)
	dst = append(wire.AppendTimeString(append(dst, `,"at":`...), sum.At), '}')
	switch {
	case sum.Account:
		dst = append(append(append(dst, `,"currency":"`...), w.currency.String()...), '"')
		dst = appendBalances(append(dst, `,"opening":`...), sum.Opening)
		dst = appendBalances(append(dst, `,"closing":`...), sum.Closing)
	case w.buys:
		dst = append(dst, `,"opening":null,"closing":null`...)
	}
	dst = append(dst, `,"totals":[`...)
	for i := range sum.Totals {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = w.appendTotal(dst, &sum.Totals[i])
	}
	dst = strconv.AppendInt(append(dst, `],"count":`...), int64(sum.Entries), 10)
	return append(dst, `,"entries":[`...)
}

func appendBalances(dst []byte, s ledger.BalanceAndHeld) []byte {
	dst = s.Balance.AppendJSON(append(dst, `{"balance":`...))
	dst = s.Held.AppendJSON(append(dst, `,"held":`...))
	return append(dst, '}')
}

func (w *jsonStatement) appendTotal(dst []byte, t *ledger.Total) []byte {
	dst = append(append(append(dst, `{"kind":"`...), t.Kind.String()...), '"')
	if campaign := w.campaignName(t.Campaign); campaign != "" {
		dst = escape.AppendJSONString(append(dst, `,"campaign_id":`...), []byte(campaign))
	}
	dst = append(append(append(dst, `,"currency":"`...), w.currencyOf(t.Currency)...), '"')
	if w.buys {
		dst = strconv.AppendBool(append(dst, `,"in_account":`...), t.InAccount)
	}
	dst = strconv.AppendInt(append(dst, `,"count":`...), int64(t.Count), 10)
	return append(t.Amount.AppendJSON(append(dst, `,"amount":`...)), '}')
}

func (w *jsonStatement) appendEntry(dst []byte, e *ledger.Entry) []byte {
	if w.more {
		dst = append(dst, ',')
	}
	w.more = true
	return w.appendEntryMembers(append(dst, '\n'), e, w.buys)
}

func (*jsonStatement) appendEnd(dst []byte) ([]byte, error) {
	return append(dst, "]}\n"...), nil
}

// ndjsonStatement encodes a statement's entries as JSON objects, one per line. It omits the
// totals.
type ndjsonStatement struct {
	statementContext
	buys bool
}

func (w *ndjsonStatement) appendBegin(dst []byte, sum *ledger.Statement) []byte {
	w.buys = sum.IsBuyer()
	return dst
}

func (w *ndjsonStatement) appendEntry(dst []byte, e *ledger.Entry) []byte {
	return append(w.appendEntryMembers(dst, e, w.buys), '\n')
}

func (*ndjsonStatement) appendEnd(dst []byte) ([]byte, error) { return dst, nil }

// csvStatement encodes a statement's entries as CSV (RFC 4180) with a header line. It omits the
// totals.
type csvStatement struct {
	statementContext
	text bytes.Buffer
	csv  *csv.Writer
}

func (w *csvStatement) appendBegin(dst []byte, _ *ledger.Statement) []byte {
	w.csv = csv.NewWriter(&w.text)
	w.csv.UseCRLF = true
	return w.appendRow(dst, "at", "entry", "kind", "lead_id", "campaign_id", "currency", "amount", "balance", "note")
}

func (w *csvStatement) appendEntry(dst []byte, e *ledger.Entry) []byte {
	lead, balance := "", ""
	if !e.Lead.IsZero() {
		lead = e.Lead.String()
	}
	if e.InAccount {
		balance = e.Balance.String()
	}
	return w.appendRow(
		dst, time.Unix(0, e.At).UTC().Format(time.RFC3339Nano), strconv.FormatUint(e.Seq, 10), e.Kind.String(), lead,
		report.CSVText(w.campaignName(e.Campaign)), w.currencyOf(e.Currency), e.Amount.String(), balance, report.CSVText(e.Note),
	)
}

// appendRow appends one line of CSV. It ignores the encoder's error, because writing to memory
// cannot fail.
func (w *csvStatement) appendRow(dst []byte, cells ...string) []byte {
	w.text.Reset()
	_ = w.csv.Write(cells)
	w.csv.Flush()
	return append(dst, w.text.Bytes()...)
}

func (*csvStatement) appendEnd(dst []byte) ([]byte, error) { return dst, nil }

// parquetStatement encodes a statement's entries as a Parquet file. Missing values are null.
type parquetStatement struct {
	statementContext
	file  *columnar.Writer
	cells []columnar.Cell
}

// Indexes of the columns.
const (
	entryAt = iota
	entrySeq
	entryKind
	entryLead
	entryCampaign
	entryCurrency
	entryAmount
	entryBalance
	entryNote
)

var entryColumns = []columnar.Column{
	entryAt:       {Name: "at", Kind: columnar.Instant},
	entrySeq:      {Name: "entry", Kind: columnar.Count},
	entryKind:     {Name: "kind", Kind: columnar.Name},
	entryLead:     {Name: "lead_id", Kind: columnar.Text, Optional: true},
	entryCampaign: {Name: "campaign_id", Kind: columnar.Name, Optional: true},
	entryCurrency: {Name: "currency", Kind: columnar.Name},
	entryAmount:   {Name: "amount", Kind: columnar.Money},
	entryBalance:  {Name: "balance", Kind: columnar.Money, Optional: true},
	entryNote:     {Name: "note", Kind: columnar.Text, Optional: true},
}

func (w *parquetStatement) appendBegin(dst []byte, sum *ledger.Statement) []byte {
	whose := "supplier_id"
	if sum.IsBuyer() {
		whose = "buyer_id"
	}
	w.file = columnar.New(entryColumns, map[string]string{
		whose: w.id, "from": time.Unix(0, sum.From).UTC().Format(time.RFC3339Nano), "to": time.Unix(0, sum.To).UTC().Format(time.RFC3339Nano),
	})
	w.cells = make([]columnar.Cell, len(entryColumns))
	return dst
}

func (w *parquetStatement) appendEntry(dst []byte, e *ledger.Entry) []byte {
	w.cells[entryAt].Number = e.At
	w.cells[entrySeq].Number = int64(e.Seq)
	w.setTextCell(entryKind, e.Kind.String())
	lead := ""
	if !e.Lead.IsZero() {
		lead = e.Lead.String()
	}
	w.setTextCell(entryLead, lead)
	w.setTextCell(entryCampaign, w.campaignName(e.Campaign))
	w.setTextCell(entryCurrency, w.currencyOf(e.Currency))
	w.cells[entryAmount].Number = int64(e.Amount)
	w.cells[entryBalance] = columnar.Cell{None: !e.InAccount, Number: int64(e.Balance)}
	w.setTextCell(entryNote, e.Note)
	return w.file.Row(dst, w.cells)
}

// setTextCell sets the text of one column in the current row. An empty text becomes null if the
// column is optional.
func (w *parquetStatement) setTextCell(column int, text string) {
	cell := &w.cells[column]
	cell.Text = append(cell.Text[:0], text...)
	cell.None = text == "" && entryColumns[column].Optional
}

func (w *parquetStatement) appendEnd(dst []byte) ([]byte, error) { return w.file.End(dst) }

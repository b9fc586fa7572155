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

// statementEncoder encodes a statement in one output format. Each method appends the encoded
// text to dst.
type statementEncoder interface {
	beginAndAppendAnyHead(dst []byte, sum *ledger.Statement) []byte
	appendEntry(dst []byte, e *ledger.Entry) []byte
	// appendEnd ends the statement. After an error the answer is incomplete and must not look
	// complete.
	appendEnd(dst []byte) ([]byte, error)
}

// statementContext has the data that a statement's entries lack: the buyer's or supplier's id, the
// names of campaigns and the account's currency.
type statementContext struct {
	names    *state.State
	id       string
	currency market.Currency // of the account
}

// currencyOrAccountCurrency returns the name of the currency c. An operator's top-up has no
// currency of its own; for it the result is the account's.
func (w *statementContext) currencyOrAccountCurrency(c market.Currency) string {
	if c == (market.Currency{}) {
		return w.currency.String()
	}
	return c.String()
}

func (w *statementContext) campaignIDOrEmpty(ref market.PermanentNumber) string {
	if ref == 0 {
		return ""
	}
	return w.names.NameOf(event.ObjectCampaign, ref)
}

// appendEntryObject appends an entry of a statement as a JSON object. isBuyer is set for a buyer:
// its entries always have a balance, which is null without an account.
func (w *statementContext) appendEntryObject(dst []byte, e *ledger.Entry, isBuyer bool) []byte {
	dst = wire.AppendTimeString(append(dst, `{"at":`...), e.At)
	dst = strconv.AppendUint(append(dst, `,"entry":`...), e.Seq, 10)
	dst = append(append(append(dst, `,"kind":"`...), e.Kind.String()...), '"')
	if !e.Lead.IsZero() {
		dst = append(e.Lead.AppendAsText(append(dst, `,"lead_id":"`...)), '"')
	}
	if campaign := w.campaignIDOrEmpty(e.Campaign); campaign != "" {
		dst = escape.AppendJSONString(append(dst, `,"campaign_id":`...), []byte(campaign))
	}
	dst = append(append(append(dst, `,"currency":"`...), w.currencyOrAccountCurrency(e.Currency)...), '"')
	dst = e.Amount.AppendJSON(append(dst, `,"amount":`...))
	switch {
	case e.InAccount:
		dst = e.Balance.AppendJSON(append(dst, `,"balance":`...))
	case isBuyer:
		dst = append(dst, `,"balance":null`...)
	}
	if e.Note != "" {
		dst = escape.AppendJSONString(append(dst, `,"note":`...), []byte(e.Note))
	}
	return append(dst, '}')
}

// jsonStatementEncoder encodes a statement as one JSON document: the totals, and then a list of
// entries.
type jsonStatementEncoder struct {
	statementContext
	buys, more bool
}

func (w *jsonStatementEncoder) beginAndAppendAnyHead(dst []byte, statement *ledger.Statement) []byte {
	w.buys = statement.IsBuyer()
	partyKey := `{"supplier_id":`
	if w.buys {
		partyKey = `{"buyer_id":`
	}
	dst = escape.AppendJSONString(append(dst, partyKey...), []byte(w.id))
	dst = wire.AppendTimeString(append(dst, `,"from":`...), statement.From)
	dst = wire.AppendTimeString(append(dst, `,"to":`...), statement.To)
	dst = strconv.AppendUint(append(dst, `,"as_of":{"entry":`...), statement.Seq, 10)
	dst = append(wire.AppendTimeString(append(dst, `,"at":`...), statement.At), '}')
	switch {
	case statement.Account:
		dst = append(append(append(dst, `,"currency":"`...), w.currency.String()...), '"')
		dst = appendBalances(append(dst, `,"opening":`...), statement.Opening)
		dst = appendBalances(append(dst, `,"closing":`...), statement.Closing)
	case w.buys:
		dst = append(dst, `,"opening":null,"closing":null`...)
	}
	dst = append(dst, `,"totals":[`...)
	for i := range statement.Totals {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = w.appendTotal(dst, &statement.Totals[i])
	}
	dst = strconv.AppendInt(append(dst, `],"count":`...), int64(statement.Entries), 10)
	return append(dst, `,"entries":[`...)
}

func appendBalances(dst []byte, s ledger.BalanceAndHeld) []byte {
	dst = s.Balance.AppendJSON(append(dst, `{"balance":`...))
	dst = s.Held.AppendJSON(append(dst, `,"held":`...))
	return append(dst, '}')
}

func (w *jsonStatementEncoder) appendTotal(dst []byte, t *ledger.StatementTotal) []byte {
	dst = append(append(append(dst, `{"kind":"`...), t.Kind.String()...), '"')
	if campaign := w.campaignIDOrEmpty(t.Campaign); campaign != "" {
		dst = escape.AppendJSONString(append(dst, `,"campaign_id":`...), []byte(campaign))
	}
	dst = append(append(append(dst, `,"currency":"`...), w.currencyOrAccountCurrency(t.Currency)...), '"')
	if w.buys {
		dst = strconv.AppendBool(append(dst, `,"in_account":`...), t.InAccount)
	}
	dst = strconv.AppendInt(append(dst, `,"count":`...), int64(t.Count), 10)
	return append(t.Amount.AppendJSON(append(dst, `,"amount":`...)), '}')
}

func (w *jsonStatementEncoder) appendEntry(dst []byte, e *ledger.Entry) []byte {
	if w.more {
		dst = append(dst, ',')
	}
	w.more = true
	return w.appendEntryObject(append(dst, '\n'), e, w.buys)
}

func (*jsonStatementEncoder) appendEnd(dst []byte) ([]byte, error) {
	return append(dst, "]}\n"...), nil
}

// ndjsonStatementEncoder encodes a statement's entries as JSON objects, one per line. It omits the
// totals.
type ndjsonStatementEncoder struct {
	statementContext
	buys bool
}

func (w *ndjsonStatementEncoder) beginAndAppendAnyHead(dst []byte, statement *ledger.Statement) []byte {
	w.buys = statement.IsBuyer()
	return dst
}

func (w *ndjsonStatementEncoder) appendEntry(dst []byte, e *ledger.Entry) []byte {
	return append(w.appendEntryObject(dst, e, w.buys), '\n')
}

func (*ndjsonStatementEncoder) appendEnd(dst []byte) ([]byte, error) { return dst, nil }

// csvStatementEncoder encodes a statement's entries as CSV (RFC 4180) with a header line. It omits the
// totals.
type csvStatementEncoder struct {
	statementContext
	text bytes.Buffer
	csv  *csv.Writer
}

func (w *csvStatementEncoder) beginAndAppendAnyHead(dst []byte, _ *ledger.Statement) []byte {
	w.csv = csv.NewWriter(&w.text)
	w.csv.UseCRLF = true
	return w.appendCSVRow(dst, "at", "entry", "kind", "lead_id", "campaign_id", "currency", "amount", "balance", "note")
}

func (w *csvStatementEncoder) appendEntry(dst []byte, e *ledger.Entry) []byte {
	lead, balance := "", ""
	if !e.Lead.IsZero() {
		lead = e.Lead.String()
	}
	if e.InAccount {
		balance = e.Balance.String()
	}
	return w.appendCSVRow(
		dst, time.Unix(0, e.At).UTC().Format(time.RFC3339Nano), strconv.FormatUint(e.Seq, 10), e.Kind.String(), lead,
		report.EscapeFormula(w.campaignIDOrEmpty(e.Campaign)), w.currencyOrAccountCurrency(e.Currency), e.Amount.String(), balance, report.EscapeFormula(e.Note),
	)
}

// appendCSVRow appends one line of CSV. It ignores the encoder's error, because writing to memory
// cannot fail.
func (w *csvStatementEncoder) appendCSVRow(dst []byte, cells ...string) []byte {
	w.text.Reset()
	_ = w.csv.Write(cells)
	w.csv.Flush()
	return append(dst, w.text.Bytes()...)
}

func (*csvStatementEncoder) appendEnd(dst []byte) ([]byte, error) { return dst, nil }

// parquetStatementEncoder encodes a statement's entries as a Parquet file. Missing values are null.
type parquetStatementEncoder struct {
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

func (w *parquetStatementEncoder) beginAndAppendAnyHead(dst []byte, statement *ledger.Statement) []byte {
	partyKey := "supplier_id"
	if statement.IsBuyer() {
		partyKey = "buyer_id"
	}
	w.file = columnar.New(entryColumns, map[string]string{
		partyKey: w.id, "from": time.Unix(0, statement.From).UTC().Format(time.RFC3339Nano), "to": time.Unix(0, statement.To).UTC().Format(time.RFC3339Nano),
	})
	w.cells = make([]columnar.Cell, len(entryColumns))
	return dst
}

func (w *parquetStatementEncoder) appendEntry(dst []byte, e *ledger.Entry) []byte {
	w.cells[entryAt].Number = e.At
	w.cells[entrySeq].Number = int64(e.Seq)
	w.setTextCell(entryKind, e.Kind.String())
	lead := ""
	if !e.Lead.IsZero() {
		lead = e.Lead.String()
	}
	w.setTextCell(entryLead, lead)
	w.setTextCell(entryCampaign, w.campaignIDOrEmpty(e.Campaign))
	w.setTextCell(entryCurrency, w.currencyOrAccountCurrency(e.Currency))
	w.cells[entryAmount].Number = int64(e.Amount)
	w.cells[entryBalance] = columnar.Cell{None: !e.InAccount, Number: int64(e.Balance)}
	w.setTextCell(entryNote, e.Note)
	return w.file.Row(dst, w.cells)
}

// setTextCell sets the text of one column in the current row. An empty text becomes null if the
// column is optional.
func (w *parquetStatementEncoder) setTextCell(column int, text string) {
	cell := &w.cells[column]
	cell.Text = append(cell.Text[:0], text...)
	cell.None = text == "" && entryColumns[column].Optional
}

func (w *parquetStatementEncoder) appendEnd(dst []byte) ([]byte, error) { return w.file.End(dst) }

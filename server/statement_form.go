package server

import (
	"bytes"
	"encoding/csv"
	"strconv"
	"strings"
	"time"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

// A statementWriter writes a statement in one form. Each call appends to dst.
type statementWriter interface {
	begin(dst []byte, sum *engine.Statement) []byte
	entry(dst []byte, e *engine.Entry) []byte
	// finish ends it. With an error the answer is not whole, and must not look it.
	finish(dst []byte) ([]byte, error)
}

// statementWords are what a statement's numbers are called.
type statementWords struct {
	names    *state.State
	id       string
	currency market.Currency // of the account
}

// currencyOf is an entry's or a sum's; what an operator moved is in the account's.
func (w *statementWords) currencyOf(c market.Currency) string {
	if c == (market.Currency{}) {
		return w.currency.String()
	}
	return c.String()
}

func (w *statementWords) campaign(ref market.Ref) string {
	if ref == 0 {
		return ""
	}
	return w.names.NameOf(event.NameCampaign, ref)
}

// appendEntry writes an entry as a JSON object. A buyer's entry always has a
// balance: null where it is in no account.
func (w *statementWords) appendEntry(dst []byte, e *engine.Entry, buys bool) []byte {
	dst = appendInstant(append(dst, `{"at":`...), e.At)
	dst = strconv.AppendUint(append(dst, `,"entry":`...), e.Seq, 10)
	dst = append(append(append(dst, `,"kind":"`...), e.Kind.String()...), '"')
	if !e.Lead.IsZero() {
		dst = append(e.Lead.AppendTo(append(dst, `,"lead_id":"`...)), '"')
	}
	if campaign := w.campaign(e.Campaign); campaign != "" {
		dst = market.AppendJSONString(append(dst, `,"campaign_id":`...), []byte(campaign))
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
		dst = market.AppendJSONString(append(dst, `,"note":`...), []byte(e.Note))
	}
	return append(dst, '}')
}

// jsonStatement is one document: the sum's members, and last the entries.
type jsonStatement struct {
	statementWords
	buys, more bool
}

func (w *jsonStatement) begin(dst []byte, sum *engine.Statement) []byte {
	w.buys = sum.Buys()
	whose := `{"supplier_id":`
	if w.buys {
		whose = `{"buyer_id":`
	}
	dst = market.AppendJSONString(append(dst, whose...), []byte(w.id))
	dst = appendInstant(append(dst, `,"from":`...), sum.From)
	dst = appendInstant(append(dst, `,"to":`...), sum.To)
	dst = strconv.AppendUint(append(dst, `,"as_of":{"entry":`...), sum.Seq, 10)
	dst = append(appendInstant(append(dst, `,"at":`...), sum.At), '}')
	switch {
	case sum.Account:
		dst = append(append(append(dst, `,"currency":"`...), w.currency.String()...), '"')
		dst = appendStanding(append(dst, `,"opening":`...), sum.Opening)
		dst = appendStanding(append(dst, `,"closing":`...), sum.Closing)
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

func appendStanding(dst []byte, s engine.Standing) []byte {
	dst = s.Balance.AppendJSON(append(dst, `{"balance":`...))
	dst = s.Held.AppendJSON(append(dst, `,"held":`...))
	return append(dst, '}')
}

func (w *jsonStatement) appendTotal(dst []byte, t *engine.Total) []byte {
	dst = append(append(append(dst, `{"kind":"`...), t.Kind.String()...), '"')
	if campaign := w.campaign(t.Campaign); campaign != "" {
		dst = market.AppendJSONString(append(dst, `,"campaign_id":`...), []byte(campaign))
	}
	dst = append(append(append(dst, `,"currency":"`...), w.currencyOf(t.Currency)...), '"')
	if w.buys {
		dst = strconv.AppendBool(append(dst, `,"in_account":`...), t.InAccount)
	}
	dst = strconv.AppendInt(append(dst, `,"count":`...), int64(t.Count), 10)
	return append(t.Amount.AppendJSON(append(dst, `,"amount":`...)), '}')
}

func (w *jsonStatement) entry(dst []byte, e *engine.Entry) []byte {
	if w.more {
		dst = append(dst, ',')
	}
	w.more = true
	return w.appendEntry(append(dst, '\n'), e, w.buys)
}

func (*jsonStatement) finish(dst []byte) ([]byte, error) {
	return append(dst, "]}\n"...), nil
}

// ndjsonStatement is the entries, an object a line.
type ndjsonStatement struct {
	statementWords
	buys bool
}

func (w *ndjsonStatement) begin(dst []byte, sum *engine.Statement) []byte {
	w.buys = sum.Buys()
	return dst
}

func (w *ndjsonStatement) entry(dst []byte, e *engine.Entry) []byte {
	return append(w.appendEntry(dst, e, w.buys), '\n')
}

func (*ndjsonStatement) finish(dst []byte) ([]byte, error) { return dst, nil }

// csvStatement is the entries by RFC 4180, below a line of names.
type csvStatement struct {
	statementWords
	text bytes.Buffer
	csv  *csv.Writer
}

func (w *csvStatement) begin(dst []byte, _ *engine.Statement) []byte {
	w.csv = csv.NewWriter(&w.text)
	w.csv.UseCRLF = true
	return w.row(dst, "at", "entry", "kind", "lead_id", "campaign_id", "currency", "amount", "balance", "note")
}

func (w *csvStatement) entry(dst []byte, e *engine.Entry) []byte {
	lead, balance := "", ""
	if !e.Lead.IsZero() {
		lead = e.Lead.String()
	}
	if e.InAccount {
		balance = e.Balance.String()
	}
	return w.row(
		dst, time.Unix(0, e.At).UTC().Format(time.RFC3339Nano), strconv.FormatUint(e.Seq, 10), e.Kind.String(), lead,
		w.campaign(e.Campaign), w.currencyOf(e.Currency), e.Amount.String(), balance, plainCell(e.Note),
	)
}

// plainCell keeps a text from being a formula where a spreadsheet reads it: whoever
// opens a statement need not be who wrote its notes.
func plainCell(text string) string {
	if text != "" && strings.IndexByte("=+-@\t\r", text[0]) >= 0 {
		return "'" + text
	}
	return text
}

// row writes to memory, which takes everything.
func (w *csvStatement) row(dst []byte, cells ...string) []byte {
	w.text.Reset()
	_ = w.csv.Write(cells)
	w.csv.Flush()
	return append(dst, w.text.Bytes()...)
}

func (*csvStatement) finish(dst []byte) ([]byte, error) { return dst, nil }

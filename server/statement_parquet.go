package server

import (
	"time"

	"pingpost/engine"
	"pingpost/report/columnar"
)

// parquetStatement is the entries as a Parquet file. What an entry has none of is null.
type parquetStatement struct {
	statementWords
	file  *columnar.Writer
	cells []columnar.Cell
}

// The columns of it, by their places.
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

func (w *parquetStatement) begin(dst []byte, sum *engine.Statement) []byte {
	whose := "supplier_id"
	if sum.Buys() {
		whose = "buyer_id"
	}
	w.file = columnar.New(entryColumns, map[string]string{
		whose: w.id, "from": time.Unix(0, sum.From).UTC().Format(time.RFC3339Nano), "to": time.Unix(0, sum.To).UTC().Format(time.RFC3339Nano),
	})
	w.cells = make([]columnar.Cell, len(entryColumns))
	return dst
}

func (w *parquetStatement) entry(dst []byte, e *engine.Entry) []byte {
	w.cells[entryAt].Number = e.At
	w.cells[entrySeq].Number = int64(e.Seq)
	w.text(entryKind, e.Kind.String())
	lead := ""
	if !e.Lead.IsZero() {
		lead = e.Lead.String()
	}
	w.text(entryLead, lead)
	w.text(entryCampaign, w.campaign(e.Campaign))
	w.text(entryCurrency, w.currencyOf(e.Currency))
	w.cells[entryAmount].Number = int64(e.Amount)
	w.cells[entryBalance] = columnar.Cell{None: !e.InAccount, Number: int64(e.Balance)}
	w.text(entryNote, e.Note)
	return w.file.Row(dst, w.cells)
}

// text fills a cell; one that may be none is none where it is empty.
func (w *parquetStatement) text(place int, text string) {
	cell := &w.cells[place]
	cell.Text = append(cell.Text[:0], text...)
	cell.None = text == "" && entryColumns[place].Optional
}

func (w *parquetStatement) finish(dst []byte) ([]byte, error) { return w.file.End(dst) }

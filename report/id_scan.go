package report

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// idScan searches a table for matching rows, in the order of its ids and so of time, from the
// newest backwards. It reads ranges of rows and determines the end of each range first. So it
// always knows how far it has read, and can stop there.
type idScan struct {
	tx      *sql.Tx
	table   string
	columns string // the first one is the id
	searchCondition

	low, high [16]byte
	limit     int
	budget    time.Duration
	firstRows int // rows of the first range
	scanRow   func(*sql.Rows) (id [16]byte, err error)

	found int
}

const (
	minScanRows = 200
	maxScanRows = 1 << 18
)

// run reads matching rows until a page is full, the search time is used up, or the table
// ends.
func (h *idScan) run(ctx context.Context) (p Page, err error) {
	p = Page{Complete: true, Searched: creationTimeOfID(h.low)}
	if h.matchesNothing {
		return p, nil
	}
	began := time.Now()
	looked := 0
	for rows := h.firstRows; ; {
		end, more, err := h.endOfRange(ctx, rows)
		if err != nil {
			return p, err
		}
		last, full, err := h.readRange(ctx, end)
		if err != nil {
			return p, err
		}
		if full {
			p.Next, p.Searched = last, creationTimeOfID(last)
			return p, nil
		}
		if !more {
			return p, nil
		}
		h.high = end
		looked += rows
		spent := time.Since(began)
		left := int(float64(h.budget-spent) / (float64(spent) / float64(looked)))
		if rows = min(2*rows, left/2, maxScanRows); rows < minScanRows {
			p.Complete, p.Next, p.Searched = false, end, creationTimeOfID(end)
			return p, nil
		}
	}
}

// fromClauseWithIndex returns the SQL from FROM on, with the index that the search uses and
// the condition on it, and the arguments of that condition.
func (h *idScan) fromClauseWithIndex() (text string, args []any) {
	text = " FROM " + h.table
	if h.index != "" {
		text += " INDEXED BY " + h.index
	}
	text += " WHERE id >= ? AND id < ?"
	if h.indexCondition != "" {
		text += " AND " + h.indexCondition
	}
	return text, h.indexArgs
}

// endOfRange returns the id at which the next range, of the given number of rows, ends. more
// is false for the last range.
func (h *idScan) endOfRange(ctx context.Context, rows int) (end [16]byte, more bool, err error) {
	if h.where == "" { // every row matches, so one range reads no more rows than the page
		return h.low, false, nil
	}
	text, key := h.fromClauseWithIndex()
	var id []byte
	err = h.tx.QueryRowContext(ctx, "SELECT id"+text+" ORDER BY id DESC LIMIT 1 OFFSET ?",
		append(append([]any{h.low[:], h.high[:]}, key...), rows-1)...).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return h.low, false, nil
	}
	copy(end[:], id)
	return end, err == nil, err
}

// readRange reads the matching rows of a range, down to id end. full reports that the page is
// full; `last` is the id of its last row.
func (h *idScan) readRange(ctx context.Context, end [16]byte) (last [16]byte, full bool, err error) {
	text, key := h.fromClauseWithIndex()
	args := append(append([]any{end[:], h.high[:]}, key...), h.args...)
	rows, err := h.tx.QueryContext(ctx, "SELECT "+h.columns+text+h.where+" ORDER BY id DESC LIMIT ?", append(args, h.limit-h.found+1)...)
	if err != nil {
		return last, false, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if h.found == h.limit {
			return last, true, nil
		}
		if last, err = h.scanRow(rows); err != nil {
			return last, false, err
		}
		h.found++
	}
	return last, false, rows.Err()
}

package report

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// newestFirstScan searches a table for matching rows, in the order of its ids and so of time,
// from the newest backwards. It reads ranges of rows and determines the end of each range
// first. So it always knows how far it has read, and can stop there.
type newestFirstScan struct {
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
func (h *newestFirstScan) run(ctx context.Context) (p SearchProgress, err error) {
	p = SearchProgress{Complete: true, Searched: creationNanosOfID(h.low)}
	if h.matchesNothing {
		return p, nil
	}
	began := time.Now()
	looked := 0
	for rows := h.firstRows; ; {
		end, more, err := h.findEndOfRange(ctx, rows)
		if err != nil {
			return p, err
		}
		last, full, err := h.readMatchesDownTo(ctx, end)
		if err != nil {
			return p, err
		}
		if full {
			p.Next, p.Searched = last, creationNanosOfID(last)
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
			p.Complete, p.Next, p.Searched = false, end, creationNanosOfID(end)
			return p, nil
		}
	}
}

// fromClauseWithIndex returns the SQL from FROM on, with the index that the search uses and
// the condition on it, and the arguments of that condition. The caller puts the bounds of the ids before them.
func (h *newestFirstScan) fromClauseWithIndex() (text string, indexConditionArgs []any) {
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

// findEndOfRange returns the id at which the next range, of the given number of rows, ends.
// hasMoreRanges is false for the last range.
func (h *newestFirstScan) findEndOfRange(ctx context.Context, rowCount int) (endID [16]byte, hasMoreRanges bool, err error) {
	if h.where == "" { // every row matches, so one range reads no more rows than the page
		return h.low, false, nil
	}
	text, key := h.fromClauseWithIndex()
	var id []byte
	err = h.tx.QueryRowContext(ctx, "SELECT id"+text+" ORDER BY id DESC LIMIT 1 OFFSET ?",
		append(append([]any{h.low[:], h.high[:]}, key...), rowCount-1)...).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return h.low, false, nil
	}
	copy(endID[:], id)
	return endID, err == nil, err
}

// readMatchesDownTo reads the matching rows of a range, down to endID. fullAndMoreMatch reports that
// the page is full and at least one more row matches; lastID is the id of its last row.
func (h *newestFirstScan) readMatchesDownTo(ctx context.Context, endID [16]byte) (lastID [16]byte, fullAndMoreMatch bool, err error) {
	text, key := h.fromClauseWithIndex()
	args := append(append([]any{endID[:], h.high[:]}, key...), h.args...)
	rows, err := h.tx.QueryContext(ctx, "SELECT "+h.columns+text+h.where+" ORDER BY id DESC LIMIT ?", append(args, h.limit-h.found+1)...)
	if err != nil {
		return lastID, false, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if h.found == h.limit {
			return lastID, true, nil
		}
		if lastID, err = h.scanRow(rows); err != nil {
			return lastID, false, err
		}
		h.found++
	}
	return lastID, false, rows.Err()
}

package report

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// hunt goes through a table whose ids are in the order of time, from the newest on, in
// stretches of rows of which it finds the end first. So it knows at each moment how far
// it has looked, and can stop there.
type hunt struct {
	tx      *sql.Tx
	table   string
	columns string // the columns, of which the first is the id
	condition

	low, high [16]byte
	limit     int
	budget    time.Duration
	first     int // rows of the first stretch
	take      func(*sql.Rows) (id [16]byte, err error)

	found int
}

const (
	leastStretch = 200
	mostStretch  = 1 << 18
)

// run hunts until there is a page, or time is up, or there is no more.
func (h *hunt) run(ctx context.Context) (p Page, err error) {
	p = Page{Complete: true, Searched: instant(h.low)}
	if h.never {
		return p, nil
	}
	began := time.Now()
	looked := 0
	for rows := h.first; ; {
		end, more, err := h.stretch(ctx, rows)
		if err != nil {
			return p, err
		}
		last, full, err := h.gather(ctx, end)
		if err != nil {
			return p, err
		}
		if full {
			p.Next, p.Searched = last, instant(last)
			return p, nil
		}
		if !more {
			return p, nil
		}
		h.high = end
		looked += rows
		spent := time.Since(began)
		left := int(float64(h.budget-spent) / (float64(spent) / float64(looked)))
		if rows = min(2*rows, left/2, mostStretch); rows < leastStretch {
			p.Complete, p.Next, p.Searched = false, end, instant(end)
			return p, nil
		}
	}
}

// source is what is read, and by which index.
func (h *hunt) source() (text string, args []any) {
	text = " FROM " + h.table
	if h.index != "" {
		text += " INDEXED BY " + h.index
	}
	text += " WHERE id >= ? AND id < ?"
	if h.fixed != "" {
		text += " AND " + h.fixed
	}
	return text, h.key
}

// stretch is where the next so many rows end; without more, that is where all do.
func (h *hunt) stretch(ctx context.Context, rows int) (end [16]byte, more bool, err error) {
	if h.where == "" { // each row fits, so no more are read than are wanted
		return h.low, false, nil
	}
	text, key := h.source()
	var id []byte
	err = h.tx.QueryRowContext(ctx, "SELECT id"+text+" ORDER BY id DESC LIMIT 1 OFFSET ?",
		append(append([]any{h.low[:], h.high[:]}, key...), rows-1)...).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return h.low, false, nil
	}
	copy(end[:], id)
	return end, err == nil, err
}

// gather takes what fits of a stretch; full: there is more of it than a page has room
// for, whose last one is told.
func (h *hunt) gather(ctx context.Context, end [16]byte) (last [16]byte, full bool, err error) {
	text, key := h.source()
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
		if last, err = h.take(rows); err != nil {
			return last, false, err
		}
		h.found++
	}
	return last, false, rows.Err()
}

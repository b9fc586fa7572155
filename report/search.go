package report

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// Search is which leads or auctions are looked for: those that fit all that it says.
// What is empty says nothing.
type Search struct {
	Campaign, Supplier, Buyer string // names; of an auction, a buyer that was asked
	Status, Reason            string // of a lead
	State, Source             string // of a lead
	Outcome                   string // of a bid in an auction: that of the buyer, where one is named
	Lead                      market.LeadID
	Auction                   market.AuctionID // that a lead was sold in
	Test                      *bool
	From, To                  int64    // Unix nanoseconds: from From on and before To; zero: as far as there is
	After                     [16]byte // id of the last one of the page before; zero: the newest are wanted
	Limit                     int
}

// Page is what was found, newest first.
type Page struct {
	Complete bool     // else there was no time to look further than Next
	Next     [16]byte // After of the next page; zero: there is none
	Searched int64    // Unix nanoseconds: how far back this page has looked
}

// searchTakes is how long a search may take before it is given up: many times what it
// looks for.
const searchTimeout = 5 * time.Second

// idsStray bounds by how much the time of an id and that of its entry in the log differ.
const maxIDSkew = 10 * time.Minute

// look answers from the file as it is at one moment.
func (r *Report) readFile(ctx context.Context, to int64, do func(context.Context, *sql.Tx, *position) error) (err error) {
	r.mu.Lock()
	f := r.file
	r.mu.Unlock()
	if f == nil {
		return &Behind{}
	}
	ctx, cancel := context.WithTimeout(ctx, searchTimeout)
	defer cancel()
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("what reads the report's file broke down: %v", cause)
			r.requestRebuild(err)
		}
	}()
	err = cancelled(ctx, r.readTransaction(ctx, f, to, do))
	var fault *Fault
	var behind *Behind
	switch {
	case err == nil, errors.As(err, &fault), errors.As(err, &behind), errors.Is(err, context.Canceled):
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, sql.ErrConnDone):
	default:
		r.rebuildIfDamaged(err)
	}
	return err
}

func (r *Report) readTransaction(ctx context.Context, f *file, to int64, do func(context.Context, *sql.Tx, *position) error) error {
	tx, err := f.readers.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	at := new(position)
	if err := tx.QueryRowContext(ctx, "SELECT seq, at, begins FROM place").Scan(&at.seq, &at.at, &at.begins); err != nil {
		return err
	}
	if err := r.checkReached(at.seq, at.at, to); err != nil {
		return err
	}
	return do(ctx, tx, at)
}

// reaches sees that what the file has goes up to a time, or nearly to now.
func (r *Report) checkReached(seq uint64, at, to int64) error {
	now := r.opt.Now().UnixNano()
	if to == 0 {
		to = now
	}
	switch {
	case r.lag(seq, at) <= maxLag || at >= min(to, now):
		return nil
	case at == 0:
		return &Behind{}
	}
	return &Behind{time.Unix(0, at)}
}

// condition is a search as SQL: what an index is for, and what is looked at in each row.
type condition struct {
	index          string // empty: the order of ids alone
	indexCondition string // what the index begins with
	indexArgs      []any
	where          string
	args           []any
	matchesNothing bool // nothing fits

	minTime, maxTime int64 // between which the ids' times are; zero: anywhere
}

func (c *condition) and(text string, args ...any) {
	c.where += " AND " + text
	c.args = append(c.args, args...)
}

// by has a column be this. The first that has an index is found by it.
func (c *condition) addIndexed(index, text string, arg any) {
	if index == "" || c.index != "" {
		c.and(text, arg)
		return
	}
	c.index, c.indexCondition, c.indexArgs = index, text, []any{arg}
}

// around has ids be of a time.
func (c *condition) limitIDs(at int64, within time.Duration) {
	c.minTime, c.maxTime = at-int64(within), at+int64(within)
}

// named has a column be the number of a name that was configured.
func (c *condition) addName(src Source, kind event.NameKind, field, index, column, name string) error {
	if name == "" {
		return nil
	}
	ref := src.RefOf(kind, name)
	if ref == 0 {
		return &Fault{field, "a name that was configured once"}
	}
	c.addIndexed(index, column, ref)
	return nil
}

// number is that of a name in an enum.
func enumByName(name string, end int, of func(int) string) (n int, ok bool) {
	for n := range end {
		if of(n) == name {
			return n, true
		}
	}
	return 0, false
}

// instant is when an id was made, in Unix nanoseconds.
func timeOfID(id [16]byte) int64 {
	ms := int64(0)
	for _, b := range id[:6] {
		ms = ms<<8 | int64(b)
	}
	return ms * int64(time.Millisecond)
}

// idAt is the least id of a time.
func idAt(at int64) [16]byte { return market.ComposeID(max(0, at)/int64(time.Millisecond), [10]byte{}) }

func earlier(a, b [16]byte) [16]byte {
	if bytes.Compare(a[:], b[:]) < 0 {
		return a
	}
	return b
}

func later(a, b [16]byte) [16]byte {
	if bytes.Compare(a[:], b[:]) > 0 {
		return a
	}
	return b
}

// span is the ids between which a search looks: low <= id < high.
func (s *Search) idRange(begins int64) (low, high [16]byte) {
	for i := range high {
		high[i] = 0xff
	}
	if s.To != 0 {
		high = idAt(s.To + int64(maxIDSkew))
	}
	if s.After != ([16]byte{}) {
		high = earlier(high, s.After)
	}
	if from := max(s.From, begins); from != 0 {
		low = idAt(from - int64(maxIDSkew))
	}
	return low, high
}

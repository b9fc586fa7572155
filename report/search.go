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

// LeadOrAuctionQuery selects leads or auctions. A result must match all fields that are set. A search
// for leads ignores Outcome, and one for auctions ignores the fields of a lead. An empty field matches
// everything.
type LeadOrAuctionQuery struct {
	Campaign, Supplier, Buyer string // names; for an auction, Buyer received a ping
	Status, Reason            string // of a lead
	State, Source             string // of a lead
	Outcome                   string // of a bid in an auction; with Buyer, of that buyer's bid
	Lead                      market.LeadID
	Auction                   market.AuctionID // the auction in which a lead was sold
	Test                      *bool
	From, To                  int64    // Unix nanoseconds, To exclusive; zero: no limit
	After                     [16]byte // id of the previous page's last result; zero: the first page
	Limit                     int
}

// SearchProgress says how far back a search has read. Its results are ordered from the newest
// to the oldest.
type SearchProgress struct {
	Complete bool     // false: the time was up at Next
	Next     [16]byte // After of the next page; zero: no further page
	Searched int64    // Unix nanoseconds: how far back this page has searched
}

// searchTimeout aborts a search. It is many times the intended time of a search.
const searchTimeout = 5 * time.Second

// maxIDSkew is the largest difference between the time of an id and that of its log entry.
const maxIDSkew = 10 * time.Minute

// readServedDatabase calls read with a read transaction of the current database. The error is
// a *NotFollowedYetError if there is no database, or if it has not reached the time untilNanos.
// If the database is damaged, it requests a rebuild.
func (r *Report) readServedDatabase(ctx context.Context, untilNanos int64, read func(context.Context, *sql.Tx, *databaseProgress) error) (err error) {
	r.mu.Lock()
	f := r.file
	r.mu.Unlock()
	if f == nil {
		return &NotFollowedYetError{}
	}
	ctx, cancel := context.WithTimeout(ctx, searchTimeout)
	defer cancel()
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("the database library failed (panic) on the report's database, probably because its file is damaged; the exchange builds it again from the log: %v", cause)
			r.requestRebuildBecause(err)
		}
	}()
	err = preferContextError(ctx, r.readInTransactionIfTimeReached(ctx, f, untilNanos, read))
	var fault *InvalidQuestionError
	var behind *NotFollowedYetError
	switch {
	case err == nil, errors.As(err, &fault), errors.As(err, &behind), errors.Is(err, context.Canceled):
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, sql.ErrConnDone):
	default:
		r.requestRebuildUnlessTransient(err)
	}
	return err
}

func (r *Report) readInTransactionIfTimeReached(ctx context.Context, f *reportDatabase, untilNanos int64, read func(context.Context, *sql.Tx, *databaseProgress) error) error {
	tx, err := f.readers.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	at := new(databaseProgress)
	if err := tx.QueryRowContext(ctx, "SELECT seq, at, begins FROM place").Scan(&at.seq, &at.at, &at.begins); err != nil {
		return err
	}
	if err := r.rejectIfTimeNotReached(at.seq, at.at, untilNanos); err != nil {
		return err
	}
	return read(ctx, tx, at)
}

// rejectIfTimeNotReached returns a *NotFollowedYetError if the database, at entry seq of time
// atNanos, has reached neither the time untilNanos nor nearly the present.
func (r *Report) rejectIfTimeNotReached(seq uint64, atNanos, untilNanos int64) error {
	now := r.opt.Now().UnixNano()
	if untilNanos == 0 {
		untilNanos = now
	}
	switch {
	case r.lag(seq, atNanos) <= maxLag || atNanos >= min(untilNanos, now):
		return nil
	case atNanos == 0:
		return &NotFollowedYetError{}
	}
	return &NotFollowedYetError{time.Unix(0, atNanos)}
}

// searchCondition is a search as SQL: a condition that an index finds, and a condition that
// every row must meet.
type searchCondition struct {
	index          string // empty: the primary key
	indexCondition string // on the first column of the index
	indexArgs      []any
	where          string
	args           []any
	matchesNothing bool // the search has no results

	minTime, maxTime int64 // limits of the ids' times; zero: no limits
}

func (c *searchCondition) and(text string, args ...any) {
	c.where += " AND " + text
	c.args = append(c.args, args...)
}

// addConditionWithIndex adds a condition on a column that has an index. The search uses the
// index of the first such condition.
func (c *searchCondition) addConditionWithIndex(indexName, sql string, arg any) {
	if indexName == "" || c.index != "" {
		c.and(sql, arg)
		return
	}
	c.index, c.indexCondition, c.indexArgs = indexName, sql, []any{arg}
}

// limitToIDsAround limits the search to ids whose time differs from nanos by at most within.
func (c *searchCondition) limitToIDsAround(nanos int64, within time.Duration) {
	c.minTime, c.maxTime = nanos-int64(within), nanos+int64(within)
}

// addNameCondition adds the SQL condition on the number of the object with this name. It
// ignores an empty name. For an unknown name it returns an *InvalidQuestionError about the
// question's field. If index is not empty, the search may use that index.
func (c *searchCondition) addNameCondition(src LogAndConfiguredNames, kind event.ConfigObjectKind, field, index, condition, name string) error {
	if name == "" {
		return nil
	}
	ref := src.RefOf(kind, name)
	if ref == 0 {
		return &InvalidQuestionError{field, "a name that is or was configured"}
	}
	c.addConditionWithIndex(index, condition, ref)
	return nil
}

// enumValueByName returns the number from 0 to before count whose name is `name`. ok is false
// for an unknown name.
func enumValueByName(name string, count int, nameOf func(int) string) (n int, ok bool) {
	for n := range count {
		if nameOf(n) == name {
			return n, true
		}
	}
	return 0, false
}

// creationNanosOfID returns the time at which an id was made, in Unix nanoseconds. Its first
// six bytes contain the milliseconds.
func creationNanosOfID(id [16]byte) int64 {
	ms := int64(0)
	for _, b := range id[:6] {
		ms = ms<<8 | int64(b)
	}
	return ms * int64(time.Millisecond)
}

// firstIDAt returns the smallest id that can be made at this time in Unix nanoseconds.
func firstIDAt(nanos int64) [16]byte {
	return market.ComposeID(max(0, nanos)/int64(time.Millisecond), [10]byte{})
}

func minID(a, b [16]byte) [16]byte {
	if bytes.Compare(a[:], b[:]) < 0 {
		return a
	}
	return b
}

func maxID(a, b [16]byte) [16]byte {
	if bytes.Compare(a[:], b[:]) > 0 {
		return a
	}
	return b
}

// idRange returns the range of ids to search, low <= id < high. completeFromNanos is the time
// from which on the database is complete.
func (s *LeadOrAuctionQuery) idRange(completeFromNanos int64) (low, high [16]byte) {
	for i := range high {
		high[i] = 0xff
	}
	if s.To != 0 {
		high = firstIDAt(s.To + int64(maxIDSkew))
	}
	if s.After != ([16]byte{}) {
		high = minID(high, s.After)
	}
	if from := max(s.From, completeFromNanos); from != 0 {
		low = firstIDAt(from - int64(maxIDSkew))
	}
	return low, high
}

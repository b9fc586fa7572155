package report

import (
	"cmp"
	"database/sql"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"pingpost/engine/market"
)

// cursor reads sums, one row ahead.
type cursor struct {
	rows   *sql.Rows
	key    []string
	values []any // the key, then the sums
	more   bool
}

func newCursor(rows *sql.Rows, key []string, measures int) (*cursor, error) {
	c := &cursor{rows: rows, key: key, values: make([]any, len(key)+measures)}
	if err := c.step(); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

func (c *cursor) step() error {
	if c.more = c.rows.Next(); !c.more {
		return c.rows.Err()
	}
	places := make([]any, len(c.values))
	for i := range places {
		places[i] = &c.values[i]
	}
	return c.rows.Scan(places...)
}

func (c *cursor) close() {
	if c != nil {
		_ = c.rows.Close()
	}
}

// number is a column of the key, or zero where it is not told apart.
func (c *cursor) number(column string) int64 {
	n, _ := c.values[slices.Index(c.key, column)].(int64)
	return n
}

func (c *cursor) text(column string) string {
	s, _ := c.values[slices.Index(c.key, column)].(string)
	return s
}

// sum is a measure; no rows at all come to none.
func (c *cursor) sum(i int) int64 {
	n, _ := c.values[len(c.key)+i].(int64)
	return n
}

// gather reads the rows of the next hour or day, or all of them.
func (a *Answer) gather() error {
	if !a.cells.more {
		return io.EOF
	}
	start := a.startOf(a.cells)
	groups := make(map[string]*Row)
	for a.cells.more && a.startOf(a.cells).Equal(start) {
		row := a.group(groups, a.cells, a.cells.text("currency"), true)
		for i := range row.measures {
			row.measures[i] += a.cells.sum(i)
		}
		if len(groups) > a.report.opt.most.groups {
			return tooLarge(fmt.Sprintf("it has more than %d rows at once", a.report.opt.most.groups))
		}
		if err := a.cells.step(); err != nil {
			return err
		}
	}
	for a.paces != nil && a.paces.more && !a.startOf(a.paces).After(start) {
		if row := a.group(groups, a.paces, "", false); row != nil {
			row.clock(paceKind(a.paces.number("kind")), int(a.paces.number("slot")), a.paces.sum(0))
		}
		if err := a.paces.step(); err != nil {
			return err
		}
	}
	for _, row := range groups {
		row.Start = start
		a.rows = append(a.rows, row)
	}
	slices.SortFunc(a.rows, func(x, y *Row) int {
		for _, d := range a.By {
			if c := strings.Compare(x.Names[d], y.Names[d]); c != 0 {
				return c
			}
		}
		return cmp.Compare(x.Currency, y.Currency)
	})
	a.rows = fold(a.rows)
	return nil
}

func (a *Answer) startOf(c *cursor) time.Time {
	if !a.timed() {
		return time.Time{}
	}
	return a.start(time.Unix(0, c.number("quarter")*quarter))
}

// group is the row of a cursor's group.
func (a *Answer) group(groups map[string]*Row, c *cursor, currency string, may bool) *Row {
	var of Row
	at := cell{}
	for _, column := range c.key {
		switch column {
		case "campaign":
			at.campaign = refOf(c, column)
		case "supplier":
			at.supplier = refOf(c, column)
		case "buyer":
			at.buyer = refOf(c, column)
		case "source":
			at.source = c.number(column)
		case "state":
			at.state = c.text(column)
		case "reason":
			at.reason = cause(c.number(column))
		}
	}
	for _, d := range a.By {
		of.Names[d] = a.nameOf(d, &at)
	}
	key := strings.Join(of.Names[:], "\x00") + "\x00" + currency
	found := groups[key]
	if found == nil && may {
		of.Currency = currency
		found = &of
		groups[key] = found
	}
	return found
}

// clock counts a time that buyers took.
func (r *Row) clock(kind paceKind, slot int, n int64) {
	into := &r.pings
	if kind == pacePost {
		into = &r.posts
	}
	if *into == nil {
		*into = histogram{}
	}
	(*into)[slot] += n
}

func refOf(c *cursor, column string) market.Ref { return market.Ref(c.number(column)) }

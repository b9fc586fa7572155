package report

import (
	"fmt"
	"strings"
	"time"

	"pingpost/engine/event"
	"pingpost/report/projection"
)

// Dimension is what a report may be by.
type Dimension uint8

const (
	ByHour Dimension = iota
	ByDay
	BySupplier
	ByBuyer
	ByCampaign
	BySource
	ByState
	ByReason
	dimensions
)

var dimensionNames = [dimensions]string{"hour", "day", "supplier", "buyer", "campaign", "source", "state", "reason"}

func (d Dimension) String() string { return dimensionNames[d] }

// ParseDimension reads a name.
func ParseDimension(name string) (Dimension, bool) {
	for d, known := range dimensionNames {
		if known == name {
			return Dimension(d), true
		}
	}
	return 0, false
}

// DimensionNames lists them for who got one wrong.
func DimensionNames() string { return strings.Join(dimensionNames[:], ", ") }

func (d Dimension) isTime() bool { return d == ByHour || d == ByDay }

// kind is what the names of a dimension are configured as; false: they are not.
func (d Dimension) kind() (event.NameKind, bool) {
	switch d {
	case BySupplier:
		return event.NameSupplier, true
	case ByBuyer:
		return event.NameBuyer, true
	case ByCampaign:
		return event.NameCampaign, true
	}
	return 0, false
}

// Question is what a report is of: the time from From on and before To, in Unix
// nanoseconds, both at a full quarter of an hour; one row for each of what it is By, in
// that order; and Only what has these names.
type Question struct {
	By       []Dimension
	From, To int64
	Since    bool           // From may be later, where the report does not go back so far
	Zone     *time.Location // of hours and days
	Only     map[Dimension]string
}

// groupingOf returns the columns of the dimensions.
func groupingOf(all ...Dimension) (g projection.Grouping) {
	for _, d := range all {
		if !d.isTime() {
			g |= projection.ColumnSupplier << (d - BySupplier)
		}
	}
	return g
}

// grain is what the question tells apart.
func (q *Question) grouping() projection.Grouping {
	g := groupingOf(q.By...)
	for d := range q.Only {
		g |= groupingOf(d)
	}
	return g
}

func (q *Question) isBy(dimension Dimension) bool {
	for _, d := range q.By {
		if d == dimension {
			return true
		}
	}
	return false
}

// timed tells whether rows are told apart by time.
func (q *Question) isTimed() bool { return q.isBy(ByHour) || q.isBy(ByDay) }

// start is the beginning of the hour or the day, in the question's zone, that has a
// moment. Where a clock is set back an hour comes twice, under two offsets.
func (q *Question) periodStart(at time.Time) time.Time {
	at = at.In(q.Zone)
	if q.isBy(ByHour) {
		return at.Add(-time.Duration(at.Minute()) * time.Minute)
	}
	year, month, day := at.Date()
	return time.Date(year, month, day, 0, 0, 0, 0, q.Zone)
}

// Fault is a question that cannot be answered as it is.
type Fault struct{ Field, Expected string }

func (f *Fault) Error() string { return f.Field + ": expected " + f.Expected }

// Behind is that the report has not come as far yet.
type Behind struct{ Reached time.Time }

func (b *Behind) Error() string {
	if b.Reached.IsZero() {
		return "the report is being built and has reached nothing yet"
	}
	return "the report is being built and has reached " + b.Reached.UTC().Format(time.RFC3339)
}

// questionLimits bound what an answer may cost.
type answerLimits struct {
	cells, groups int           // read; told apart at once
	timeout       time.Duration // in all
	searchTime    time.Duration // a search looks, about
	firstScanRows int           // rows that it looks at at first
}

var defaultLimits = answerLimits{cells: 2_000_000, groups: 100_000, timeout: time.Minute, searchTime: 150 * time.Millisecond, firstScanRows: 2000}

// judge refuses what makes no sense.
func (q *Question) validate() error {
	seen := make(map[Dimension]bool)
	for _, d := range q.By {
		if seen[d] || d == ByDay && seen[ByHour] || d == ByHour && seen[ByDay] {
			return &Fault{"by", "each of " + DimensionNames() + " once, and of hour and day one"}
		}
		seen[d] = true
	}
	for name, at := range map[string]int64{"from": q.From, "to": q.To} {
		if at%projection.Quarter != 0 {
			return &Fault{name, "a time at a full quarter of an hour"}
		}
	}
	if q.From >= q.To {
		return &Fault{"to", "a time after from; the report ends before it"}
	}
	return nil
}

// only is what the question is only of, as a condition.
func (q *Question) conditions(src Source, sourceRef func(string) int64) (text string, args []any, err error) {
	for d := BySupplier; d < dimensions; d++ {
		name, only := q.Only[d]
		if !only {
			continue
		}
		kind, configured := d.kind()
		switch {
		case configured && name == "":
			args = append(args, 0)
		case configured:
			ref := src.RefOf(kind, name)
			if ref == 0 {
				return "", nil, &Fault{d.String(), "a name that was configured once"}
			}
			args = append(args, ref)
		case d == BySource:
			args = append(args, sourceRef(name))
		case d == ByState:
			args = append(args, strings.ToUpper(name))
		default:
			numbers := projection.CausesNamed(name)
			if len(numbers) == 0 {
				return "", nil, &Fault{d.String(), "why a lead was not sold or a buyer did not get it, such as caps_full or below_floor"}
			}
			text += fmt.Sprintf(" AND reason IN (?%s)", strings.Repeat(", ?", len(numbers)-1))
			for _, n := range numbers {
				args = append(args, n)
			}
			continue
		}
		text += " AND " + d.String() + " = ?"
	}
	return text, args, nil
}

package report

import (
	"fmt"
	"strings"
	"time"

	"pingpost/engine/event"
	"pingpost/report/projection"
)

// Dimension is a column by which a report groups, such as buyer or day.
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

// ParseDimension returns the dimension with this name, and false for an unknown name.
func ParseDimension(name string) (dimension Dimension, exists bool) {
	for d, known := range dimensionNames {
		if known == name {
			return Dimension(d), true
		}
	}
	return 0, false
}

// DimensionNames returns the names of all dimensions, for error messages.
func DimensionNames() string { return strings.Join(dimensionNames[:], ", ") }

func (d Dimension) isTime() bool { return d == ByHour || d == ByDay }

// objectKind returns the kind of configured object (supplier, buyer, campaign) that the
// dimension's values name. It returns false for other dimensions.
func (d Dimension) objectKind() (kindOfObject event.ConfigObjectKind, isConfigured bool) {
	switch d {
	case BySupplier:
		return event.ObjectSupplier, true
	case ByBuyer:
		return event.ObjectBuyer, true
	case ByCampaign:
		return event.ObjectCampaign, true
	}
	return 0, false
}

// Question defines a report. The time range is from From to before To, in Unix nanoseconds at
// full quarters of an hour. By are the dimensions by which it groups, in that order. Only
// limits dimensions to one value each.
type Question struct {
	By       []Dimension
	From, To int64
	Since    bool           // From may move to the beginning of the report's data
	Zone     *time.Location // for hours and days
	Only     map[Dimension]string

	Columns []string // names of the output's columns, in their order; empty: all
	Totals  bool     // the last rows are the totals, one for each currency
}

// columnsOfDimensions returns the stored columns that these dimensions use. The dimensions of
// time use no column.
func columnsOfDimensions(all ...Dimension) (g projection.DimensionColumnSet) {
	for _, d := range all {
		if !d.isTime() {
			g |= projection.ColumnSupplier << (d - BySupplier)
		}
	}
	return g
}

// usedColumns returns the stored columns that the question uses, to group by or as a condition.
func (q *Question) usedColumns() projection.DimensionColumnSet {
	g := columnsOfDimensions(q.By...)
	for d := range q.Only {
		g |= columnsOfDimensions(d)
	}
	return g
}

func (q *Question) groupsBy(dimension Dimension) bool {
	for _, d := range q.By {
		if d == dimension {
			return true
		}
	}
	return false
}

// groupsByTime reports whether the question groups by hour or by day.
func (q *Question) groupsByTime() bool { return q.groupsBy(ByHour) || q.groupsBy(ByDay) }

// periodStart returns the beginning of the hour or day that contains moment, in the question's
// zone. When clocks go back, one hour occurs twice with two offsets.
func (q *Question) periodStart(moment time.Time) time.Time {
	moment = moment.In(q.Zone)
	if q.groupsBy(ByHour) {
		return moment.Add(-time.Duration(moment.Minute()) * time.Minute)
	}
	year, month, day := moment.Date()
	return time.Date(year, month, day, 0, 0, 0, 0, q.Zone)
}

// InvalidQuestionError reports an invalid question: the field and the value that it expects.
type InvalidQuestionError struct{ Field, Expected string }

func (f *InvalidQuestionError) Error() string { return f.Field + ": expected " + f.Expected }

// NotFollowedYetError reports that the report has not yet read the log up to the end of the time range
// of a question or search. Reached is zero if it has no data yet.
type NotFollowedYetError struct{ Reached time.Time }

func (b *NotFollowedYetError) Error() string {
	if b.Reached.IsZero() {
		return "the report is being built and has no data yet"
	}
	return "the report is being built and has reached " + b.Reached.UTC().Format(time.RFC3339)
}

// queryLimits limit the cost of answers and searches.
type queryLimits struct {
	cells, groups int           // stored sums that an answer reads; rows per period
	timeout       time.Duration // for the whole answer
	searchTime    time.Duration // approximate time of a search
	firstScanRows int           // rows of a search's first range
}

var defaultLimits = queryLimits{cells: 2_000_000, groups: 100_000, timeout: time.Minute, searchTime: 150 * time.Millisecond, firstScanRows: 2000}

// Validate returns an *InvalidQuestionError for one mistake in the question, or nil. It does not check
// the names in Only.
func (q *Question) Validate() error {
	if err := q.validateDimensionsAndTime(); err != nil {
		return err
	}
	return q.validateColumns()
}

// validateDimensionsAndTime returns an *InvalidQuestionError for one mistake in the question, or nil if its
// dimensions and its time range are valid. It does not check the names in Only.
func (q *Question) validateDimensionsAndTime() error {
	seen := make(map[Dimension]bool)
	for _, d := range q.By {
		if seen[d] || d == ByDay && seen[ByHour] || d == ByHour && seen[ByDay] {
			return &InvalidQuestionError{"by", "each of " + DimensionNames() + " once, and of hour and day one"}
		}
		seen[d] = true
	}
	for name, at := range map[string]int64{"from": q.From, "to": q.To} {
		if at%projection.QuarterHourNanos != 0 {
			return &InvalidQuestionError{name, "a time at a full quarter of an hour"}
		}
	}
	if q.From >= q.To {
		return &InvalidQuestionError{"to", "a time after from; the report ends before it"}
	}
	return nil
}

// whereConditions returns the question's Only values as SQL conditions with arguments. The error is an
// *InvalidQuestionError for an unknown supplier, buyer, campaign or reason. An unknown source or state
// matches no row.
func (q *Question) whereConditions(src LogAndConfiguredNames, numberOfSource func(string) int64) (sqlConditions string, args []any, err error) {
	for d := BySupplier; d < dimensions; d++ {
		name, only := q.Only[d]
		if !only {
			continue
		}
		kind, configured := d.objectKind()
		switch {
		case configured && name == "":
			args = append(args, 0)
		case configured:
			ref := src.RefOf(kind, name)
			if ref == 0 {
				return "", nil, &InvalidQuestionError{d.String(), "a name that is or was configured"}
			}
			args = append(args, ref)
		case d == BySource:
			args = append(args, numberOfSource(name))
		case d == ByState:
			args = append(args, strings.ToUpper(name))
		default:
			numbers := projection.CauseNumbersNamed(name)
			if len(numbers) == 0 {
				return "", nil, &InvalidQuestionError{d.String(), "the reason of an unsold lead, or the outcome of a buyer that did not get one, such as caps_full or below_floor"}
			}
			sqlConditions += fmt.Sprintf(" AND reason IN (?%s)", strings.Repeat(", ?", len(numbers)-1))
			for _, n := range numbers {
				args = append(args, n)
			}
			continue
		}
		sqlConditions += " AND " + d.String() + " = ?"
	}
	return sqlConditions, args, nil
}

package market

import (
	"math"
	"time"
)

// Period is the span over which a cap counts.
type Period uint8

// Numbers are in the log and never change.
const (
	PeriodHour  Period = 1
	PeriodDay   Period = 2
	PeriodWeek  Period = 3 // begins on Monday
	PeriodMonth Period = 4
	PeriodTotal Period = 5 // has one window, all of time
)

var periodNames = [...]string{
	PeriodHour: "hour", PeriodDay: "day", PeriodWeek: "week", PeriodMonth: "month", PeriodTotal: "total",
}

// ParsePeriod reads hour, day, week, month or total.
func ParsePeriod(s string) (Period, bool) {
	i, ok := nameIndex(periodNames[:], s)
	return Period(i), ok
}

func (p Period) String() string { return nameAt(periodNames[:], int(p)) }

// Unit is what a cap counts.
type Unit uint8

// Numbers are in the log and never change.
const (
	UnitCount Unit = 1 // leads
	UnitMoney Unit = 2 // the buyer's price
)

var unitNames = [...]string{UnitCount: "count", UnitMoney: "money"}

func (u Unit) String() string { return nameAt(unitNames[:], int(u)) }

// Scope is whose sales a cap counts. Caps are taken in this order.
type Scope uint8

// Numbers are in the log and never change.
const (
	ScopeCampaign Scope = 1
	ScopeBuyer    Scope = 2
	ScopePair     Scope = 3 // one buyer in one campaign
)

var scopeNames = [...]string{ScopeCampaign: "campaign", ScopeBuyer: "buyer", ScopePair: "pair"}

func (s Scope) String() string { return nameAt(scopeNames[:], int(s)) }

// nameAt is the name that an enum's number has, or unknown.
func nameAt(names []string, i int) string {
	if i >= len(names) || names[i] == "" {
		return "unknown"
	}
	return names[i]
}

// nameIndex is the number that an enum's name has.
func nameIndex(names []string, s string) (int, bool) {
	for i, name := range names {
		if name != "" && name == s {
			return i, true
		}
	}
	return 0, false
}

// CapKey is what makes two caps the same one: a cap whose limit changes keeps
// its key, and with it its counts. Campaign and Buyer are zero where the scope
// has none.
type CapKey struct {
	Scope    Scope
	Campaign Ref
	Buyer    Ref
	Unit     Unit
	Period   Period
	Zone     string // IANA name
}

// Cap closes a door once so much has been sold in a window.
type Cap struct {
	Ref    Ref
	Scope  Scope
	Unit   Unit
	Period Period
	Zone   *time.Location
	Limit  int64 // leads, or millionths of the unit
}

// Amount is what a sale at this price takes of the cap.
func (c *Cap) Amount(price Money) int64 {
	if c.Unit == UnitMoney {
		return int64(price)
	}
	return 1
}

// Window is the period's window around an instant: from start, up to but not
// including end, all in Unix nanoseconds. The windows of one period and zone
// follow each other without gap or overlap, so the start alone names one.
func (p Period) Window(t int64, zone *time.Location) (start, end int64) {
	switch p {
	case PeriodHour:
		return hourWindow(t, zone)
	case PeriodDay, PeriodWeek, PeriodMonth:
		first := p.firstDay(dayReached(t, zone))
		return startOfDay(first, zone), startOfDay(p.nextFirstDay(first), zone)
	case PeriodTotal:
		return 0, math.MaxInt64
	}
	panic("BUG: window of an unknown period")
}

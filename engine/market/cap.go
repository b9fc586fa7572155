package market

import (
	"time"

	"pingpost/engine/market/calendar"
)

// Unit is the quantity that a cap counts.
type Unit uint8

// Numbers are in the log and never change.
const (
	UnitCount Unit = 1 // leads
	UnitMoney Unit = 2 // the buyer's price
)

var unitNames = [...]string{UnitCount: "count", UnitMoney: "money"}

func (u Unit) String() string { return nameAt(unitNames[:], int(u)) }

// Scope selects the sales that a cap counts. Caps are charged in this order.
type Scope uint8

// Numbers are in the log and never change.
const (
	ScopeCampaign Scope = 1
	ScopeBuyer    Scope = 2
	ScopePair     Scope = 3 // one buyer in one campaign
)

var scopeNames = [...]string{ScopeCampaign: "campaign", ScopeBuyer: "buyer", ScopePair: "pair"}

func (s Scope) String() string { return nameAt(scopeNames[:], int(s)) }

// nameAt returns the name of an enum's value, or unknown.
func nameAt(names []string, i int) string {
	if i >= len(names) || names[i] == "" {
		return "unknown"
	}
	return names[i]
}

// nameIndex returns the value of an enum's name.
func nameIndex(names []string, s string) (int, bool) {
	for i, name := range names {
		if name != "" && name == s {
			return i, true
		}
	}
	return 0, false
}

// CapKey is the identity of a cap. A cap whose limit changes keeps its key, and with it
// its counts. Campaign and Buyer are zero if the scope has none.
type CapKey struct {
	Scope    Scope
	Campaign Ref
	Buyer    Ref
	Unit     Unit
	Period   calendar.Period
	Zone     string // IANA name
}

// Cap limits the sales in a window.
type Cap struct {
	Ref    Ref
	Scope  Scope
	Unit   Unit
	Period calendar.Period
	Zone   *time.Location
	Limit  int64 // leads, or millionths of the unit
}

// Amount returns the amount of the cap that a sale at this price uses.
func (c *Cap) Amount(price Money) int64 {
	if c.Unit == UnitMoney {
		return int64(price)
	}
	return 1
}

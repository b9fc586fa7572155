package market

import (
	"time"

	"pingpost/engine/market/calendar"
)

// CapUnit is the quantity that a cap counts.
type CapUnit uint8

// Numbers are in the log and never change.
const (
	UnitCount CapUnit = 1 // leads
	UnitMoney CapUnit = 2 // the buyer's price
)

var unitNames = [...]string{UnitCount: "count", UnitMoney: "money"}

func (u CapUnit) String() string { return enumNameAt(unitNames[:], int(u)) }

// CapScope selects the sales that a cap counts. Caps are charged in this order.
type CapScope uint8

// Numbers are in the log and never change.
const (
	ScopeCampaign CapScope = 1
	ScopeBuyer    CapScope = 2
	ScopePair     CapScope = 3 // one buyer in one campaign
)

var scopeNames = [...]string{ScopeCampaign: "campaign", ScopeBuyer: "buyer", ScopePair: "pair"}

func (s CapScope) String() string { return enumNameAt(scopeNames[:], int(s)) }

// enumNameAt returns the name of an enum's value, or unknown.
func enumNameAt(names []string, i int) string {
	if i >= len(names) || names[i] == "" {
		return "unknown"
	}
	return names[i]
}

// parseEnumName returns the value of an enum's name.
func parseEnumName(names []string, s string) (int, bool) {
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
	Scope    CapScope
	Campaign Ref
	Buyer    Ref
	Unit     CapUnit
	Period   calendar.Period
	Zone     string // IANA name
}

// Cap limits the sales in a window.
type Cap struct {
	Ref    Ref
	Scope  CapScope
	Unit   CapUnit
	Period calendar.Period
	Zone   *time.Location
	Limit  int64 // leads, or millionths of the unit
}

// AmountOfSale returns the amount of the cap that a sale at this price uses.
func (c *Cap) AmountOfSale(price Money) int64 {
	if c.Unit == UnitMoney {
		return int64(price)
	}
	return 1
}

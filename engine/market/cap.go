package market

import (
	"time"

	"pingpost/engine/market/calendar"
)

// CapUnit says whether a cap counts leads or money.
type CapUnit uint8

// Numbers are in the log and never change.
const (
	UnitCount CapUnit = 1 // leads
	UnitMoney CapUnit = 2 // the buyer's price
)

var unitNames = [...]string{UnitCount: "count", UnitMoney: "money"}

func (u CapUnit) String() string { return EnumName(unitNames[:], int(u), "unknown") }

// CapScope says which sales a cap counts: those of a campaign, of a buyer, of a buyer in a campaign, or
// of one entry of a campaign's terms. A sale is charged to the caps of the campaign, of its terms, of
// the buyer and of the pair, in this order.
type CapScope uint8

// Numbers are in the log and never change.
const (
	ScopeCampaign CapScope = 1
	ScopeBuyer    CapScope = 2
	ScopePair     CapScope = 3 // one filter set of a buyer in one campaign
	ScopeTerms    CapScope = 4 // the leads of one entry of a campaign's terms
)

var scopeNames = [...]string{ScopeCampaign: "campaign", ScopeBuyer: "buyer", ScopePair: "pair", ScopeTerms: "terms"}

func (s CapScope) String() string { return EnumName(scopeNames[:], int(s), "unknown") }

// EnumName returns the name of an enum value, or nameIfUnknown if the value is beyond the last
// name.
func EnumName(names []string, enumValue int, nameIfUnknown string) string {
	if enumValue >= len(names) {
		return nameIfUnknown
	}
	return names[enumValue]
}

// parseEnumName returns the index of s in names, or false if s is not one of them.
func parseEnumName(names []string, s string) (index int, found bool) {
	for i, name := range names {
		if name != "" && name == s {
			return i, true
		}
	}
	return 0, false
}

// CapKey identifies a cap by what it counts. A cap whose limit changes keeps its key, and with it
// its counts. Campaign or Buyer is zero if the scope does not name one.
type CapKey struct {
	Scope    CapScope
	Campaign PermanentNumber
	Buyer    PermanentNumber
	Entry    string // id of the buyer's filter set, which may be empty, or for ScopeTerms of the entry
	Unit     CapUnit
	Period   calendar.Period
	Zone     string // IANA name
}

// Cap limits the sales in each window of a period: each hour, day, week or month, or in total.
type Cap struct {
	Ref    PermanentNumber
	Scope  CapScope
	Unit   CapUnit
	Period calendar.Period
	Zone   *time.Location
	Limit  int64 // leads, or millionths of the currency's unit
}

// AmountUsedBySale returns how much of the cap a sale at this price uses: the price, or one lead.
func (c *Cap) AmountUsedBySale(salePrice Money) int64 {
	if c.Unit == UnitMoney {
		return int64(salePrice)
	}
	return 1
}

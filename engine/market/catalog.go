package market

import (
	"errors"
	"math"
	"slices"
	"time"

	"pingpost/engine/market/calendar"
)

// Catalog is a configuration in checked and compiled form. It never changes; a new configuration
// replaces the whole catalog. So a request uses one catalog from start to end.
//
// Data that no configuration may reset is in package state: credentials and secrets, balances,
// pauses, and the contents of suppression lists.
type Catalog struct {
	Version   uint32 // number of applied catalogs, from 1
	Suppliers map[SupplierID]*Supplier
	Buyers    map[BuyerID]*Buyer
	Campaigns map[CampaignID]*Campaign
	Lists     map[ListID]*SuppressionListDefinition
}

// CurrencyOfBuyerOrZero returns the currency in which the buyer buys. It is the currency of the buyer's
// account and of its caps on money, because a buyer that has them buys in one currency. It returns
// the zero value if no campaign has the buyer, or if it buys in several currencies.
func (c *Catalog) CurrencyOfBuyerOrZero(buyer BuyerID) (currency Currency) {
	for _, campaign := range c.Campaigns {
		for i := range campaign.FilterSets {
			if campaign.FilterSets[i].Buyer.ID != buyer {
				continue
			}
			if currency != (Currency{}) && currency != campaign.Currency {
				return Currency{}
			}
			currency = campaign.Currency
		}
	}
	return currency
}

// Supplier is a configured sender of leads. Its credentials are in package state, because they
// outlive every configuration.
type Supplier struct {
	Ref  PermanentNumber
	ID   SupplierID
	Name string

	IngestRate         int // leads a second, burst the same
	PingRate           int // pings a second, burst the same
	ByteRate           int // bytes of request bodies a second, burst the same
	ConcurrentAuctions int // open auctions at once

	Webhooks *OutboundEndpoint // endpoint for webhooks; nil: none. Its Credential signs, and is never sent
	Test     bool              // every lead of this supplier is a test lead
}

// BuyerSelectionMethod is the way in which a campaign selects the buyer of a lead.
type BuyerSelectionMethod uint8

const (
	Waterfall  BuyerSelectionMethod = 1
	RoundRobin BuyerSelectionMethod = 2
	Weighted   BuyerSelectionMethod = 3
	PingPost   BuyerSelectionMethod = 4
)

var methodNames = [...]string{"unknown", "waterfall", "round_robin", "weighted", "ping_post"}

func (m BuyerSelectionMethod) String() string { return EnumName(methodNames[:], int(m), "unknown") }

// Campaign is one line of business: which leads it accepts, from which suppliers, and to which
// buyers and by which method it sells them.
type Campaign struct {
	Ref         PermanentNumber
	ID          CampaignID
	Name        string
	Vertical    string
	SubVertical string

	Suppliers map[SupplierID]struct{} // empty: all
	Method    BuyerSelectionMethod
	Currency  Currency
	Zone      *time.Location
	Floor     Money
	Payout    PayoutRule

	Terms        []Terms // the first one that fits a lead applies to it
	AppliedTerms string  // id of the entry that this copy of the campaign applies; see WithTerms

	BidTimeout     time.Duration // of an auction: 2 to 5 s
	PostReserve    time.Duration // part of the time limit that is reserved for the post
	PingReserve    time.Duration // part of a bid's window that is reserved for the post after a ping
	ConsentSources map[string]struct{}
	ConsentHosts   []string // of certificates; *.name: the subdomains of name; empty: any
	Suppression    []*SuppressionListDefinition
	Duplicates     DuplicateRule
	Returns        ReturnRule
	Mapping        *FieldMapping
	Filters        []Filter
	Schedule       *calendar.WeeklySchedule // outside it the campaign sells no lead; nil: always open
	Caps           []*Cap
	FilterSets     []FilterSet // by priority, then buyer id, then filter set id
}

// Terms are the conditions of a campaign for the leads of certain suppliers and sources.
type Terms struct {
	ID        string                  // unique in the campaign; its caps are identified by it
	Suppliers map[SupplierID]struct{} // nil: all
	Sources   map[string]struct{}     // values of the field source; nil: all
	Floor     Money                   // in place of the campaign's
	Payout    PayoutRule              // in place of the campaign's
	Caps      []*Cap                  // in addition to the campaign's; all leads of the entry share them
}

// IndexOfTerms returns the index of the first entry of the campaign's terms that has the lead's supplier
// and source, or -1. Sources are compared as for certificates of consent: without regard to case and
// surrounding spaces.
func (c *Campaign) IndexOfTerms(supplier SupplierID, l *Lead) (indexOrMinusOne int) {
	for i := range c.Terms {
		terms := &c.Terms[i]
		if _, listed := terms.Suppliers[supplier]; !listed && terms.Suppliers != nil {
			continue
		}
		if terms.Sources == nil || hasLeadSource(terms.Sources, l.Values[SlotSource].Text) {
			return i
		}
	}
	return -1
}

// WithTerms returns a copy of the campaign with the floor, the payout and the caps of an entry of its
// terms. All code that decides about a lead uses the copy, and so needs no rules for terms.
func (c *Campaign) WithTerms(index int) *Campaign {
	terms, limited := &c.Terms[index], *c
	limited.AppliedTerms, limited.Floor, limited.Payout = terms.ID, terms.Floor, terms.Payout
	limited.Caps = slices.Concat(c.Caps, terms.Caps)
	return &limited
}

// WithTermsOfLead returns the campaign with the terms that apply to the lead, or the campaign itself if
// no entry fits.
func (c *Campaign) WithTermsOfLead(supplier SupplierID, l *Lead) *Campaign {
	if i := c.IndexOfTerms(supplier, l); i >= 0 {
		return c.WithTerms(i)
	}
	return c
}

// FilterSet is a buyer's entry in a campaign (campaigns[].buyers[] in the configuration). It
// holds the buyer, and the buyer's conditions in this campaign. A buyer can have several.
type FilterSet struct {
	Buyer     *Buyer
	ID        string // among the buyer's filter sets in the campaign; one of them may have no id
	Priority  int
	Weight    int                      // at least 1
	Price     Money                    // for the methods without an auction; see PriceAt
	States    USStateSet               // intersection of the buyer's own states and the entry's
	Filters   []Filter                 // the buyer's own and the entry's
	Schedule  *calendar.WeeklySchedule // in addition to the buyer's own; nil: always open
	Caps      []*Cap                   // of this filter set; see CapsAt
	Modifiers []Modifier               // of price and caps; the first one in force counts

	// Of the buyer and of the entry together: the filter set takes leads only from these suppliers
	// (nil: all), and not from those of NotSuppliers.
	Suppliers    map[SupplierID]struct{}
	NotSuppliers map[SupplierID]struct{}
}

// Name returns the buyer's id and the filter set's own id, if it has one, as "buyer/id".
func (s *FilterSet) Name() string {
	if s.ID == "" {
		return string(s.Buyer.ID)
	}
	return string(s.Buyer.ID) + "/" + s.ID
}

// AcceptsSupplier reports whether the filter set takes leads from the supplier.
func (s *FilterSet) AcceptsSupplier(supplier SupplierID) bool {
	if _, excluded := s.NotSuppliers[supplier]; excluded {
		return false
	}
	_, listed := s.Suppliers[supplier]
	return listed || s.Suppliers == nil
}

// Factor multiplies a price or a limit. It is in millionths: 1_250_000 is 1.25.
type Factor int64

const (
	UnchangedFactor Factor = 1_000_000
	MaxFactor              = 100 * UnchangedFactor
)

// ErrFactorTooLarge reports that a configured factor is greater than 100.
var ErrFactorTooLarge = errors.New("the factor is over 100")

// ParseFactor reads a factor from the text of a JSON number from 0 to 100 with at most six decimals.
func ParseFactor(jsonNumber []byte) (Factor, error) {
	m, err := ParseMoney(jsonNumber)
	switch {
	case errors.Is(err, ErrTooLarge), err == nil && m > Money(MaxFactor):
		return 0, ErrFactorTooLarge
	case err != nil:
		return 0, err
	}
	return Factor(m), nil
}

func (f Factor) String() string { return Money(f).String() }

// Modifier changes a filter set's terms during hours of the week. Price multiplies the fixed price,
// which is rounded down to the millionth. Caps multiplies the limits of the filter set's own caps;
// counts are rounded down. If Caps is 0, the filter set gets no lead in these hours.
//
// A cap keeps its counter while its limit changes. So each sale counts, and a lower limit can be full
// at once. A sale needs capacity below the limit in force at its decision, so the use of a window never
// exceeds the highest limit that was in force in the window.
type Modifier struct {
	During *calendar.WeeklySchedule
	Price  Factor
	Caps   Factor
}

// ModifierAt returns the index of the first modifier in force at the instant, or -1. The answer may
// change at mayChangeAtNanos, which is math.MaxInt64 without modifiers. Times are in Unix nanoseconds.
func (s *FilterSet) ModifierAt(unixNanos int64) (indexOrMinusOne int, mayChangeAtNanos int64) {
	mayChangeAtNanos = math.MaxInt64
	for i := range s.Modifiers {
		inForce, until := s.Modifiers[i].During.IsOpenAt(unixNanos)
		mayChangeAtNanos = min(mayChangeAtNanos, until)
		if inForce {
			return i, mayChangeAtNanos
		}
	}
	return -1, mayChangeAtNanos
}

// PriceAt returns the fixed price in force at the instant, in Unix nanoseconds.
func (s *FilterSet) PriceAt(unixNanos int64) Money {
	if i, _ := s.ModifierAt(unixNanos); i >= 0 {
		return s.Modifiers[i].ModifiedPrice(s.Price)
	}
	return s.Price
}

// CapsAt returns the filter set's own caps with the limits in force at the instant, in Unix
// nanoseconds. It copies modified caps, so package selection computes them in advance for decisions.
func (s *FilterSet) CapsAt(unixNanos int64) []*Cap {
	if i, _ := s.ModifierAt(unixNanos); i >= 0 {
		return s.Modifiers[i].ModifiedCaps(s.Caps)
	}
	return s.Caps
}

// ModifiedPrice returns the price in the modifier's hours.
func (m *Modifier) ModifiedPrice(price Money) Money {
	return Money(multiplyByMillionths(int64(price), int64(m.Price)))
}

// ModifiedCaps returns the caps with their limits in the modifier's hours. It returns the caps
// themselves if the modifier does not change them.
func (m *Modifier) ModifiedCaps(caps []*Cap) []*Cap {
	if m.Caps == UnchangedFactor {
		return caps
	}
	modified := make([]*Cap, len(caps))
	for i, limit := range caps {
		changed := *limit
		changed.Limit = multiplyByMillionths(limit.Limit, int64(m.Caps))
		modified[i] = &changed
	}
	return modified
}

// WithoutCapFactors returns the modifiers with unchanged caps, for leads that use no cap.
func WithoutCapFactors(modifiers []Modifier) []Modifier {
	modifiers = slices.Clone(modifiers)
	for i := range modifiers {
		modifiers[i].Caps = UnchangedFactor
	}
	return modifiers
}

// AcceptsSupplier reports whether the supplier may send leads to the campaign. A campaign without
// a list of suppliers accepts all.
func (c *Campaign) AcceptsSupplier(supplier SupplierID) bool {
	if len(c.Suppliers) == 0 {
		return true
	}
	_, ok := c.Suppliers[supplier]
	return ok
}

// ConditionsMetByLead is the set of conditions that a lead has met when the exchange makes a bid for
// it. The bid lists them in its member buyer_filters_passed.
type ConditionsMetByLead uint8

// Every bid has met the vertical, because it selects the campaign. The others apply if
// the campaign, the buyer or its filter set has them: a list of states, and filters on
// consent or on the score.
const (
	PassedState ConditionsMetByLead = 1 << iota
	PassedVertical
	PassedTCPA
	PassedScore
)

var passedNames = [...]string{"state", "vertical", "tcpa", "score_threshold"}

// AppendJSON appends the names of the conditions as a JSON array of strings.
func (p ConditionsMetByLead) AppendJSON(dst []byte) []byte {
	dst = append(dst, '[')
	first := true
	for i, name := range passedNames {
		if p>>i&1 == 0 {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(append(append(dst, '"'), name...), '"')
	}
	return append(dst, ']')
}

// ConditionsEachSaleMeets returns the conditions that a lead has met if it can be sold to the buyer of this
// filter set. filterSetIndex is an index of c.FilterSets.
func (c *Campaign) ConditionsEachSaleMeets(filterSetIndex int) ConditionsMetByLead {
	met := PassedVertical
	if c.FilterSets[filterSetIndex].States != AllStates {
		met |= PassedState
	}
	return met | conditionsCheckedBy(c.Filters) | conditionsCheckedBy(c.FilterSets[filterSetIndex].Filters)
}

// conditionsCheckedBy returns the conditions (state, consent, score) that a lead has met if it passed these filters.
func conditionsCheckedBy(filters []Filter) (met ConditionsMetByLead) {
	for i := range filters {
		switch filters[i].slot {
		case SlotState:
			met |= PassedState
		case SlotTCPAConsent:
			met |= PassedTCPA
		case SlotQualityScore:
			met |= PassedScore
		}
	}
	return met
}

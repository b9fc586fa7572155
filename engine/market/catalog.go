package market

import (
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
	Caps           []*Cap
	FilterSets     []FilterSet // by priority, then buyer id
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
// holds the buyer, and the buyer's conditions in this campaign.
type FilterSet struct {
	Buyer    *Buyer
	Priority int
	Weight   int                      // at least 1
	Price    Money                    // for the methods without an auction
	States   USStateSet               // intersection of the buyer's own states and the entry's
	Filters  []Filter                 // the buyer's own and the entry's
	Schedule *calendar.WeeklySchedule // in addition to the buyer's own; nil: always open
	Caps     []*Cap                   // of the pair

	// Of the buyer and of the entry together: the filter set takes leads only from these suppliers
	// (nil: all), and not from those of NotSuppliers.
	Suppliers    map[SupplierID]struct{}
	NotSuppliers map[SupplierID]struct{}
}

// AcceptsSupplier reports whether the filter set takes leads from the supplier.
func (s *FilterSet) AcceptsSupplier(supplier SupplierID) bool {
	if _, excluded := s.NotSuppliers[supplier]; excluded {
		return false
	}
	_, listed := s.Suppliers[supplier]
	return listed || s.Suppliers == nil
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

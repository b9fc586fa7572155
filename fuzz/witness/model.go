package witness

import (
	"encoding/json"
	"fmt"
	"strings"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// leadState is the state of a lead by the log.
type leadState string

const (
	stateUnsold    leadState = "unsold"
	stateRecorded  leadState = "recorded"  // sold to a buyer without an endpoint
	stateOpen      leadState = "open"      // delivery in progress; the supplier has no answer yet
	statePending   leadState = "pending"   // delivery in progress; the supplier received ACCEPTED
	stateDelivered leadState = "delivered" // the buyer has the lead
	stateUnknown   leadState = "uncertain" // all attempts ended without a clear answer
)

// modelLead is a lead in the model.
type modelLead struct {
	id, request, campaign string
	reason                string
	buyer                 string // current buyer; empty: unsold
	lastBuyer             string // most recent buyer
	price                 market.Money
	lastPrice             market.Money // price of the most recent sale
	auctionName           string       // the auction at whose bid it was sold
	bids                  bidsByBuyer  // acceptable bids of its auction
	state                 leadState
	settlement            string   // the last settlement of its post
	mayBeReceived         bool     // the current buyer may have received an earlier attempt
	acceptedSent          bool     // the supplier received ACCEPTED, with this buyer
	statuses              []string // statuses reported by its buyer, oldest first
	returnState           returnState
	slot                  uint64 // slot of its encryption key
	erased                bool
	isTest                bool // consumes no cap and no money
	viewHistory           []leadViewFrom
}

// logModel is the exchange's state, rebuilt from the log's dump record by record. Each record
// that a correct exchange would never write is a violation, noted with its number.
type logModel struct {
	config           *Config
	dumpLines        []string
	names            map[uint64]string // id by kind and reference
	leads            map[string]*modelLead
	leadByRequest    map[string]string        // lead id by request id
	auctions         map[string]*modelAuction // by name
	auctionByRequest map[string]*modelAuction // by request id
	sellerAuctionIDs map[string]bool          // auction ids that suppliers chose
	capUsed          []market.Money           // use of each cap: leads or money
	balance          map[string]market.Money
	reserved         map[string]market.Money   // per buyer, by open deliveries
	reservedHistory  map[string][]reservedFrom // reserved money over time
	payments         []payment
	sales            []buyerSale
	actions          map[operatorAction]int // the operator's actions
	violations       []string
	seq              uint64
}

type saleFields struct {
	Buyer  uint64       `json:"buyer"`
	Price  market.Money `json:"price"`
	Payout market.Money `json:"payout"`
	Ping   string       `json:"ping"`
	Test   bool         `json:"test"`
}

// eventFields holds the members of all kinds of events.
type eventFields struct {
	Names []struct {
		Kind uint64 `json:"kind"`
		Ref  uint64 `json:"ref"`
		ID   string `json:"id"`
	} `json:"names"`
	Lead            string      `json:"lead"`
	Request         string      `json:"request"`
	Campaign        uint64      `json:"campaign"`
	Reason          string      `json:"reason"`
	Sale            *saleFields `json:"sale"`
	Post            string      `json:"post"`
	Settlement      string      `json:"settlement"`
	Verdict         string      `json:"verdict"` // of an attempt that was followed by another one
	NotReceived     bool        `json:"free"`    // the buyer cannot have received the attempt
	Next            *saleFields `json:"next"`
	Buyer           uint64      `json:"buyer"`
	Amount          string      `json:"amount"`
	Opening         bool        `json:"opening"`
	Name            string      `json:"name"`
	SellerAuctionID string      `json:"theirs"`
	Bids            []bidFields `json:"bids"`
	Slot            uint64      `json:"slot"`
	Test            bool        `json:"test"` // of an unsold test lead
	Leads           []string    `json:"leads"`
	Slots           []uint64    `json:"slots"`
	Changes         []struct {
		Lead    string       `json:"lead"`
		Result  string       `json:"result"`
		To      string       `json:"to"`
		Waited  bool         `json:"waited"`
		Credit  market.Money `json:"credit"`
		Reverse market.Money `json:"reverse"`
	} `json:"changes"`
}

// readLogModel builds the model from a dump.
func readLogModel(t *Config, dump string) *logModel {
	b := &logModel{
		config: t, names: map[uint64]string{}, leads: map[string]*modelLead{}, leadByRequest: map[string]string{},
		auctions: map[string]*modelAuction{}, auctionByRequest: map[string]*modelAuction{}, sellerAuctionIDs: map[string]bool{},
		capUsed: make([]market.Money, len(t.caps)),
		actions: map[operatorAction]int{}, balance: map[string]market.Money{}, reserved: map[string]market.Money{},
		reservedHistory: map[string][]reservedFrom{},
	}
	b.dumpLines = strings.Split(strings.TrimSuffix(dump, "\n"), "\n")
	for _, text := range b.dumpLines {
		var line struct {
			Seq   uint64      `json:"seq"`
			Kind  string      `json:"kind"`
			Event eventFields `json:"fact"`
		}
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			b.addViolation("the dump has an invalid line: %v: %.200s", err, text)
			continue
		}
		if line.Seq != b.seq+1 {
			b.addViolation("entry %d follows entry %d", line.Seq, b.seq)
		}
		b.seq = line.Seq
		b.applyEvent(line.Kind, &line.Event)
		b.recordLeadViews(&line.Event)
	}
	return b
}

func (b *logModel) addViolation(format string, args ...any) {
	b.violations = append(b.violations, fmt.Sprintf("log, entry %d: ", b.seq)+fmt.Sprintf(format, args...))
}

func (b *logModel) idOfReference(kind event.ConfigObjectKind, ref uint64) string {
	return b.names[uint64(kind)<<32|ref]
}

func (b *logModel) applyEvent(kind string, f *eventFields) {
	switch kind {
	case "names_given":
		for _, n := range f.Names {
			b.names[n.Kind<<32|n.Ref] = n.ID
		}
	case "funds_moved":
		b.applyFunds(f)
	case "auction_held":
		b.applyAuction(f)
	case "lead_decided":
		b.applyLeadDecision(f)
	case "post_tried":
		if e := b.leads[f.Lead]; e == nil || (e.state != stateOpen && e.state != statePending) {
			b.addViolation("lead %s: an attempt without an open delivery", f.Lead)
		} else if !f.NotReceived && f.Verdict != "unreached" {
			e.mayBeReceived = true
		}
	case "post_settled":
		b.applySettlement(f)
	case "leads_erased":
		b.applyErasure(f)
	case "status_changed":
		b.applyStatusChanges(f)
	}
}

func (b *logModel) applyLeadDecision(f *eventFields) {
	e := &modelLead{id: f.Lead, request: f.Request, campaign: b.idOfReference(event.ObjectCampaign, f.Campaign), state: stateUnsold, reason: f.Reason, slot: f.Slot, isTest: f.Test || f.Sale != nil && f.Sale.Test}
	if b.leads[f.Lead] != nil {
		b.addViolation("lead %s is decided twice", f.Lead)
	}
	if other, twice := b.leadByRequest[f.Request]; twice {
		b.addViolation("request %s created two leads, %s and %s", f.Request, other, f.Lead)
	}
	b.leads[f.Lead], b.leadByRequest[f.Request] = e, f.Lead
	switch {
	case f.Sale != nil:
		b.assignBids(e, f)
		b.applySale(e, f.Sale)
		b.checkPostURL(e, f.Post)
		if posted := b.config.buyerByID(e.buyer); posted != nil && posted.hasEndpoint() != (f.Post != "") {
			b.addViolation("lead %s of buyer %s has the delivery URL %q", e.id, e.buyer, f.Post)
		}
	case f.Reason == "":
		b.addViolation("lead %s is decided without a sale and without a reason", e.id)
	}
}

// applySale sells the lead and counts its caps and money.
func (b *logModel) applySale(e *modelLead, sale *saleFields) {
	e.buyer, e.price, e.mayBeReceived = b.idOfReference(event.ObjectBuyer, sale.Buyer), sale.Price, false
	e.lastBuyer, e.reason, e.lastPrice = e.buyer, "", e.price
	b.sales = append(b.sales, buyerSale{b.seq, e.buyer})
	if price, ok := b.expectedPrice(e); !ok || price != sale.Price || payout(price) != sale.Payout {
		b.addViolation("lead %s of campaign %s is sold to %q at %v with payout %v, which its bids or filter sets do not allow", e.id, e.campaign, e.buyer, sale.Price, sale.Payout)
	}
	b.countCaps(e, 1)
	e.settlement = ""
	if buyer := b.config.buyerByID(e.buyer); buyer != nil && buyer.hasEndpoint() {
		e.state = stateOpen
		b.reserveMoney(e, e.price)
		if e.isTest && !buyer.hasTestEndpoint {
			b.addViolation("test lead %s is delivered to %s, which has no test endpoint", e.id, e.buyer)
		}
	} else {
		e.state = stateRecorded
		b.addPayment("sale", e, e.price, payout(e.price))
	}
	b.checkOverdraft(e.buyer)
}

// checkPostURL checks that the delivery goes to the endpoint of the lead's buyer.
func (b *logModel) checkPostURL(e *modelLead, url string) {
	if at := b.config.endpoints[e.endpointName()]; at != "" && url != "" && !strings.HasPrefix(url, at+"/") {
		b.addViolation("lead %s, test %t: the delivery URL %s is not the endpoint of %s at %s", e.id, e.isTest, url, e.buyer, at)
	}
}

// countCaps adds a sale to the caps (sign 1) or removes it (sign -1).
func (b *logModel) countCaps(e *modelLead, sign market.Money) {
	if e.isTest {
		return
	}
	for i := range b.config.caps {
		c := &b.config.caps[i]
		if (c.campaign != "" && c.campaign != e.campaign) || (c.buyer != "" && c.buyer != e.buyer) {
			continue
		}
		amount, limit := market.Money(1), market.Money(c.count)
		if c.money != 0 {
			amount, limit = e.price, c.money
		}
		b.capUsed[i] += sign * amount
		if b.capUsed[i] > limit {
			b.addViolation("cap exceeded: over the %v", c)
		}
	}
}

// applySettlement applies a settlement of the lead's delivery.
func (b *logModel) applySettlement(f *eventFields) {
	e := b.leads[f.Lead]
	if e == nil {
		b.addViolation("lead %s is settled, but was never decided", f.Lead)
		return
	}
	if f.Sale == nil || b.idOfReference(event.ObjectBuyer, f.Sale.Buyer) != e.buyer || f.Sale.Price != e.price {
		b.addViolation("lead %s is settled with another buyer or price than decided", e.id)
		return
	}
	if !canSettle(e.state, f.Settlement) {
		b.addViolation("lead %s in state %s cannot be settled as %s", e.id, e.state, f.Settlement)
		return
	}
	switch f.Settlement {
	case "confirmed", "released", "resent":
		b.actions[operatorAction{"delivery " + f.Settlement + ", lead", e.id}]++
	}
	e.settlement = f.Settlement
	switch f.Settlement {
	case "delivered", "confirmed":
		e.state = stateDelivered
		b.reserveMoney(e, -e.price)
		b.addPayment("sale", e, e.price, payout(e.price))
	case "pending", "resent":
		e.state, e.acceptedSent = statePending, true
	case "unknown":
		e.state, e.acceptedSent = stateUnknown, true
	case "refused", "released":
		b.applyRefusal(e, f)
	}
}

// canSettle reports whether a lead in this state can have the settlement.
func canSettle(now leadState, settlement string) bool {
	switch settlement {
	case "pending":
		return now == stateOpen
	case "delivered", "refused", "unknown":
		return now == stateOpen || now == statePending
	case "confirmed", "released", "resent":
		return now == stateUnknown
	}
	return false
}

// applyRefusal undoes a sale and sells the lead to the next buyer if the event names one. A
// buyer that may have received the lead keeps it unless the operator releases it, because no
// buyer here is configured as idempotent.
func (b *logModel) applyRefusal(e *modelLead, f *eventFields) {
	if e.mayBeReceived && f.Settlement == "refused" && f.Next == nil {
		b.addViolation("lead %s ends unsold after a refusal by %s, which may have it", e.id, e.buyer)
	}
	b.countCaps(e, -1)
	b.reserveMoney(e, -e.price)
	b.releaseAuction(e, f.Next != nil)
	switch {
	case f.Next == nil:
		e.buyer, e.price, e.state, e.reason = "", 0, stateUnsold, f.Reason
		if f.Reason == "" {
			b.addViolation("lead %s ends unsold without a reason", e.id)
		}
		return
	case e.acceptedSent:
		b.addViolation("lead %s moves away from %s, which the ACCEPTED answer named", e.id, e.buyer)
	case e.mayBeReceived:
		b.addViolation("lead %s moves away from %s, which may have it", e.id, e.buyer)
	}
	b.applySale(e, f.Next)
}

package witness

import (
	"encoding/json"
	"fmt"
	"strings"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// standing is where a lead stands by the log.
type standing string

const (
	unsold    standing = "unsold"
	recorded  standing = "recorded"  // sold to a buyer without an endpoint
	open      standing = "open"      // its post is intended; the supplier has no answer
	pending   standing = "pending"   // likewise, but the supplier was told ACCEPTED
	delivered standing = "delivered" // its buyer has it
	uncertain standing = "uncertain" // the tries are used up
)

// entry is a lead in the book.
type entry struct {
	id, request, campaign string
	reason                string
	buyer                 string // that holds it; none: unsold
	last                  string // that held it last
	price                 market.Money
	paid                  market.Money // the price that it was sold at last
	ping                  string       // name of the auction that it was posted in
	bids                  bids         // where it was sold in one
	standing              standing
	settlement            string   // the last one of its post
	tried                 bool     // a send to the present buyer is in doubt
	promised              bool     // the supplier was told ACCEPTED, with this buyer
	became                []string // by its buyer's reports, one after the other
	asked                 asked
	slot                  uint64 // of the key that it is sealed with
	erased                bool
	test                  bool // it takes no cap and no money
	views                 []viewAt
}

// A book is what a log's dump says, walked entry by entry. Whatever an exchange
// that keeps its promises would never have logged is a breach, and is noted
// with the entry's number.
type book struct {
	terms    *Terms
	text     []string
	names    map[uint64]string // by kind and ref
	leads    map[string]*entry
	requests map[string]string   // lead by request
	held     map[string]*auction // by its name
	asked    map[string]*auction // by its request
	theirs   map[string]bool     // names that the sellers gave
	counts   []market.Money      // of each cap: leads, or money
	peak     []market.Money
	balance  map[string]market.Money
	taken    map[string]market.Money // by open posts
	least    map[string]market.Money // that a funded buyer ever had left, credit included and open posts deducted
	holds    map[string][]heldAt     // likewise, as it became
	lines    map[string][]movement   // of buyers' and suppliers' statements
	moved    []market.Money          // top-ups
	sales    []saleAt
	ruled    map[ruling]bool // what the operator said of leads
	breaches []string
	seq      uint64
}

// line is one of the dump.
type line struct {
	Seq  uint64          `json:"seq"`
	Kind string          `json:"kind"`
	Fact json.RawMessage `json:"fact"`
}

type saleFact struct {
	Buyer  uint64       `json:"buyer"`
	Price  market.Money `json:"price"`
	Payout market.Money `json:"payout"`
	Ping   string       `json:"ping"`
	Test   bool         `json:"test"`
}

// fact has the members of all kinds.
type fact struct {
	Names []struct {
		Kind uint64 `json:"kind"`
		Ref  uint64 `json:"ref"`
		ID   string `json:"id"`
	} `json:"names"`
	Lead       string    `json:"lead"`
	Request    string    `json:"request"`
	Campaign   uint64    `json:"campaign"`
	Reason     string    `json:"reason"`
	Sale       *saleFact `json:"sale"`
	Post       string    `json:"post"`
	Settlement string    `json:"settlement"`
	Verdict    string    `json:"verdict"` // of a send after which another one followed
	Free       bool      `json:"free"`    // it put nothing in doubt
	Next       *saleFact `json:"next"`
	Buyer      uint64    `json:"buyer"`
	Amount     string    `json:"amount"`
	Opening    bool      `json:"opening"`
	Name       string    `json:"name"`
	Theirs     string    `json:"theirs"`
	Bids       []bidFact `json:"bids"`
	Slot       uint64    `json:"slot"`
	Test       bool      `json:"test"` // of a lead that nobody takes
	Leads      []string  `json:"leads"`
	Slots      []uint64  `json:"slots"`
	Changes    []struct {
		Lead    string       `json:"lead"`
		Result  string       `json:"result"`
		To      string       `json:"to"`
		Waited  bool         `json:"waited"`
		Credit  market.Money `json:"credit"`
		Reverse market.Money `json:"reverse"`
	} `json:"changes"`
}

// readBook walks a dump.
func readBook(t *Terms, dump string) *book {
	b := &book{
		terms: t, names: map[uint64]string{}, leads: map[string]*entry{}, requests: map[string]string{},
		held: map[string]*auction{}, asked: map[string]*auction{}, theirs: map[string]bool{},
		counts: make([]market.Money, len(t.caps)), peak: make([]market.Money, len(t.caps)),
		ruled: map[ruling]bool{}, balance: map[string]market.Money{}, taken: map[string]market.Money{}, least: map[string]market.Money{},
		holds: map[string][]heldAt{}, lines: map[string][]movement{},
	}
	b.text = strings.Split(strings.TrimSuffix(dump, "\n"), "\n")
	for _, text := range b.text {
		var l line
		var f fact
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			b.breach("the dump has a line that is no entry: %v: %.200s", err, text)
			continue
		}
		if l.Seq != b.seq+1 {
			b.breach("entry %d follows entry %d", l.Seq, b.seq)
		}
		b.seq = l.Seq
		if err := json.Unmarshal(l.Fact, &f); err != nil {
			b.breach("a fact cannot be read: %v: %.200s", err, text)
			continue
		}
		b.enter(l.Kind, &f)
		b.see(&f)
	}
	return b
}

func (b *book) breach(format string, args ...any) {
	b.breaches = append(b.breaches, fmt.Sprintf("log, entry %d: ", b.seq)+fmt.Sprintf(format, args...))
}

func (b *book) name(kind event.NameKind, ref uint64) string { return b.names[uint64(kind)<<32|ref] }

func (b *book) enter(kind string, f *fact) {
	switch kind {
	case "names_given":
		for _, n := range f.Names {
			b.names[n.Kind<<32|n.Ref] = n.ID
		}
	case "funds_moved":
		b.fund(f)
	case "auction_held":
		b.hold(f)
	case "lead_decided":
		b.decide(f)
	case "post_tried":
		if e := b.leads[f.Lead]; e == nil || (e.standing != open && e.standing != pending) {
			b.breach("lead %s was posted without an intent", f.Lead)
		} else if !f.Free && f.Verdict != "unreached" {
			e.tried = true
		}
	case "post_settled":
		b.settle(f)
	case "leads_erased":
		b.erase(f)
	case "status_changed":
		b.change(f)
	}
}

func (b *book) decide(f *fact) {
	e := &entry{id: f.Lead, request: f.Request, campaign: b.name(event.NameCampaign, f.Campaign), standing: unsold, reason: f.Reason, slot: f.Slot, test: f.Test || f.Sale != nil && f.Sale.Test}
	if b.leads[f.Lead] != nil {
		b.breach("lead %s is decided twice", f.Lead)
	}
	if other, twice := b.requests[f.Request]; twice {
		b.breach("request %s brought the leads %s and %s", f.Request, other, f.Lead)
	}
	b.leads[f.Lead], b.requests[f.Request] = e, f.Lead
	switch {
	case f.Sale != nil:
		b.bid(e, f)
		b.sell(e, f.Sale)
		b.sentTo(e, f.Post)
		if posted := b.terms.buyer(e.buyer); posted != nil && posted.posting() != (f.Post != "") {
			b.breach("lead %s of %s has the intent %q", e.id, e.buyer, f.Post)
		}
	case f.Reason == "":
		b.breach("lead %s is neither sold nor has a reason", e.id)
	}
}

// sell takes all that a sale takes.
func (b *book) sell(e *entry, sale *saleFact) {
	e.buyer, e.price, e.tried = b.name(event.NameBuyer, sale.Buyer), sale.Price, false
	e.last, e.reason, e.paid = e.buyer, "", e.price
	b.sales = append(b.sales, saleAt{b.seq, e.buyer})
	if price, seated := b.priceOf(e); !seated || price != sale.Price || payout(price) != sale.Payout {
		b.breach("lead %s of %s is sold to %q at %v, the supplier getting %v", e.id, e.campaign, e.buyer, sale.Price, sale.Payout)
	}
	b.charge(e, 1)
	e.settlement = ""
	if buyer := b.terms.buyer(e.buyer); buyer != nil && buyer.posting() {
		e.standing = open
		b.keep(e, e.price)
		if e.test && !buyer.rehearses {
			b.breach("lead %s is a test, and goes to %s, which has no endpoint for tests", e.id, e.buyer)
		}
	} else {
		e.standing = recorded
		b.sold(e)
	}
	b.afford(e.buyer)
}

// sentTo sees that a lead's intent is for the endpoint that it is to go to.
func (b *book) sentTo(e *entry, url string) {
	if at := b.terms.endpoints[e.endpoint()]; at != "" && url != "" && !strings.HasPrefix(url, at+"/") {
		b.breach("lead %s, a test: %t, is to be posted to %s, and not to %s at %s", e.id, e.test, url, e.buyer, at)
	}
}

// charge counts a sale in the caps, or takes it out again.
func (b *book) charge(e *entry, sign market.Money) {
	if e.test {
		return
	}
	for i := range b.terms.caps {
		c := &b.terms.caps[i]
		if (c.campaign != "" && c.campaign != e.campaign) || (c.buyer != "" && c.buyer != e.buyer) {
			continue
		}
		amount, limit := market.Money(1), market.Money(c.count)
		if c.money != 0 {
			amount, limit = e.price, c.money
		}
		b.counts[i] += sign * amount
		b.peak[i] = max(b.peak[i], b.counts[i])
		if b.counts[i] > limit {
			b.breach("over the %v", c)
		}
	}
}

// settle ends an intent, or changes how it stands.
func (b *book) settle(f *fact) {
	e := b.leads[f.Lead]
	if e == nil {
		b.breach("lead %s is settled and was never decided", f.Lead)
		return
	}
	if f.Sale == nil || b.name(event.NameBuyer, f.Sale.Buyer) != e.buyer || f.Sale.Price != e.price {
		b.breach("lead %s is settled on other terms than it was intended on", e.id)
		return
	}
	if !mayFollow(e.standing, f.Settlement) {
		b.breach("lead %s is %s and then settled as %s", e.id, e.standing, f.Settlement)
		return
	}
	switch f.Settlement {
	case "confirmed", "released", "resent":
		b.ruled[ruling{e.id, f.Settlement}] = true
	}
	e.settlement = f.Settlement
	switch f.Settlement {
	case "delivered", "confirmed":
		e.standing = delivered
		b.keep(e, -e.price)
		b.sold(e)
	case "pending", "resent":
		e.standing, e.promised = pending, true
	case "unknown":
		e.standing, e.promised = uncertain, true
	case "refused", "released":
		b.refuse(e, f)
	}
}

// mayFollow tells whether a settlement is possible where a lead stands.
func mayFollow(now standing, settlement string) bool {
	switch settlement {
	case "pending":
		return now == open
	case "delivered", "refused", "unknown":
		return now == open || now == pending
	case "confirmed", "released", "resent":
		return now == uncertain
	}
	return false
}

// refuse gives back what the sale took, and sells the lead to the next buyer
// where the fact names one. A buyer that may have the lead already keeps it, unless an
// operator releases the lead: no buyer here certifies its answers to repeats.
func (b *book) refuse(e *entry, f *fact) {
	if e.tried && f.Settlement == "refused" && f.Next == nil {
		b.breach("lead %s was given up after a refusal of %s, which may have it", e.id, e.buyer)
	}
	b.charge(e, -1)
	b.keep(e, -e.price)
	b.giveBack(e, f.Next != nil)
	switch {
	case f.Next == nil:
		e.buyer, e.price, e.standing, e.reason = "", 0, unsold, f.Reason
		if f.Reason == "" {
			b.breach("lead %s ends unsold without a reason", e.id)
		}
		return
	case e.promised:
		b.breach("lead %s left %s, with which it was accepted", e.id, e.buyer)
	case e.tried:
		b.breach("lead %s left %s, which may have it", e.id, e.buyer)
	}
	b.sell(e, f.Next)
}

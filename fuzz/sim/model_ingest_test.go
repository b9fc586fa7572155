package sim

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// stages are the reasons why a lead found no buyer, from the least far to the
// furthest. A buyer's own list, and a duplicate of its own, stand beside its
// filters.
var stages = []string{
	"no_buyer", "no_state_match", "filtered", "suppressed", "duplicate", "outside_schedule", "caps_full", "insufficient_funds",
	"rate_limited", "timeout", "no_bid", "below_floor", "bid_expired", "post_rejected",
}

func further(a, b string) string {
	if slices.Index(stages, b) > slices.Index(stages, a) {
		return b
	}
	return a
}

// bodyOf is what a request says, apart from its key.
func bodyOf(l line) string {
	said := line{verb: l.verb, about: l.about, said: map[string]string{}}
	for name, value := range l.said {
		if name != "key" {
			said.said[name] = value
		}
	}
	return said.String()
}

// ingest is a lead sent under a label, by POST /api/v1/ingest.
func (m *model) ingest(label string, l line) string {
	in := &intake{model: m, line: l, campaign: l.at(2), received: m.now, key: keyName("ingest", l.at(1), l.said["key"])}
	if used, ok := m.keys[in.key]; ok && in.key != "" && !past(used.until, m.now) {
		if used.body != bodyOf(l) {
			return "idempotency_key_reused"
		}
		return m.leads[used.lead].told + " again"
	}
	c, known := m.terms.campaigns[in.campaign]
	switch {
	case !known:
		return "invalid_payload flo_campaign_id:unknown"
	case m.paused["campaign "+in.campaign]:
		return "invalid_payload flo_campaign_id:inactive"
	}
	in.lead = &lead{label: label, campaign: in.campaign, supplier: l.at(1), received: m.now, status: "open"}
	in.chosen = l.said["ping"] != ""
	if in.chosen {
		if fault := in.choice(); fault != "" {
			return fault
		}
	}
	switch {
	case !in.chosen && !passes(c, l):
		return in.unmatched("filtered")
	case !in.chosen && m.listed(c, l.said["phone"]):
		return in.unmatched("suppressed")
	}
	if in.chosen {
		return in.takeUp()
	}
	if c.said["scope"] != "buyer" && in.isDuplicate("") {
		return in.unmatched("duplicate")
	}
	for _, seat := range m.terms.lineup(in.campaign) {
		in.candidates = append(in.candidates, &candidate{seat: seat})
	}
	if c.at(1) == "ping_post" {
		in.auction()
		in.recheck()
	} else {
		for _, cand := range in.candidates {
			cand.out = in.screen(cand.seat, cand.seat.money("price"), false)
		}
	}
	if !in.pick(nil) {
		return in.unmatched(in.reason())
	}
	return in.sell()
}

// past tells whether what expires then has expired. Expiry is to the second: what
// is remembered is so until the end of the second in which it expires.
func past(until, now int64) bool {
	return now/int64(time.Second) >= (until+int64(time.Second)-1)/int64(time.Second)
}

// keyName names an idempotency key; none has no name.
func keyName(endpoint, owner, key string) string {
	if key == "" {
		return ""
	}
	return strings.Join([]string{endpoint, owner, key}, " ")
}

// passes tells whether a lead passes a filter; what it does not say fails.
func passes(filter, l line) bool {
	return !filter.has("vehicles") || l.has("vehicles") && l.number("vehicles", 0) >= filter.number("vehicles", 0)
}

// intake is one lead while it is decided.
type intake struct {
	*model
	line       line
	lead       *lead
	campaign   string
	key        string
	received   int64
	chosen     bool // sold at a bid that was promised, to its buyer or to none
	seller     bool // by POST /v1/post
	auctionOf  *offered
	candidates []*candidate
	held       bool   // there was an auction
	allSilent  bool   // nobody who was asked answered
	turn       *cycle // that the picked one's turn is of
	blurred    bool   // nobody knows whose turn it was
	picked     *candidate
	price      int64
	payout     int64
	taken      []charge
	duplicates map[string]int64 // by what it will be known, if it is sold
}

// candidate is a seat, what its buyer bids, and why it is out.
type candidate struct {
	seat line
	out  string // a reason; empty: it is in
	bid  int64
	came int64
}

func (in *intake) buyerOf(c *candidate) string { return c.seat.at(1) }

// screen is why a seat is out as things stand; again: the lead has been at
// another buyer, and what is about the lead itself was asked before.
func (in *intake) screen(seat line, price int64, again bool) string {
	m, buyer := in.model, in.terms.buyers[seat.at(1)]
	c := m.terms.campaigns[in.campaign]
	if !again {
		states := seat.list("states")
		switch {
		case len(states) > 0 && !slices.Contains(states, in.line.said["state"]):
			return "no_state_match"
		case !passes(seat, in.line):
			return "filtered"
		case m.listed(buyer, in.line.said["phone"]):
			return "suppressed"
		}
	}
	_, pays := m.payout(in.campaign, price)
	switch {
	case !openAt(buyer, m.now) || !openAt(seat, m.now):
		return "outside_schedule"
	case !again && !fitting(m.charges(seat, price, nil, m.now)):
		return "caps_full"
	case !m.canPay(seat.at(1), price):
		return "insufficient_funds"
	case m.paused["buyer "+seat.at(1)]:
		return "no_bid"
	case !pays || price < c.money("floor"):
		return "below_floor"
	}
	return ""
}

func fitting(_ []charge, fits bool) bool { return fits }

// reason is the furthest that any candidate came.
func (in *intake) reason() string {
	reason := "no_buyer"
	for _, c := range in.candidates {
		if c.out == "" {
			reason = further(reason, "bid_expired")
		}
		reason = further(reason, c.out)
	}
	if in.held && reason == "no_bid" && in.allSilent {
		return "timeout"
	}
	return reason
}

// pick finds who gets the lead now, where own is what it holds at a buyer that
// refused it. Whoever cannot take it falls out.
func (in *intake) pick(own []charge) bool {
	m := in.model
	for {
		c := in.next(own)
		if c == nil {
			return false
		}
		in.price = c.seat.money("price")
		if in.held {
			in.price = c.bid
		}
		if c.out = in.cannot(c, own); c.out == "" {
			in.payout, _ = m.payout(in.campaign, in.price)
			in.taken, _ = m.charges(c.seat, in.price, own, m.now)
			in.picked = c
			return true
		}
	}
}

// cannot is why a candidate whose turn it is cannot take the lead.
func (in *intake) cannot(c *candidate, own []charge) string {
	m, price := in.model, in.price
	if _, pays := m.payout(in.campaign, price); !pays {
		return "below_floor"
	}
	if m.terms.campaigns[in.campaign].said["scope"] == "buyer" && in.isDuplicate(in.buyerOf(c)) {
		return "duplicate"
	}
	if _, fits := m.charges(c.seat, price, own, m.now); !fits {
		return "caps_full"
	}
	if !m.canPay(in.buyerOf(c), price) {
		return "insufficient_funds"
	}
	return ""
}

// next is the candidate to try: by the campaign's method, among those that are in.
// A set of those that take turns begins anew where the campaign's seats change.
//
// Who loses a turn that it cannot take owes nothing. So where it may have been
// the turn of one that cannot, and the lead was seen to go to another whose turn it
// may have been as well, nobody knows whether that one has had it: then all that
// was known of the campaign's turns is forgotten.
func (in *intake) next(own []charge) (best *candidate) {
	var buyers []string
	var weights []int64
	method := in.terms.campaigns[in.campaign].at(1)
	byBuyer := map[string]*candidate{}
	set := in.campaign
	for _, c := range in.candidates {
		w := int64(1)
		if method == "weighted" {
			w = c.seat.number("weight", 1)
		}
		set += " " + c.seat.at(1) + ":" + amount(w)
		if c.out != "" || in.held && in.now >= in.received+ceiling {
			continue
		}
		buyers, weights = append(buyers, in.buyerOf(c)), append(weights, w)
		byBuyer[in.buyerOf(c)] = c
		if best == nil || in.held && better(c, best) {
			best = c
		}
	}
	if best == nil || method == "waterfall" || method == "ping_post" {
		return best
	}
	if in.loose {
		if takers := in.seen.takers; len(takers) > 0 && byBuyer[takers[0]] != nil {
			return byBuyer[takers[0]]
		}
		return best
	}
	set += " of whom " + strings.Join(buyers, " ")
	if in.turns[set] == nil {
		in.turns[set] = newCycle(buyers, weights)
	}
	in.turn = in.turns[set]
	may := in.turn.may()
	best = byBuyer[in.whose(may)]
	for _, buyer := range may {
		in.price = byBuyer[buyer].seat.money("price")
		if buyer != in.buyerOf(best) && in.cannot(byBuyer[buyer], own) != "" {
			in.blurred = true
		}
	}
	return best
}

// whose is who of those whose turn it may be gets the lead: the one that was seen
// to, or the first.
func (in *intake) whose(may []string) string {
	if takers := in.seen.takers; len(takers) > 0 && slices.Contains(may, takers[0]) {
		return takers[0]
	}
	return may[0]
}

// better orders bids: the higher, the lower priority, the earlier, by name.
func better(a, b *candidate) bool {
	pa, na := rank(a.seat)
	pb, nb := rank(b.seat)
	return cmp.Or(cmp.Compare(b.bid, a.bid), cmp.Compare(pa, pb), cmp.Compare(a.came, b.came), cmp.Compare(na, nb)) < 0
}

// isDuplicate tells whether the lead is known, to the campaign or to one buyer,
// and notes by what it will be.
func (in *intake) isDuplicate(buyer string) bool {
	c := in.terms.campaigns[in.campaign]
	window := c.duration("duplicates", 0)
	in.duplicates = map[string]int64{}
	if window <= 0 {
		return false
	}
	phone, email := "phone "+in.line.said["phone"], "email "+in.line.said["email"]
	var values []string
	switch c.said["match"] {
	case "all":
		values = []string{phone + " " + email}
	case "phone":
		values = []string{phone}
	case "email":
		values = []string{email}
	default:
		values = []string{phone, email}
	}
	found := false
	for _, value := range values {
		name := strings.Join([]string{in.campaign, buyer, value}, " ")
		known, ok := in.remembered[name]
		found = found || ok && !past(known.until, in.now)
		in.duplicates[name] = in.now + int64(window/time.Nanosecond)
	}
	if found {
		clear(in.duplicates)
	}
	return found
}

// unmatched is a lead that is recorded and goes to nobody.
func (in *intake) unmatched(reason string) string {
	told := "unmatched " + reason
	in.commit(func() {
		l := in.lead
		l.status, l.reason, l.told, l.decided, l.delivery = "UNMATCHED", reason, told, in.now, "none"
		in.record()
		in.owe(l, "lead.unmatched")
	})
	return told
}

// record remembers the lead, and its key.
func (in *intake) record() {
	in.leads[in.lead.label] = in.lead
	in.lead.recordedAs, in.lead.phone, in.lead.email = bodyOf(in.line), in.line.said["phone"], in.line.said["email"]
	if in.key != "" {
		in.keys[in.key] = usedKey{body: bodyOf(in.line), lead: in.lead.label, until: in.received + remembering}
	}
}

package sim

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// stages are the reasons for an unsold lead, from the earliest check to the latest. A buyer's
// own suppression list and duplicate check belong to its filters.
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

// bodyOf returns a request without its key.
func bodyOf(l line) string {
	said := line{verb: l.verb, about: l.about, said: map[string]string{}}
	for name, value := range l.said {
		if name != "key" {
			said.said[name] = value
		}
	}
	return said.String()
}

// ingest is a lead sent to POST /api/v1/ingest under a label.
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
		return in.sellToChosen()
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
			cand.out = in.screen(cand.seat, termsAt(cand.seat, m.now).price, false)
		}
	}
	if !in.pickBuyer(nil) {
		return in.unmatched(in.reason())
	}
	return in.sellToPicked()
}

// past reports whether the time has expired. Expiry has a resolution of one second, rounded up.
func past(until, now int64) bool {
	return now/int64(time.Second) >= (until+int64(time.Second)-1)/int64(time.Second)
}

// keyName names an idempotency key; a missing key has no name.
func keyName(endpoint, owner, key string) string {
	if key == "" {
		return ""
	}
	return strings.Join([]string{endpoint, owner, key}, " ")
}

// passes reports whether a lead passes a filter. A missing value fails.
func passes(filter, l line) bool {
	return !filter.has("vehicles") || l.has("vehicles") && l.number("vehicles", 0) >= filter.number("vehicles", 0)
}

// intake is the decision on one lead.
type intake struct {
	*model
	line         line
	lead         *lead
	campaign     string
	key          string
	received     int64
	chosen       bool // sold at an earlier bid, to its buyer only
	seller       bool // by POST /v1/post
	auctionOf    *answeredAuction
	candidates   []*candidate
	hadAuction   bool       // there was an auction
	allSilent    bool       // no asked buyer answered
	turn         *turnCycle // turns of the picked buyer
	turnsUnknown bool       // the order of turns is unknown
	picked       *candidate
	price        int64
	payout       int64
	taken        []capCharge
	duplicates   map[string]int64 // keys by which a sold lead becomes known
}

// candidate is a filter set with its buyer's bid, and the reason for its exclusion.
type candidate struct {
	seat line
	out  string // reason for the exclusion; empty: eligible
	bid  int64
	came int64
}

// otherSet excludes a filter set because another one of its buyer got the ping or the lead.
const otherSet = "other_filter_set"

func (in *intake) buyerOf(c *candidate) string { return c.seat.at(1) }

// screen returns the reason to exclude a filter set now. again is set if the lead was at
// another buyer; the checks of the lead itself are then not repeated.
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
	case !openAt(c, m.now) || !openAt(buyer, m.now) || !openAt(seat, m.now):
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

func fitting(_ []capCharge, fits bool) bool { return fits }

// reason returns the latest stage that any candidate reached.
func (in *intake) reason() string {
	reason := "no_buyer"
	for _, c := range in.candidates {
		if c.out == "" {
			reason = further(reason, "bid_expired")
		}
		reason = further(reason, c.out)
	}
	if in.hadAuction && reason == "no_bid" && in.allSilent {
		return "timeout"
	}
	return reason
}

// pickBuyer finds the buyer that gets the lead now and excludes buyers that cannot take it. own are
// the lead's charges at a buyer that refused it.
func (in *intake) pickBuyer(own []capCharge) bool {
	m := in.model
	for {
		c := in.nextCandidate(own)
		if c == nil {
			return false
		}
		in.price = termsAt(c.seat, m.now).price
		if in.hadAuction {
			in.price = c.bid
		}
		if c.out = in.refusalReason(c, own); c.out == "" {
			in.payout, _ = m.payout(in.campaign, in.price)
			in.taken, _ = m.charges(c.seat, in.price, own, m.now)
			in.picked = c
			return true
		}
	}
}

// refusalReason returns the reason why a candidate cannot take the lead in its turn.
func (in *intake) refusalReason(c *candidate, own []capCharge) string {
	m, price := in.model, in.price
	if _, pays := m.payout(in.campaign, price); !pays || price < in.terms.campaigns[in.campaign].money("floor") {
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

// nextCandidate returns the next candidate by the campaign's method. A set of buyers that take turns
// starts again when the campaign's filter sets change.
//
// A buyer that loses a turn because it cannot take the lead keeps no claim. If the turn may
// have belonged to such a buyer, and the lead went to another one that may also have had the
// turn, the order is ambiguous. The model then discards its knowledge of the campaign's turns.
func (in *intake) nextCandidate(own []capCharge) (best *candidate) {
	var buyers, members []string
	var weights []int64
	method := in.terms.campaigns[in.campaign].at(1)
	byBuyer := map[string]*candidate{}
	set := in.campaign
	for _, c := range in.candidates {
		w := int64(1)
		if method == "weighted" {
			w = c.seat.number("weight", 1)
		}
		set += " " + strings.Join(c.seat.about[1:], "/") + ":" + amount(w)
		if c.out != "" || in.hadAuction && in.now >= in.received+ceiling || byBuyer[in.buyerOf(c)] != nil {
			continue
		}
		buyers, weights, members = append(buyers, in.buyerOf(c)), append(weights, w), append(members, strings.Join(c.seat.about[1:], "/"))
		byBuyer[in.buyerOf(c)] = c
		if best == nil || in.hadAuction && better(c, best) {
			best = c
		}
	}
	if best == nil || method == "waterfall" || method == "ping_post" {
		return best
	}
	if in.followSeenTurns {
		if takers := in.seen.buyers; len(takers) > 0 && byBuyer[takers[0]] != nil {
			return byBuyer[takers[0]]
		}
		return best
	}
	set += " of whom " + strings.Join(members, " ")
	if in.turns[set] == nil {
		in.turns[set] = newCycle(buyers, weights)
	}
	in.turn = in.turns[set]
	may := in.turn.possibleBuyers()
	best = byBuyer[in.turnOf(may)]
	for _, buyer := range may {
		in.price = termsAt(byBuyer[buyer].seat, in.now).price
		if buyer != in.buyerOf(best) && in.refusalReason(byBuyer[buyer], own) != "" {
			in.turnsUnknown = true
		}
	}
	return best
}

// turnOf returns the buyer that gets the lead among those whose turn it may be: the one that was
// seen, or the first.
func (in *intake) turnOf(may []string) string {
	if takers := in.seen.buyers; len(takers) > 0 && slices.Contains(may, takers[0]) {
		return takers[0]
	}
	return may[0]
}

// better orders bids: higher amount, then lower priority number, earlier bid, name.
func better(a, b *candidate) bool {
	pa, na := rank(a.seat)
	pb, nb := rank(b.seat)
	return cmp.Or(cmp.Compare(b.bid, a.bid), cmp.Compare(pa, pb), cmp.Compare(a.came, b.came), cmp.Compare(na, nb)) < 0
}

// isDuplicate reports whether the campaign or the buyer knows the lead, and notes the keys by
// which it becomes known.
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

// unmatched records an unsold lead.
func (in *intake) unmatched(reason string) string {
	told := "unmatched " + reason
	in.commit(func() {
		l := in.lead
		l.status, l.reason, l.told, l.decided, l.delivery = "UNMATCHED", reason, told, in.now, "none"
		in.record()
		in.addWebhook(l, "lead.unmatched")
	})
	return told
}

// record remembers the lead and its key.
func (in *intake) record() {
	in.leads[in.lead.label] = in.lead
	in.lead.recordedAs, in.lead.phone, in.lead.email = bodyOf(in.line), in.line.said["phone"], in.line.said["email"]
	if in.key != "" {
		in.keys[in.key] = usedKey{body: bodyOf(in.line), lead: in.lead.label, until: in.received + remembering}
	}
}

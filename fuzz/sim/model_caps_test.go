package sim

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// capCharge is the use of one cap in one window by one sale.
type capCharge struct {
	window string // cap and window
	amount int64
}

// windowOf names the window of a period at an instant. It uses only the zone's clock and
// calendar, so it needs no arithmetic across clock changes.
func windowOf(period, zone string, at int64) string {
	t := time.Unix(0, at).In(zoneOf(zone))
	switch period {
	case "hour":
		return t.Format("2006-01-02 15 -0700")
	case "day":
		return t.Format("2006-01-02")
	case "week":
		year, week := t.ISOWeek()
		return fmt.Sprint(year, " week ", week)
	case "month":
		return t.Format("2006-01")
	}
	return "ever"
}

// openAt reports whether the opening hours and closed days of a line permit a sale at an instant, by the
// zone's clock.
func openAt(l line, at int64) bool { return hoursInclude(l.said["hours"], at) }

func hoursInclude(text string, at int64) bool {
	zone, hours, ok := strings.Cut(text, ";")
	if !ok {
		return true
	}
	t := time.Unix(0, at).In(zoneOf(zone))
	clock, onlyClosed := t.Format("15:04"), true
	days := []string{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"}
	lines := strings.Split(hours, ";")
	for _, date := range []string{t.Format("2006-01-02"), t.Format("01-02")} {
		if slices.Contains(lines, "closed_"+date) {
			return false
		}
	}
	for _, one := range lines {
		span, times, _ := strings.Cut(one, "_")
		if span == "closed" {
			continue
		}
		onlyClosed = false
		from, to, _ := strings.Cut(times, "-")
		first, last, several := strings.Cut(span, "-")
		if !several {
			last = first
		}
		a, b := slices.Index(days, first), slices.Index(days, last)
		in := (int(t.Weekday())-a+7)%7 <= (b-a+7)%7
		if in && clock >= from && clock < to {
			return true
		}
	}
	return onlyClosed
}

// seatTerms has the price and the factor for caps of a filter set at an instant.
type seatTerms struct{ price, capsFactor int64 }

// termsAt returns the terms of a filter set. The first modifier with the instant counts, such as
// UTC;Mon-Fri_08:00-18:00|1.25|0.5.
func termsAt(seat line, at int64) seatTerms {
	price := seat.money("price")
	for _, text := range strings.Split(seat.said["modifiers"], "+") {
		if words := strings.Split(text, "|"); len(words) == 3 && hoursInclude(words[0], at) {
			return seatTerms{price * moneyOf(words[1]) / 1_000_000, moneyOf(words[2])}
		}
	}
	return seatTerms{price, 1_000_000}
}

// namedCap is a cap that applies to a sale in a filter set.
type namedCap struct {
	limit
	name string // without the window
}

// capsOver lists the caps of a filter set with the limits in force at an instant.
func (m *model) capsOver(seat line, at int64) (all []namedCap) {
	campaign, buyer := m.terms.campaigns[seat.at(0)], m.terms.buyers[seat.at(1)]
	for _, of := range []struct {
		l          line
		zone, name string
	}{
		{campaign, campaign.said["zone"], "campaign " + seat.at(0)},
		{buyer, buyer.said["zone"], "buyer " + seat.at(1)},
		{seat, campaign.said["zone"], "seat " + strings.Join(seat.about, " ")},
	} {
		for _, c := range limitsOf(of.l, of.zone) {
			if of.l.verb == "seat" {
				c.most = c.most * termsAt(seat, at).capsFactor / 1_000_000
			}
			all = append(all, namedCap{c, strings.Join([]string{of.name, c.unit, c.period, cmp.Or(c.zone, "UTC")}, " ")})
		}
	}
	return all
}

// charges returns the charges of a sale in the filter set. fits reports whether all caps have
// room; the lead's own charges count as free.
func (m *model) charges(seat line, price int64, own []capCharge, at int64) (all []capCharge, fits bool) {
	fits = termsAt(seat, at).capsFactor > 0
	for _, c := range m.capsOver(seat, at) {
		one := capCharge{c.name + " " + windowOf(c.period, c.zone, at), 1}
		if c.unit == "money" {
			one.amount = price
		}
		free := c.most - m.used[one.window]
		for _, o := range own {
			if o.window == one.window {
				free += o.amount
			}
		}
		fits = fits && one.amount <= free
		all = append(all, one)
	}
	return all, fits
}

// canPay reports whether the buyer can pay the price.
func (m *model) canPay(buyer string, price int64) bool {
	l := m.terms.buyers[buyer]
	return !l.has("funds") || m.funds[buyer]+l.money("credit") >= price
}

// payout returns the supplier's payout. It returns false if the price is below a fixed payout.
func (m *model) payout(campaign string, price int64) (int64, bool) {
	l := m.terms.campaigns[campaign]
	switch {
	case l.has("fixed"):
		return l.money("fixed"), price >= l.money("fixed")
	case l.has("share"):
		whole, part := price/1_000_000, price%1_000_000
		share := l.money("share")
		return whole*share + part*share/1_000_000, true
	}
	return price, true
}

// listed reports whether a person is on one of the lists.
func (m *model) listed(l line, person string) bool {
	for _, id := range l.list("refuses") {
		if known, ok := m.terms.lists[id]; ok && slices.Contains(known.list("persons"), person) {
			return true
		}
	}
	return false
}

// turnCycle is the order of turns among buyers that are eligible together. The exchange chooses its
// start; each seen turn reduces the possible positions.
type turnCycle struct {
	order []string // the turns of one round
	next  []int    // possible positions of the next turn
}

// newCycle distributes weights smoothly: in each turn every buyer gains its weight, and the one
// with the most pays the sum of all weights.
func newCycle(buyers []string, weights []int64) *turnCycle {
	c := &turnCycle{}
	credit, sum := make([]int64, len(buyers)), int64(0)
	for _, w := range weights {
		sum += w
	}
	for place := range int(sum) {
		best := 0
		for i := range buyers {
			credit[i] += weights[i]
			if credit[i] > credit[best] {
				best = i
			}
		}
		credit[best] -= sum
		c.order, c.next = append(c.order, buyers[best]), append(c.next, place)
	}
	return c
}

// possibleBuyers lists the buyers whose turn it may be.
func (c *turnCycle) possibleBuyers() (buyers []string) {
	for _, place := range c.next {
		if !slices.Contains(buyers, c.order[place]) {
			buyers = append(buyers, c.order[place])
		}
	}
	return buyers
}

// recordTurn records a turn of the buyer.
func (c *turnCycle) recordTurn(buyer string) {
	var next []int
	for _, place := range c.next {
		if c.order[place] == buyer {
			next = append(next, (place+1)%len(c.order))
		}
	}
	c.next = next
}

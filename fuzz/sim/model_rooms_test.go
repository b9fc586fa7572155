package sim

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// charge is what one sale took of one cap in one window.
type charge struct {
	window string // cap and window
	amount int64
}

// windowOf names the window of a period around an instant, by what the clocks and
// calendars of the zone show; so no arithmetic can go wrong at a clock change.
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

// openAt tells whether hours include an instant, by the zone's clocks.
func openAt(l line, at int64) bool {
	zone, hours, ok := strings.Cut(l.said["hours"], ";")
	if !ok {
		return true
	}
	t := time.Unix(0, at).In(zoneOf(zone))
	clock := t.Format("15:04")
	days := []string{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"}
	for _, one := range strings.Split(hours, ";") {
		span, times, _ := strings.Cut(one, "_")
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
	return false
}

// capped is one cap that a sale in a seat would count in.
type capped struct {
	limit
	name string // apart from the window
}

// capsOver lists the caps over a seat.
func (m *model) capsOver(seat line) (all []capped) {
	campaign, buyer := m.terms.campaigns[seat.at(0)], m.terms.buyers[seat.at(1)]
	for _, of := range []struct {
		l          line
		zone, name string
	}{
		{campaign, campaign.said["zone"], "campaign " + seat.at(0)},
		{buyer, buyer.said["zone"], "buyer " + seat.at(1)},
		{seat, campaign.said["zone"], "seat " + seat.at(0) + " " + seat.at(1)},
	} {
		for _, c := range limitsOf(of.l, of.zone) {
			all = append(all, capped{c, strings.Join([]string{of.name, c.unit, c.period, cmp.Or(c.zone, "UTC")}, " ")})
		}
	}
	return all
}

// charges are what a sale in the seat takes of caps; fits: all of them have the
// room, where own is what the lead itself holds already.
func (m *model) charges(seat line, price int64, own []charge, at int64) (all []charge, fits bool) {
	fits = true
	for _, c := range m.capsOver(seat) {
		one := charge{c.name + " " + windowOf(c.period, c.zone, at), 1}
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

// canPay tells whether the buyer has money for a lead at a price.
func (m *model) canPay(buyer string, price int64) bool {
	l := m.terms.buyers[buyer]
	return !l.has("funds") || m.funds[buyer]+l.money("credit") >= price
}

// payout is what the supplier gets of a price; false: it is under a fixed payout.
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

// listed tells whether a person is on one of the lists.
func (m *model) listed(l line, person string) bool {
	for _, id := range l.list("refuses") {
		if known, ok := m.terms.lists[id]; ok && slices.Contains(known.list("persons"), person) {
			return true
		}
	}
	return false
}

// cycle is whose turn it is among buyers that are eligible together. Where it
// begins is the exchange's to choose; what was seen of it leaves fewer and fewer
// places where it can be.
type cycle struct {
	order []string // the turns of one round
	next  []int    // places where the next turn may be
}

// newCycle spreads weights smoothly: each turn everyone gains its weight, and who
// has most pays the sum of all.
func newCycle(buyers []string, weights []int64) *cycle {
	c := &cycle{}
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

// may lists whose turn it may be.
func (c *cycle) may() (buyers []string) {
	for _, place := range c.next {
		if !slices.Contains(buyers, c.order[place]) {
			buyers = append(buyers, c.order[place])
		}
	}
	return buyers
}

// take is the buyer's turn taken.
func (c *cycle) take(buyer string) {
	var next []int
	for _, place := range c.next {
		if c.order[place] == buyer {
			next = append(next, (place+1)%len(c.order))
		}
	}
	c.next = next
}

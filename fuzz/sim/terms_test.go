package sim

import (
	"strings"
	"time"
)

// terms are the current market of a history: the last line of each name counts. References to
// missing objects are ignored, so that a reduced history stays valid.
type terms struct {
	suppliers map[string]line
	buyers    map[string]line
	campaigns map[string]line
	lists     map[string]line
	seats     map[[3]string]line // by campaign, buyer and the filter set's own id, which may be empty
}

func newTerms() *terms {
	return &terms{suppliers: map[string]line{}, buyers: map[string]line{}, campaigns: map[string]line{}, lists: map[string]line{}, seats: map[[3]string]line{}}
}

// applyLine applies a line of the market. It returns false for other lines.
func (t *terms) applyLine(l line) bool {
	switch l.verb {
	case "supplier":
		t.suppliers[l.at(0)] = l
	case "buyer":
		t.buyers[l.at(0)] = l
	case "campaign":
		t.campaigns[l.at(0)] = l
	case "list":
		t.lists[l.at(0)] = l
	case "seat":
		place := [3]string{l.at(0), l.at(1), l.at(2)}
		if l.has("gone") {
			delete(t.seats, place)
		} else {
			t.seats[place] = l
		}
	default:
		return false
	}
	return true
}

// rank returns the sort key of a filter set in its campaign: priority, then buyer, then its own id.
func rank(l line) (int64, string) { return l.number("priority", 0), l.at(1) + " " + l.at(2) }

// limit is a cap in words: count:day:5 or money:hour:20.5, with its zone after @.
type limit struct {
	unit, period string
	most         int64 // leads or millionths
	zone         string
}

func limitsOf(l line, zone string) (all []limit) {
	for _, text := range l.list("caps") {
		text, at, _ := strings.Cut(text, "@")
		words := strings.Split(text, ":")
		if len(words) != 3 {
			continue
		}
		c := limit{unit: words[0], period: words[1], zone: zone}
		if at != "" {
			c.zone = at
		}
		c.most = moneyOf(words[2])
		if c.unit == "count" {
			c.most /= 1_000_000
		}
		all = append(all, c)
	}
	return all
}

// zoneOf returns the named zone, or UTC.
func zoneOf(name string) *time.Location {
	if name == "" {
		return time.UTC
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return time.UTC
	}
	return zone
}

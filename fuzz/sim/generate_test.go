package sim

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
)

// generator generates a random history: a market and its events. It does not know the results.
type generator struct {
	*rand.Rand
	history   []line
	now       time.Time // approximate, because requests take time
	end       time.Time
	next      int // next label
	buyers    []string
	campaigns []string // campaigns
	bidding   []string // campaigns with auctions
	named     map[string]line
	leads     []string // labels
	keyed     []string
	sent      map[string]time.Time // approximate times
	asks      []line
}

// zones are time zones with every kind of clock change, and without.
var zones = []string{
	"UTC", "America/New_York", "America/Los_Angeles", "Europe/Berlin", "Australia/Sydney", "America/Santiago",
	"Asia/Kolkata", "Africa/Cairo", "America/Havana", "America/St_Johns", "Pacific/Chatham",
}

// boundaryDates are dates near a clock change or the end of a month or a year.
var boundaryDates = []string{
	"2026-03-08", "2026-03-29", "2026-10-25", "2026-11-01", "2026-04-05", "2026-10-04", "2026-12-31", "2028-02-28",
	"2026-04-24", "2026-10-29", "2026-09-06", "2027-06-30", "2026-03-08", "2024-12-29",
}

// generate returns the history of a seed with so many days.
func generate(seed uint64, days int) []line {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 12)), named: map[string]line{}, sent: map[string]time.Time{}}
	day, err := time.Parse(time.DateOnly, boundaryDates[g.IntN(len(boundaryDates))])
	if err != nil {
		panic(err)
	}
	g.now = day.Add(-time.Duration(g.IntN(60)) * time.Hour)
	g.end = g.now.Add(time.Duration(days) * 24 * time.Hour)
	g.market()
	g.history = append(g.history, step("begin", "", "at", g.now.Format(time.RFC3339Nano)))
	for g.now.Before(g.end) {
		g.add(g.nextStep())
	}
	return g.history
}

func (g *generator) add(l line) {
	if l.verb == "" {
		return
	}
	switch pause := g.IntN(100); {
	case l.has("at") || l.after > 0:
	case pause < 40:
		l.after = time.Duration(g.IntN(5_000_000_000))
	case pause < 85:
		l.after = time.Duration(g.IntN(40*60)) * time.Second
	case pause < 92:
		l.after = time.Duration(g.IntN(8*3600)) * time.Second
	default:
		l.said["at"] = g.boundary().Format(time.RFC3339Nano)
	}
	g.now = g.now.Add(l.after)
	if at, err := time.Parse(time.RFC3339Nano, l.said["at"]); err == nil {
		g.now = at
	}
	g.history = append(g.history, l)
}

// boundary returns a future instant at or next to the start or end of a window or of opening
// hours.
func (g *generator) boundary() time.Time {
	zone := zoneOf(zones[g.IntN(len(zones))])
	t := g.now.Add(15 * time.Second).In(zone)
	switch g.IntN(4) {
	case 0:
		t = time.Date(t.Year(), t.Month(), t.Day(), t.Hour()+1, 0, 0, 0, zone)
	case 1:
		t = time.Date(t.Year(), t.Month(), t.Day()+1, 0, 0, 0, 0, zone)
	case 2:
		t = time.Date(t.Year(), t.Month(), t.Day()+1, g.IntN(4), 0, 0, 0, zone)
	default:
		t = time.Date(t.Year(), t.Month(), t.Day()+1, []int{8, 12, 18}[g.IntN(3)], 0, 0, 0, zone)
	}
	t = t.Add([]time.Duration{-time.Millisecond, -1, 0, 0, 1, time.Second}[g.IntN(6)])
	if t.Before(g.now.Add(10 * time.Second)) {
		t = g.now.Add(10 * time.Second) // an hour that occurs twice
	}
	return t.UTC()
}

// pickWord returns a random word. An empty word leaves the value out.
func (g *generator) pickWord(words ...string) string { return words[g.IntN(len(words))] }

func (g *generator) dollars(from, to int) string {
	return strconv.Itoa(from+g.IntN(to-from)) + g.pickWord("", "", ".5", ".25", ".000001", ".333333")
}

func (g *generator) caps() string {
	var all []string
	seen := map[string]bool{}
	for range g.IntN(3) {
		unit, period, zone := g.pickWord("count", "count", "money"), g.pickWord("hour", "day", "day", "week", "month", "total"), g.pickWord(zones...)
		name := unit + period + zone
		if seen[name] {
			continue
		}
		seen[name] = true
		scale := map[string]int{"hour": 2, "day": 4, "week": 15, "month": 40, "total": 150}[period]
		most := strconv.Itoa(scale/2 + g.IntN(scale+1))
		if unit == "money" {
			most = g.dollars(scale*5, scale*15)
		}
		all = append(all, strings.Join([]string{unit, period, most}, ":")+"@"+zone)
	}
	return strings.Join(all, ",")
}

func (g *generator) hours() string {
	if g.IntN(3) > 0 {
		return ""
	}
	closed := g.now.AddDate(0, 0, g.IntN(12)).Format("2006-01-02")
	return g.hoursOfWeek() + g.pickWord("", "", ";closed_"+closed, ";closed_"+closed[len("2006-"):])
}

func (g *generator) hoursOfWeek() string {
	return g.pickWord(zones...) + ";" + g.pickWord("Mon-Fri_08:00-18:00", "Mon-Sun_00:00-12:00", "Fri-Mon_01:00-24:00", "Mon-Fri_08:00-12:00;Sat-Sun_02:00-03:00")
}

func (g *generator) modifiers() string {
	var all []string
	for range g.IntN(3) {
		all = append(all, strings.Join([]string{g.hoursOfWeek(), g.pickWord("1", "1.25", "0.333333", "0.5"), g.pickWord("1", "0.5", "1.5", "0")}, "|"))
	}
	return strings.Join(all, "+")
}

// term applies a line of the market, and remembers it for later changes.
func (g *generator) term(l line) line {
	for name, value := range l.said {
		if value == "" {
			delete(l.said, name)
		}
	}
	kept := step(l.verb, strings.Join(l.about, " "))
	maps.Copy(kept.said, l.said)
	g.named[l.verb+" "+strings.Join(l.about[:min(len(l.about), 2)], " ")+" "+setOf(l)] = kept
	return l
}

func (g *generator) market() {
	g.history = append(g.history, step("supplier", "acme", "hooks", "yes"), step("supplier", "best"), step("list", "dnc", "persons", "7,13"))
	for _, name := range []string{"blue", "gold", "pink", "teal", "gray"}[:2+g.IntN(4)] {
		g.buyers = append(g.buyers, name)
		g.history = append(g.history, g.term(g.buyer(name)))
	}
	for i, method := range []string{"waterfall", "round_robin", "weighted", "ping_post"} {
		if g.IntN(4) == 0 && len(g.campaigns) > 0 {
			continue
		}
		name := []string{"auto", "home", "life", "pets"}[i]
		g.campaigns = append(g.campaigns, name)
		if method == "ping_post" {
			g.bidding = append(g.bidding, name)
		}
		g.history = append(g.history, g.term(g.campaign(name, method)))
		for priority, buyer := range g.buyers {
			if g.IntN(5) > 0 {
				g.history = append(g.history, g.term(g.seat(name, buyer, priority)))
			}
			if g.IntN(4) == 0 {
				g.history = append(g.history, g.term(g.seat(name, buyer+" more", g.IntN(len(g.buyers)))))
			}
		}
	}
}

// setOf returns the own id of a filter set.
func setOf(l line) string {
	if l.verb == "seat" {
		return l.at(2)
	}
	return ""
}

func (g *generator) buyer(name string) line {
	l := step("buyer", name, "posts", g.pickWord("", "yes", "yes"), "certain", g.pickWord("", "", "yes"), "once", g.pickWord("", "", "", "yes"), "pings", "yes", "caps", g.caps(), "hours", g.hours(), "zone", g.pickWord(zones...), "refuses", g.pickWord("", "", "dnc"))
	if g.IntN(2) == 0 {
		l.said["funds"], l.said["credit"] = g.dollars(50, 400), g.pickWord("0", "15.5")
	}
	return l
}

func (g *generator) campaign(name, method string) line {
	l := step("campaign", name+" "+method, "zone", g.pickWord(zones...), "floor", g.pickWord("", "4", "8"), "caps", g.pickWord("", g.caps()), "hours", g.pickWord("", "", "", g.hours()),
		"duplicates", g.pickWord("", "1h", "24h", "720h"), "match", g.pickWord("", "phone", "email", "all"), "scope", g.pickWord("", "", "buyer"),
		"refuses", g.pickWord("", "", "dnc"), "vehicles", g.pickWord("", "", "", "1"), "returns", g.pickWord("", "48h", "336h"), "manual", g.pickWord("", "", "yes"),
		"capback", g.pickWord("", "yes"), "reverse", g.pickWord("", "yes"), "returnshare", g.pickWord("", "", "0.5"))
	if g.IntN(3) == 0 {
		l.said["fixed"] = g.pickWord("3.5", "8")
	} else {
		l.said["share"] = g.pickWord("0.8", "0.333333", "1", "0.999999")
	}
	return l
}

func (g *generator) seat(campaign, buyer string, priority int) line {
	return step("seat", campaign+" "+buyer, "price", g.dollars(5, 15), "weight", fmt.Sprint(1+g.IntN(4)), "priority", fmt.Sprint(priority),
		"states", g.pickWord("", "", "CA,NY", "CA"), "caps", g.pickWord("", g.caps()), "vehicles", g.pickWord("", "", "", "2"), "hours", g.pickWord("", "", g.hours()), "modifiers", g.pickWord("", g.modifiers()))
}

package scenario

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"pingpost/engine/market"
	"pingpost/loadtest/refbuyer"
)

// checker collects mistakes with their lines.
type checker struct {
	name     string
	text     []byte
	problems []error
}

// addProblem adds a mistake at a path such as $.phases[1].rate. If the path is missing in the
// document, it uses the line of the nearest parent.
func (c *checker) addProblem(place, format string, args ...any) {
	says := fmt.Sprintf(format, args...)
	if line := c.line(place); line > 0 {
		c.problems = append(c.problems, fmt.Errorf("%s:%d: %s", c.name, line, says))
		return
	}
	c.problems = append(c.problems, fmt.Errorf("%s: %s", c.name, says))
}

func (c *checker) line(place string) int {
	for place != "$" && place != "" {
		path, err := yaml.PathString(place)
		if err == nil {
			node, err := path.ReadNode(strings.NewReader(string(c.text)))
			if err == nil && node.GetToken() != nil {
				return node.GetToken().Position.Line
			}
		}
		place = place[:max(0, strings.LastIndexAny(place, ".["))]
	}
	return 0
}

// These limit a scenario.
const (
	longestPhase  = 24 * time.Hour
	highestRate   = 1e6
	mostInFlight  = 20_000
	mostCampaigns = 100_000
	mostBuyers    = 20_000
	mostPosted    = 500 // buyers with an endpoint
)

func (c *checker) scenario(s *Scenario) {
	if s.Name == "" || strings.ContainsAny(s.Name, " /\n") {
		c.addProblem("$.name", "name: give the scenario a name without spaces and slashes")
	}
	if s.InFlight < 1 || s.InFlight > mostInFlight {
		c.addProblem("$.in_flight", "in_flight %d: give a number from 1 to %d", s.InFlight, mostInFlight)
	}
	if r := s.Supplier; r.IngestRate < 1 || r.IngestRate > maxRate || r.PingRate < 1 || r.PingRate > maxRate {
		c.addProblem("$.supplier", "supplier: give rates from 1 to %d a second", maxRate)
	}
	c.kinds(s)
	c.phases(s)
	c.buyers(s)
	c.campaigns(s)
	c.webhooks(s.Webhooks)
	c.limits(s)
}

func (c *checker) kinds(s *Scenario) {
	total := 0
	for kind, weight := range s.Kinds {
		if !slices.Contains(Kinds, kind) {
			c.addProblem("$.kinds", "kinds: unknown kind %q; give ingest, ping or pingpost", kind)
		}
		if weight < 0 || weight > 1000 {
			c.addProblem("$.kinds", "kinds: the weight of %s is %d; give a number from 0 to 1000", kind, weight)
		}
		total += weight
	}
	if total == 0 {
		c.addProblem("$.kinds", "kinds: give at least one kind, such as {ingest: 1}")
	}
	if s.Kinds[Ping]+s.Kinds[PingPost] > 0 && !s.holdsAuctions() {
		c.addProblem("$.campaigns", "campaigns: pings need a campaign of method ping_post")
	}
}

func (s *Scenario) holdsAuctions() bool {
	return slices.ContainsFunc(s.Campaigns, func(g Campaigns) bool { return g.Method == PingPostMethod })
}

func (c *checker) phases(s *Scenario) {
	measured := 0
	for i, p := range s.Phases {
		at := fmt.Sprintf("$.phases[%d]", i)
		if p.Name == "" || slices.ContainsFunc(s.Phases[:i], func(q Phase) bool { return q.Name == p.Name }) {
			c.addProblem(at+".name", "phases: give each phase a unique name")
		}
		if p.For <= 0 || p.For > longestPhase {
			c.addProblem(at+".for", "for %v: give a time above 0, up to %v", p.For, longestPhase)
		}
		if !(p.Rate > 0 && p.Rate <= highestRate) {
			c.addProblem(at+".rate", "rate %v: give arrivals a second, above 0, up to %.0f", p.Rate, highestRate)
		}
		if p.Arrival != Fixed && p.Arrival != Poisson {
			c.addProblem(at+".arrival", "arrival %q: give fixed or poisson", p.Arrival)
		}
		if !p.Warmup {
			measured++
		}
	}
	if measured == 0 || measured > 200 {
		c.addProblem("$.phases", "phases: give 1 to 200 phases that are not a warm-up")
	}
}

func (c *checker) buyers(s *Scenario) {
	posted := 0
	for i := range s.Buyers {
		b, at := &s.Buyers[i], fmt.Sprintf("$.buyers[%d]", i)
		if b.Count < 1 || b.Count > mostBuyers {
			c.addProblem(at+".count", "count %d: give a number from 1 to %d", b.Count, mostBuyers)
		}
		if !b.Recorded {
			posted += b.Count
		}
		if _, err := refbuyer.ParsePricing(b.Bid); err != nil {
			c.addProblem(at+".bid", "%v", err)
		}
		c.latency(at+".latency", b.Latency)
		c.latency(at+".post_latency", b.PostLatency)
		c.share(at+".no_bid", "no_bid", b.NoBid)
		c.share(at+".reject", "reject", b.Reject)
		c.share(at+".fail", "fail", b.Fail)
		if b.PingRate < 1 || b.PingRate > maxRate {
			c.addProblem(at+".ping_rate", "ping_rate %d: give a number from 1 to %d", b.PingRate, maxRate)
		}
	}
	if posted == 0 && s.holdsAuctions() {
		c.addProblem("$.buyers", "buyers: a campaign of method ping_post needs a buyer without recorded")
	}
	if posted > mostPosted {
		c.addProblem("$.buyers", "buyers: %d with an endpoint; %d at most", posted, mostPosted)
	}
}

func (c *checker) latency(at, text string) {
	if text == "" {
		return
	}
	if _, err := refbuyer.ParseLatency(text); err != nil {
		c.addProblem(at, "%v", err)
	}
}

func (c *checker) share(at, name string, share float64) {
	if !(share >= 0 && share <= 1) {
		c.addProblem(at, "%s %v: give a share from 0 to 1", name, share)
	}
}

func (c *checker) campaigns(s *Scenario) {
	count := 0
	for i, g := range s.Campaigns {
		at := fmt.Sprintf("$.campaigns[%d]", i)
		if count += g.Count; g.Count < 1 || count > mostCampaigns {
			c.addProblem(at+".count", "count %d: give a number above 0, up to %d in all", g.Count, mostCampaigns)
		}
		switch g.Method {
		case PingPostMethod, "waterfall", "round_robin", "weighted":
		default:
			c.addProblem(at+".method", "method %q: give ping_post, waterfall, round_robin or weighted", g.Method)
		}
		if g.Seats < 0 {
			c.addProblem(at+".seats", "seats %d: give a number of buyers", g.Seats)
		}
		if g.Method == PingPostMethod {
			continue
		}
		for j := range s.Buyers {
			if _, err := market.ParseMoney([]byte(s.Buyers[j].Bid)); err != nil {
				c.addProblem(fmt.Sprintf("$.buyers[%d].bid", j), "bid %s: with a campaign of method %s, give one amount, which is the price", s.Buyers[j].Bid, g.Method)
			}
		}
	}
}

func (c *checker) webhooks(w *Webhooks) {
	if w == nil {
		return
	}
	c.latency("$.webhooks.latency", w.Latency)
	if w.InFlight < 1 || w.InFlight > mostHooks {
		c.addProblem("$.webhooks.in_flight", "in_flight %d: give a number from 1 to %d", w.InFlight, mostHooks)
	}
	if w.Within <= 0 {
		c.addProblem("$.webhooks.within", "within %v: give a time above 0", w.Within)
	}
}

package witness

import (
	"cmp"
	"fmt"
	"strings"
)

// Tally counts final answers by kind of request and by answer.
type Tally map[string]map[string]int

func (t Tally) add(kind, answer string, n int) {
	if n == 0 {
		return
	}
	if t[kind] == nil {
		t[kind] = map[string]int{}
	}
	t[kind][answer] += n
}

// CountOf returns the number of requests of a kind.
func (t Tally) CountOf(kind string) (n int) {
	for _, count := range t[kind] {
		n += count
	}
	return n
}

// tallyKind returns the kind of a request in a tally.
func (o *clientRequest) tallyKind() string {
	kind := map[string]string{"": "ingest", pathPing: "ping", pathPost: "post", pathAvailability: "availability", pathBatch: "batch of reports"}[o.path]
	if o.chosenBuyer != "" {
		kind = "ingest for a chosen buyer"
	}
	if kind = cmp.Or(kind, "report"); o.isTest {
		kind += " of a test"
	}
	return kind
}

// addAdminReads counts the admin reads and lookups of the evidence.
func (t Tally) addAdminReads(p *Evidence) {
	for _, l := range p.lookups {
		t.add("lead lookup", fmt.Sprint(l.Status), 1)
	}
	t.add("explanation", "read", len(p.explanations))
	t.add("statement", "read", len(p.statements))
}

// Tally counts the answers in the evidence.
func (p *Evidence) Tally() Tally {
	t := Tally{}
	for _, a := range p.answers {
		t.add(a.tallyKind(), cmp.Or(a.parsed.Data.Reason, a.parsed.Data.Status), 1)
	}
	for _, a := range p.rejectedPosts {
		t.add(a.tallyKind(), cmp.Or(a.parsed.Data.Reason, "post_rejected"), 1)
	}
	for _, a := range append(p.pings[:len(p.pings):len(p.pings)], p.availabilities...) {
		switch {
		case a.bid != 0 || len(a.offers) > 0:
			t.add(a.tallyKind(), "bid", 1)
		default:
			t.add(a.tallyKind(), cmp.Or(a.parsed.Data.Reason, "no_bid"), 1)
		}
	}
	for _, a := range p.statusReports {
		for _, r := range a.statusReports {
			t.add(a.tallyKind(), cmp.Or(r.Error, r.Status), 1)
		}
	}
	for _, action := range p.acknowledged {
		kind, _, _ := strings.Cut(action.kind, ",")
		t.add("operator action", kind, 1)
	}
	t.add("post", "bid_expired", len(p.expiredPosts))
	for kind, answers := range p.readTally {
		t[kind] = answers
	}
	for what, n := range map[string]int64{"delivered": p.webhookStats.Acknowledged, "failed": p.webhookStats.Failed, "broken off": p.webhookStats.Malformed} {
		t.add("webhook", what, int(n))
	}
	return t
}

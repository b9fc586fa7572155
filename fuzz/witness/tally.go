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

// Of returns the number of requests of a kind.
func (t Tally) Of(kind string) (n int) {
	for _, count := range t[kind] {
		n += count
	}
	return n
}

// tallyKind returns the kind of a request in a tally.
func (o *clientRequest) tallyKind() string {
	switch {
	case o.path == pathPing:
		return "ping" + o.testSuffix()
	case o.path == pathPost:
		return "post" + o.testSuffix()
	case o.path == pathAvailability:
		return "availability" + o.testSuffix()
	case o.path == pathBatch:
		return "batch of reports"
	case o.isStatusReport():
		return "report"
	case o.chosenBuyer != "":
		return "ingest for a chosen buyer" + o.testSuffix()
	}
	return "ingest" + o.testSuffix()
}

func (o *clientRequest) testSuffix() string {
	if o.isTest {
		return " of a test"
	}
	return ""
}

// read counts the admin reads and lookups of the evidence.
func (t Tally) read(p *Evidence) {
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
	for _, r := range p.decisions {
		if word, ok := strings.CutPrefix(r.outcome, "return "); ok {
			t.add("return decision", word, 1)
			continue
		}
		t.add("delivery decision", r.outcome, 1)
	}
	t.add("post", "bid_expired", len(p.expiredPosts))
	for kind, answers := range p.readTally {
		t[kind] = answers
	}
	t.add("top-up", "accepted", len(p.topUps))
	t.add("erasure", "lead erased", len(p.erased))
	for what, n := range map[string]int64{"delivered": p.webhookStats.Acknowledged, "failed": p.webhookStats.Failed, "broken off": p.webhookStats.Malformed} {
		t.add("webhook", what, int(n))
	}
	return t
}

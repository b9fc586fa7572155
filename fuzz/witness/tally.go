package witness

import (
	"cmp"
	"fmt"
	"strings"
)

// Tally counts requests that were answered for good: by their kind, and by the
// answer.
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

// Of is how many of a kind there were.
func (t Tally) Of(kind string) (n int) {
	for _, count := range t[kind] {
		n += count
	}
	return n
}

// kind is what a request is in a tally.
func (o *order) kind() string {
	switch {
	case o.path == pathPing:
		return "ping" + o.ofTest()
	case o.path == pathPost:
		return "post" + o.ofTest()
	case o.path == pathAsk:
		return "availability" + o.ofTest()
	case o.path == pathBatch:
		return "batch of reports"
	case o.isReport():
		return "report"
	case o.chosen != "":
		return "ingest for a chosen buyer" + o.ofTest()
	}
	return "ingest" + o.ofTest()
}

func (o *order) ofTest() string {
	if o.test {
		return " of a test"
	}
	return ""
}

// read counts what was read for a picture.
func (t Tally) read(p *Picture) {
	for _, l := range p.looks {
		t.add("look at a lead", fmt.Sprint(l.Status), 1)
	}
	t.add("explanation", "read", len(p.explained))
	t.add("statement", "read", len(p.statements))
}

// Tally counts what the picture's witnesses were told.
func (p *Picture) Tally() Tally {
	t := Tally{}
	for _, a := range p.answers {
		t.add(a.kind(), cmp.Or(a.said.Data.Reason, a.said.Data.Status), 1)
	}
	for _, a := range p.refused {
		t.add(a.kind(), cmp.Or(a.said.Data.Reason, "post_rejected"), 1)
	}
	for _, a := range append(p.pings[:len(p.pings):len(p.pings)], p.asks...) {
		switch {
		case a.bid != 0 || len(a.offers) > 0:
			t.add(a.kind(), "bid", 1)
		default:
			t.add(a.kind(), cmp.Or(a.said.Data.Reason, "no_bid"), 1)
		}
	}
	for _, a := range p.reports {
		for _, r := range a.reports {
			t.add(a.kind(), cmp.Or(r.Error, r.Status), 1)
		}
	}
	for _, r := range p.ruled {
		if word, ok := strings.CutPrefix(r.settlement, "return "); ok {
			t.add("operator's word on a return", word, 1)
			continue
		}
		t.add("operator's word on a delivery", r.settlement, 1)
	}
	t.add("post", "bid_expired", len(p.late))
	for kind, answers := range p.readings {
		t[kind] = answers
	}
	t.add("top-up", "taken", len(p.added))
	t.add("erasure", "lead forgotten", len(p.forgotten))
	for what, n := range map[string]int64{"delivered": p.hooks.Acknowledged, "failed": p.hooks.Failed, "broken off": p.hooks.Malformed} {
		t.add("webhook", what, int(n))
	}
	return t
}

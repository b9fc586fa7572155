package sim

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pingpost/engine/market"
)

// play is one run of a history: the exchange and the model, side by side.
type play struct {
	x     *exchange
	m     *model
	sent  map[string]line // requests by label, to be sent again
	first time.Time
	acted int
}

// run plays a history in a bubble of its own. What it says is where the exchange
// and the model differ first; empty: nowhere.
func run(t *testing.T, history []line) (failure string, span time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := &play{x: newExchange(t), sent: map[string]line{}}
		defer func() {
			if p.x.engine != nil {
				p.x.die()
			}
			if p.m != nil {
				span = time.Since(p.first)
			}
		}()
		for i, l := range history {
			if err := p.step(l); err != "" {
				failure = fmt.Sprintf("step %d of %d, at %s: %s\n%s", i+1, len(history), time.Now().UTC().Format(time.RFC3339Nano), l, err)
				return
			}
		}
		if err := p.rest(); err != "" {
			failure = "at the end: " + err
		}
	})
	return failure, span
}

// rest lets a history come to its end: what is owed is told, and all is looked at.
func (p *play) rest() string {
	if p.m == nil {
		return ""
	}
	time.Sleep(time.Hour)
	synctest.Wait()
	p.m.until(time.Now().UnixNano())
	if err := p.look(); err != "" {
		return err
	}
	return p.audit()
}

// begin puts the market in force that the lines before have told.
func (p *play) begin() string {
	p.first = time.Now()
	p.m = newModel(p.first.UnixNano())
	for _, set := range []func(line) bool{p.m.terms.take} {
		for _, lines := range []map[string]line{p.x.terms.suppliers, p.x.terms.buyers, p.x.terms.campaigns, p.x.terms.lists} {
			for _, l := range lines {
				set(l)
			}
		}
		for _, l := range p.x.terms.seats {
			set(l)
		}
	}
	if err := p.x.rise(false); err != nil {
		return err.Error()
	}
	p.m.awake = p.m.now
	p.m.open()
	return ""
}

// step plays one line.
func (p *play) step(l line) string {
	at, err := time.Parse(time.RFC3339Nano, l.said["at"])
	if err != nil {
		at = time.Now().Add(l.after)
	}
	l.said = without(l.said, "at")
	time.Sleep(time.Until(at))
	if p.m == nil && !p.x.terms.take(l) {
		if l.verb == "begin" {
			return p.begin()
		}
		return "a history says who is there before it begins"
	}
	if p.m == nil {
		return ""
	}
	synctest.Wait()
	p.m.until(time.Now().UnixNano())
	if err := p.hear(); err != "" {
		return err
	}
	p.acted++
	if err := p.do(l); err != "" {
		return err
	}
	synctest.Wait()
	p.m.until(time.Now().UnixNano())
	switch {
	case p.acted%250 == 0:
		if err := p.audit(); err != "" {
			return err
		}
	case l.verb == "erase":
		if err := p.auditPersons(); err != "" {
			return err
		}
	}
	return p.look()
}

// do is what a line means.
func (p *play) do(l line) string {
	p.x.world.mu.Lock()
	conducted := p.x.world.conduct.take(l, time.Now().UnixNano())
	p.x.world.mu.Unlock()
	switch {
	case conducted:
		p.m.conduct.take(l, p.m.now)
		return ""
	case p.x.terms.take(l):
		p.m.terms.take(l)
		p.m.open()
		return failed(p.x.configure())
	}
	switch l.verb {
	case "snapshot":
		return failed(p.x.snapshot())
	case "crash":
		p.x.die()
		return p.again(l)
	case "restart":
		p.m.closing = true
		p.x.stop()
		p.m.until(time.Now().UnixNano())
		p.m.closing = false
		return p.again(l)
	case "resend":
		first, ok := p.sent[l.at(0)]
		if !ok || first.said["key"] == "" {
			return ""
		}
		return p.request(l.at(1), first, l)
	}
	if l.verb == "lead" || l.verb == "sale" {
		p.sent[l.at(0)] = l
	}
	return p.request(l.at(0), l, l)
}

func failed(err error) string {
	if err != nil {
		return err.Error()
	}
	return ""
}

// again starts the next process, some time after the last one ended.
func (p *play) again(l line) string {
	p.m.crash()
	if err := p.audit(); err != "" {
		return err
	}
	time.Sleep(l.duration("for", 0))
	p.m.now = time.Now().UnixNano()
	if l.said["keys"] == "older" {
		p.x.keys.RestoreKeys()
	}
	if err := p.x.rise(l.has("plain")); err != nil {
		return err.Error()
	}
	p.m.awake = p.m.now
	p.m.start()
	return ""
}

// request plays one request on both sides and compares the answers. Where the
// process is to die in the middle of it, it does so in both, at the same fact.
func (p *play) request(label string, l, how line) string {
	if !p.possible(l) {
		return ""
	}
	start := time.Now()
	p.x.world.mu.Lock()
	p.x.world.pings = nil
	p.x.world.mu.Unlock()
	dies := how.has("dies")
	if dies {
		p.x.hush()
		p.x.log.arm(int(how.number("dies", 0)), how.has("unheard"))
	}
	l = line{verb: l.verb, about: l.about, said: without(l.said, "dies", "unheard", "at")}
	done := make(chan string, 1)
	go func() {
		defer close(done) // an answer may be out when the process dies, at the same instant
		done <- p.x.act(label, l)
	}()
	var answer string
	var dead bool
	select {
	case answer = <-done:
		synctest.Wait()
		dead = closed(p.x.dead)
	case <-p.x.dead:
		dead = true
	}
	if err := p.x.scan(); err != nil {
		return err.Error()
	}
	p.saw(label)
	expected, died := p.foresee(label, l, how)
	now := time.Now()
	if died != dead {
		return fmt.Sprintf("by the model the process died: %v; it did: %v (answer %q, expected %q)", died, dead, answer, expected)
	}
	if dead {
		p.x.die()
		<-done
		p.m.now = max(p.m.now, now.UnixNano())
		return p.again(line{})
	}
	if dies {
		p.x.log.arm(-1, false)
		p.m.sure = false
		p.x.speak()
		p.m.awake = now.UnixNano()
	}
	return p.compare(l, label, answer, expected, start)
}

func without(said map[string]string, names ...string) map[string]string {
	rest := map[string]string{}
	for name, value := range said {
		if !slices.Contains(names, name) {
			rest[name] = value
		}
	}
	return rest
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// possible tells whether a line makes sense as things stand: what it is about is
// there, and was told to who asks. A history from which lines were dropped may
// have others.
func (p *play) possible(l line) bool {
	_, supplier := p.m.terms.suppliers[l.at(1)]
	_, buyer := p.m.terms.buyers[l.at(0)]
	of := p.m.leads[l.at(1)]
	switch l.verb {
	case "lead", "sale":
		verb := map[string]string{"lead": "ask ", "sale": "ping "}[l.verb]
		told, known := p.x.pings[verb+l.at(1)+" "+l.said["ping"]]
		return supplier && (!l.has("ping") || known && (l.verb == "lead" || told.Bid))
	case "ping", "ask":
		_, campaign := p.m.terms.campaigns[l.at(2)]
		return supplier && campaign
	case "report": // of one that is gone, or was never theirs, the contract says less
		return buyer && of != nil && p.m.now-of.received < memoryOf && (of.status != "UNMATCHED" || of.buyer == "")
	case "decide", "resolve":
		lead := p.m.leads[l.at(0)]
		return lead != nil && p.m.now-lead.received < memoryOf
	case "pause", "resume":
		_, campaign := p.m.terms.campaigns[l.at(1)]
		_, bought := p.m.terms.buyers[l.at(1)]
		return l.at(0) == "campaign" && campaign || l.at(0) == "buyer" && bought
	case "tellagain":
		_, known := p.m.terms.suppliers[l.at(0)]
		return known
	case "topup":
		return buyer && p.m.terms.buyers[l.at(0)].has("funds")
	}
	return true
}

// saw hands the model what was seen of the request.
func (p *play) saw(label string) {
	s := seen{asked: map[string]bool{}, takers: p.x.takers[label]}
	p.x.world.mu.Lock()
	for _, ping := range p.x.world.pings {
		s.asked[ping.buyer] = true
	}
	p.x.world.mu.Unlock()
	p.m.seen = s
}

// foresee is the model's answer.
func (p *play) foresee(label string, l, how line) (answer string, dead bool) {
	p.m.sure, p.m.left, p.m.unheard = how.has("dies"), int(how.number("dies", 0)), how.has("unheard")
	defer func() {
		if cause := recover(); cause != nil {
			if _, ok := cause.(died); !ok {
				panic(cause)
			}
			answer, dead = "", true
		}
	}()
	answer = p.m.act(label, l)
	p.m.until(time.Now().UnixNano())
	return answer, false
}

// act is what a request comes to.
func (m *model) act(label string, l line) string {
	switch l.verb {
	case "lead":
		return m.ingest(label, l)
	case "ping", "ask":
		return m.ping(l)
	case "sale":
		return m.sale(label, l)
	case "report":
		return m.report(l, m.leads[l.at(1)])
	case "decide":
		return m.decide(m.leads[l.at(0)], l.at(1))
	case "resolve":
		return m.resolve(m.leads[l.at(0)], l.at(1))
	case "erase":
		return m.erase(l)
	case "pause", "resume":
		return m.pause(l.at(0)+" "+l.at(1), l.verb == "pause")
	case "topup":
		return m.topUp(l.at(0), l.money("by"))
	case "tellagain":
		return m.tellAgain(l.at(0))
	}
	if answer, ok := m.staffed(l); ok {
		return answer
	}
	panic("a step that nobody knows: " + l.String())
}

// compare holds the two answers against each other.
func (p *play) compare(l line, label, answer, expected string, start time.Time) string {
	took := time.Since(start)
	switch {
	case answer != expected:
		return fmt.Sprintf("the exchange says %q, the model %q", answer, expected)
	case p.m.now > time.Now().UnixNano():
		return fmt.Sprintf("the answer %q is out after %s; it cannot be known before %s later", answer, took, time.Duration(p.m.now-time.Now().UnixNano()))
	case took > 5*time.Second && l.verb != "erase":
		return fmt.Sprintf("the answer %q took %s", answer, took)
	}
	if _, replayed := p.m.leads[label]; l.verb == "lead" && replayed && p.x.ids[label] == (market.LeadID{}) {
		return "the lead is in no fact"
	}
	return ""
}

package sim

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pingpost/engine/market"
)

// play is one run of a history with the exchange and the model.
type play struct {
	x     *exchange
	m     *model
	sent  map[string]line // requests by label, for repetitions
	first time.Time
	acted int
}

// run plays a history in its own bubble. It returns the first difference between exchange and
// model, or "".
func run(t *testing.T, history []line) (failure string, span time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := &play{x: newExchange(t), sent: map[string]line{}}
		defer func() {
			if p.x.engine != nil {
				p.x.killProcess()
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
		if err := p.finish(); err != "" {
			failure = "at the end: " + err
		}
	})
	return failure, span
}

// finish finishes a history: it delivers all webhooks and compares everything.
func (p *play) finish() string {
	if p.m == nil {
		return ""
	}
	time.Sleep(time.Hour)
	synctest.Wait()
	p.m.until(time.Now().UnixNano())
	if err := p.compareVisible(); err != "" {
		return err
	}
	return p.audit()
}

// applyMarket applies the market of the previous lines.
func (p *play) applyMarket() string {
	p.first = time.Now()
	p.m = newModel(p.first.UnixNano())
	for _, set := range []func(line) bool{p.m.terms.applyLine} {
		for _, lines := range []map[string]line{p.x.terms.suppliers, p.x.terms.buyers, p.x.terms.campaigns, p.x.terms.lists} {
			for _, l := range lines {
				set(l)
			}
		}
		for _, l := range p.x.terms.seats {
			set(l)
		}
	}
	if err := p.x.startProcess(false); err != nil {
		return err.Error()
	}
	p.m.webhooksSince = p.m.now
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
	if p.m == nil && !p.x.terms.applyLine(l) {
		if l.verb == "begin" {
			return p.applyMarket()
		}
		return "a history says who is there before it begins"
	}
	if p.m == nil {
		return ""
	}
	synctest.Wait()
	p.m.until(time.Now().UnixNano())
	if err := p.compareWebhooks(); err != "" {
		return err
	}
	p.acted++
	if err := p.perform(l); err != "" {
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
	return p.compareVisible()
}

// perform performs a line.
func (p *play) perform(l line) string {
	p.x.world.mu.Lock()
	conducted := p.x.world.conduct.applyLine(l, time.Now().UnixNano())
	p.x.world.mu.Unlock()
	switch {
	case conducted:
		p.m.conduct.applyLine(l, p.m.now)
		return ""
	case p.x.terms.applyLine(l):
		p.m.terms.applyLine(l)
		p.m.open()
		return failed(p.x.configure())
	}
	switch l.verb {
	case "snapshot":
		return failed(p.x.snapshot())
	case "crash":
		p.x.killProcess()
		return p.restart(l)
	case "restart":
		p.m.closing = true
		p.x.stop()
		p.m.until(time.Now().UnixNano())
		p.m.closing = false
		return p.restart(l)
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

// restart starts the next process, some time after the end of the last one.
func (p *play) restart(l line) string {
	p.m.crash()
	if err := p.audit(); err != "" {
		return err
	}
	time.Sleep(l.duration("for", 0))
	p.m.now = time.Now().UnixNano()
	if l.said["keys"] == "older" {
		p.x.keys.RestoreErasedKeys()
	}
	if err := p.x.startProcess(l.has("plain")); err != nil {
		return err.Error()
	}
	p.m.webhooksSince = p.m.now
	p.m.start()
	return ""
}

// request sends one request to both sides and compares the answers. If the process is to die
// during it, both die at the same event.
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
		p.x.stopWebhooks()
		p.x.log.arm(int(how.number("dies", 0)), how.has("unheard"))
	}
	l = line{verb: l.verb, about: l.about, said: without(l.said, "dies", "unheard", "at")}
	done := make(chan string, 1)
	go func() {
		defer close(done) // an answer may be sent at the instant of the process's death
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
	p.passObservations(label)
	expected, died := p.modelAnswer(label, l, how)
	now := time.Now()
	if died != dead {
		return fmt.Sprintf("by the model the process died: %v; it did: %v (answer %q, expected %q)", died, dead, answer, expected)
	}
	if dead {
		p.x.killProcess()
		<-done
		p.m.now = max(p.m.now, now.UnixNano())
		return p.restart(line{})
	}
	if dies {
		p.x.log.arm(-1, false)
		p.m.crashPending = false
		p.x.startWebhooks()
		p.m.webhooksSince = now.UnixNano()
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

// possible reports whether a line makes sense now: its objects exist, and the caller may know
// them. A reduced history may contain impossible lines.
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
	case "report": // the contract says less about leads that are gone or foreign
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

// passObservations passes the observations of the request to the model.
func (p *play) passObservations(label string) {
	s := observations{asked: map[string]bool{}, buyers: p.x.buyersOfLead[label]}
	p.x.world.mu.Lock()
	for _, ping := range p.x.world.pings {
		s.asked[ping.buyer] = true
	}
	p.x.world.mu.Unlock()
	p.m.seen = s
}

// modelAnswer returns the model's answer.
func (p *play) modelAnswer(label string, l, how line) (answer string, dead bool) {
	p.m.crashPending, p.m.left, p.m.crashUnreported = how.has("dies"), int(how.number("dies", 0)), how.has("unheard")
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

// act performs a request in the model.
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
		return m.resendDeadLetters(l.at(0))
	}
	panic("BUG: unknown step: " + l.String())
}

// compare compares the two answers.
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

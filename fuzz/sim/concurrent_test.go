package sim

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pingpost/internal/must"
)

// concurrentMarket has some of everything: small caps, little money, turns. All leads are recorded
// without delivery, so each request takes no simulated time.
const concurrentMarket = `
supplier acme
supplier best
buyer blue funds=35 caps=count:day:4@America/New_York
buyer gold caps=money:hour:30@UTC
buyer pink
campaign auto waterfall share=0.8 duplicates=24h capback=yes caps=count:day:9
campaign home round_robin share=0.333333
seat auto blue price=10 priority=0
seat auto gold price=9 priority=1
seat home blue price=7 priority=0
seat home gold price=8 priority=1 states=CA
seat home pink price=8 priority=2
begin at=2026-03-07T23:00:00Z
`

// TestConcurrentRequests sends several requests at once while the log is slow, so that each meets the
// reservations of the others. It searches for an order in which the model gives the same
// answers. SIM_CROWDS is the number of seeds.
func TestConcurrentRequests(t *testing.T) {
	rounds := 30
	if testing.Short() {
		rounds = 25
	}
	for seed := range uint64(number(t, "SIM_CROWDS", 4)) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sendConcurrently(t, rand.New(rand.NewPCG(seed, 5)), rounds)
			})
		})
	}
}

// sendConcurrently plays rounds of concurrent requests against one exchange.
func sendConcurrently(t *testing.T, r *rand.Rand, rounds int) {
	t.Helper()
	p := &play{x: newExchange(t), sent: map[string]line{}}
	defer func() { p.x.killProcess() }()
	history := must.Value(parseHistory(concurrentMarket))(t)
	for _, l := range history {
		if fault := p.step(l); fault != "" {
			t.Fatal(fault)
		}
	}
	p.x.log.mu.Lock()
	p.x.log.slow = 20 * time.Millisecond
	p.x.log.mu.Unlock()
	p.m.followSeenTurns = true
	labels, explanations := 0, []*model{p.m}
	for range rounds {
		var lines []line
		for range 2 + r.IntN(4) {
			labels++
			if l := drawConcurrentLine(r, labels); l.verb != "erase" || !slices.ContainsFunc(lines, func(o line) bool { return o.verb == "erase" }) {
				lines = append(lines, l) // two erasures wait for each other by a lock, which stops a bubble's clock
			}
		}
		var fault string
		if explanations, fault = p.sendTogether(explanations, lines); len(explanations) == 0 {
			t.Fatalf("at %s: %s\n%s", time.Now().UTC(), fault, printHistory(lines))
		}
		time.Sleep(time.Duration(r.IntN(40)) * time.Minute)
	}
	fault := ""
	for _, p.m = range explanations {
		if fault = p.audit(); fault == "" {
			return
		}
	}
	t.Fatal(fault)
}

func drawConcurrentLine(r *rand.Rand, label int) line {
	old := "#" + strconv.Itoa(max(1, label-1-r.IntN(12)))
	switch r.IntN(9) {
	case 0:
		return step("topup", "blue", "by", "10")
	case 1:
		return step("report", []string{"blue", "gold"}[r.IntN(2)]+" "+old+" returned", "reason", "wrong", "key", "r"+strconv.Itoa(label))
	case 3:
		return step("erase", "", "lead", old)
	case 2:
		return step([]string{"pause", "resume", "resume"}[r.IntN(3)], "buyer blue")
	}
	person := strconv.Itoa(10 + label - r.IntN(3))
	return step("lead", "#"+strconv.Itoa(label)+" acme "+[]string{"auto", "home"}[r.IntN(2)], "phone", person, "email", person, "state", []string{"CA", "NY"}[r.IntN(2)])
}

// sendTogether sends lines at once and searches for the orders that explain the answers. Several
// orders may exist and leave different states that no answer shows yet. The function keeps all
// of them until later answers rule some out.
//
// It checks turns only loosely: a turn must go to a buyer that can take the lead. The exchange
// gives turns among buyers with free caps by the log, and one of these may have lost its place
// to a request that is not yet in the log.
func (p *play) sendTogether(explanations []*model, lines []line) (left []*model, fault string) {
	start := time.Now().UnixNano()
	p.m = explanations[0]
	lines = slices.DeleteFunc(lines, func(l line) bool { return !p.possible(l) })
	answers := make([]chan string, len(lines))
	for i, l := range lines {
		answers[i] = make(chan string, 1)
		label := l.at(0)
		go func() { answers[i] <- p.x.act(label, l) }()
	}
	said := make([]string, len(lines))
	for i := range lines {
		said[i] = <-answers[i]
	}
	synctest.Wait()
	if err := p.x.scan(); err != nil {
		return nil, err.Error()
	}
	explained := map[string]*model{}
	for _, m := range explanations {
		m.now = start
		p.explain(m, lines, said, nil, explained)
	}
	fault = fmt.Sprintf("no order explains the answers %s", strings.Join(said, ", "))
	for _, name := range slices.Sorted(maps.Keys(explained)) {
		p.m = explained[name]
		p.m.until(time.Now().UnixNano())
		if wrong := p.compareVisible(); wrong != "" {
			fault = wrong
			continue
		}
		if left = append(left, p.m); len(left) == maxExplanations {
			break
		}
	}
	return left, fault
}

// maxExplanations is the number of explanations that are kept at once.
const maxExplanations = 32

// explain finds every order in which the model answers like the exchange, and keeps one model
// for each distinct resulting state.
func (p *play) explain(m *model, lines []line, said []string, order []int, explained map[string]*model) {
	if len(order) == len(lines) {
		explained[fmt.Sprint(m.funds, m.used, m.remembered, m.paused, m.erased)] = m
		return
	}
	for i, l := range lines {
		if slices.Contains(order, i) {
			continue
		}
		next := m.clone()
		next.seen = observations{buyers: p.x.buyersOfLead[l.at(0)]}
		if next.act(l.at(0), l) == said[i] {
			p.explain(next, lines, said, append(slices.Clone(order), i), explained)
		}
	}
}

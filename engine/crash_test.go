package engine_test

import (
	"errors"
	"fmt"
	"hash/fnv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

// crashScenario is a series of leads, replies and operator calls. A test runs it repeatedly and
// cuts the power at another log entry each time.
type crashScenario struct {
	market   marketSpec
	leads    []deliveryCase
	interval time.Duration // between two leads
	operate  func(x *testExchange)
}

// crashRun is one run of a crashScenario.
type crashRun struct {
	*testExchange
	scenario crashScenario
	requests []request
	calls    []*ingestCall
}

// newFailingExchange starts an exchange whose log fails after n entries; unacknowledged: before
// the last one is acknowledged. The exchange is not configured.
func newFailingExchange(t *testing.T, r marketSpec, n int, unacknowledged bool) *testExchange {
	x := &testExchange{t: t, market: r, log: newMemoryLog(t), buyers: newFakeBuyers(t)}
	x.startProcess()
	x.log.failAfterEntries(n, x.process.kill)
	x.log.unacknowledged = unacknowledged
	return x
}

// restartAfterCrash starts the next process and reports whether the power was cut.
func (x *testExchange) restartAfterCrash() (cut bool) {
	cut = x.log.hasFailed()
	x.process.kill()
	x.abandonProcess()
	x.restart()
	return cut
}

// run runs the scenario with a power cut after n log entries; see newFailingExchange. It reports
// whether the log had as many.
func (d crashScenario) run(t *testing.T, n int, unacknowledged bool) (cut bool) {
	x := newFailingExchange(t, d.market, n, unacknowledged)
	p := &crashRun{testExchange: x, scenario: d}
	x.buyers.replyTo = p.replyFor
	if x.engine.Configure(x.configuration(d.market)) == nil {
		p.runUntilCrash()
	}
	cut = x.restartAfterCrash()
	p.checkAfterRestart()
	x.closeAndCheck()
	return cut
}

// replyFor returns the reply to this attempt in the lead's deliveryCase.
func (p *crashRun) replyFor(post *receivedPost) postReply {
	for i, h := range p.scenario.leads {
		if phoneOf(i) != post.person {
			continue
		}
		replies := h.blue
		if post.buyer == "gold" {
			replies = h.gold
		}
		if len(replies) > 0 {
			return replies[min(post.attempt, len(replies))-1]
		}
	}
	return accepts
}

func (p *crashRun) runUntilCrash() {
	for i := range p.scenario.leads {
		request := leadRequest(i).withKey(fmt.Sprint("k", i))
		p.requests = append(p.requests, request)
		p.calls = append(p.calls, p.startIngest(request))
		time.Sleep(p.scenario.interval)
	}
	if p.scenario.operate != nil {
		p.scenario.operate(p.testExchange)
	}
	for _, s := range p.calls {
		<-s.done
	}
	time.Sleep(2 * time.Minute)
	p.resolveUnconfirmed()
	time.Sleep(2 * time.Minute)
}

// resolveUnconfirmed resends, confirms or releases the unconfirmed deliveries.
func (p *crashRun) resolveUnconfirmed() {
	ways := []event.PostSettlement{event.SettledResent, event.SettledConfirmed, event.SettledReleased}
	p.state.EachUnfinishedPost(func(post *state.UnfinishedPost) {
		if post.Exhausted {
			how := ways[int(post.Lead[15])%len(ways)]
			_ = p.engine.AsOperator("").ResolveUnconfirmedDelivery(post.Lead, how) // the log may have failed
		}
	})
}

func (p *crashRun) checkAfterRestart() {
	t := p.t
	time.Sleep(time.Hour)
	expectEqual(t, p.engine.RunningDeliveries(), 0, "running deliveries an hour after the restart")
	p.state.EachUnfinishedPost(func(post *state.UnfinishedPost) {
		if !post.Exhausted {
			t.Errorf("lead %s has an open delivery", post.Lead)
		}
	})
	for i, request := range p.requests {
		first := p.calls[i]
		again, err := p.ingest(request)
		switch {
		case err != nil:
			t.Errorf("lead %d, repeated: %v", i, err)
		case first.err == nil:
			if !again.Replayed {
				t.Errorf("the answer of lead %d is lost", i)
			}
			again.Replayed, again.Unsettled = first.answer.Replayed, first.answer.Unsettled
			if again != first.answer {
				t.Errorf("lead %d: first answer %+v, after the restart %+v", i, first.answer, again)
			}
		case !errors.Is(first.err, errLogFailed) && !errors.Is(first.err, engine.ErrUnavailable):
			t.Errorf("lead %d: %v", i, first.err)
		}
	}
	time.Sleep(time.Hour)
	for person, buyers := range p.buyers.buyersByPerson() {
		if len(buyers) > 1 {
			t.Errorf("%s was sold to %v", person, buyers)
		}
	}
}

// hasFewPowerCuts reports whether the tests cut the power at some entries only.
func hasFewPowerCuts() bool { return testing.Short() || raceDetector }

// crashEntries returns the first entry with a power cut, and the distance between power cuts. It
// is every log entry, with -short or the race detector every ninth. The first one then depends on
// the test's name, so that the cases of a test cut at different entries. `make test-long` cuts
// at every entry in its pass without the race detector, which selects tests by "PowerCut".
func crashEntries(t *testing.T) (first, step int) {
	if !hasFewPowerCuts() {
		return 1, 1
	}
	const distance = 9
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(t.Name()))
	return 1 + int(sum.Sum32()%distance), distance
}

// crashAtEveryEntry repeats a run with a power cut at each log entry of crashEntries.
func crashAtEveryEntry(t *testing.T, run func(t *testing.T, n int, unacknowledged bool) (cut bool)) {
	t.Helper()
	first, step := crashEntries(t)
	for n, cut := first, true; cut; n += step {
		for _, unacknowledged := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) { cut = run(t, n, unacknowledged) })
			if t.Failed() {
				t.Fatalf("cut at entry %d, unacknowledged=%v", n, unacknowledged)
			}
		}
	}
}

func TestPowerCutAtEveryEntryOfDelivery(t *testing.T) {
	forEachDeliveryCase(twoPostBuyers(), func(h deliveryCase, r marketSpec) {
		t.Run(h.name, func(t *testing.T) { crashAtEveryEntry(t, crashScenario{market: r, leads: []deliveryCase{h}}.run) })
	})
}

// The deliveries are concurrent, and caps and funds do not suffice for all.
func TestPowerCutAtEveryEntryOfManyDeliveries(t *testing.T) {
	r := twoPostBuyers()
	r.buyers = []buyer{
		{id: "blue", postEndpoint: true, funds: "60", caps: []string{"day 7", "hour $70"}},
		{id: "gold", postEndpoint: true, funds: "40", credit: "10", caps: []string{"day 9"}},
		{id: "red", caps: []string{"total 3"}},
	}
	r.campaigns[0].method = market.RoundRobin
	r.campaigns[0].caps = []string{"week 12"}
	r.campaigns[0].filterSets = []filterSet{{buyer: "blue", caps: []string{"hour 6"}}, {buyer: "gold", price: "4"}, {buyer: "red"}}
	var people []deliveryCase
	for i := 0; i < len(deliveryCases); i += 3 {
		people = append(people, deliveryCases[i])
	}
	acts := func(x *testExchange) {
		for _, err := range []error{
			x.engine.AsOperator("").SetCampaignOrBuyerPaused(event.ObjectBuyer, "gold", true), x.engine.AsOperator("").AdjustBuyerFunds("blue", 5_000_000, "more"), x.engine.AsOperator("").SetCampaignOrBuyerPaused(event.ObjectBuyer, "gold", false),
		} {
			if err != nil && !errors.Is(err, errLogFailed) {
				x.t.Error(err)
			}
		}
	}
	crashAtEveryEntry(t, crashScenario{market: r, leads: people, interval: 300 * time.Millisecond, operate: acts}.run)
}

// A post that was running at the crash is in doubt, because its buyer may have the lead.
func TestDeliveryIsInDoubtAfterCrash(t *testing.T) {
	tests := []struct {
		name      string
		first     postReply // running at the crash
		script    []postReply
		attempts  string
		leadState string
	}{
		{"accepted", accepts.after(time.Minute), []postReply{accepts}, "blue@0s blue@1s", "ACCEPTED delivered"},
		{"refused, final", refuses.after(time.Minute), []postReply{refuses}, "blue@0s blue@1s blue@2s blue@4s blue@8s blue@16s blue@32s", "ACCEPTED unknown"},
		{"refused, final, by a buyer that certifies", refuses.after(time.Minute), []postReply{refuses}, "blue@0s blue@1s", "UNMATCHED failed post_rejected"},
		{"by a buyer that takes a repeat for a second lead", hangs, []postReply{accepts}, "blue@0s", "ACCEPTED unknown"},
		{"refused, not final", hangs, []postReply{refusesNotFinal}, "blue@0s blue@1s blue@2s blue@4s blue@8s blue@16s blue@32s", "ACCEPTED unknown"},
		{"unreached, then accepted", hangs, []postReply{unreachable, accepts}, "blue@0s blue@1s blue@2s", "ACCEPTED delivered"},
		{"busy, then accepted", hangs, []postReply{busy(7 * time.Second), accepts}, "blue@0s blue@1s blue@8s", "ACCEPTED delivered"},
		{"in vain", hangs, []postReply{serverError}, "blue@0s blue@1s blue@2s blue@4s blue@8s blue@16s blue@32s", "ACCEPTED unknown"},
	}
	for _, test := range tests {
		runInVirtualTime(t, test.name, func(t *testing.T) {
			r := twoPostBuyers()
			r.buyers[0].certified = strings.Contains(test.name, "certifies")
			r.buyers[0].noRepeats = strings.Contains(test.name, "second lead")
			x := newExchange(t, r)
			x.buyers.scriptPosts("blue", append([]postReply{test.first}, test.script...)...)
			request := leadRequest(1).withKey("k")
			first := x.startIngest(request)
			time.Sleep(time.Second)
			x.crashAndRestart()
			answer, err := x.ingest(request)
			if got := describeIngest(answer, err); got != "blue" || !answer.Replayed {
				t.Errorf("answer to the supplier: %s", got)
			}
			<-first.done
			time.Sleep(10 * time.Minute)
			expectEqual(t, strings.Join(x.buyers.postAttempts(), " "), test.attempts, "attempts")
			expectEqual(t, x.leadState(answer), test.leadState, "lead state")
		})
	}
	runWithExchange(t, "on a log that fails at once", twoPostBuyers(), func(t *testing.T, x *testExchange) {
		x.buyers.scriptPosts("blue", hangs)
		first := x.startIngest(leadRequest(1))
		time.Sleep(time.Second)
		x.process.kill()
		x.abandonProcess()
		<-first.done
		x.log.reopen()
		x.startProcess()
		x.configure(x.market)
		x.log.failAfterEntries(x.log.len(), nil)
		expectError(t, x.engine.ResumeErasuresAndDeliveries(), errLogFailed)
		x.engine.Close()
		expectError(t, x.engine.ResumeErasuresAndDeliveries(), engine.ErrUnavailable)
	})
}

package engine_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pingpost/engine"
	"pingpost/engine/market"
)

const workerCount = 64

// ingestConcurrently sends leads from many goroutines in real time and counts the answers.
func (x *testExchange) ingestConcurrently(each int, request func(worker, i int) request) map[string]int {
	var mu sync.Mutex
	answers := map[string]int{}
	var wg sync.WaitGroup
	for worker := range workerCount {
		wg.Go(func() {
			for i := range each {
				got := x.ingestResult(request(worker, i))
				mu.Lock()
				answers[got]++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return answers
}

func distinctLeads(worker, i int) request { return leadRequest(worker*1000 + i) }

// waitUntilIdle waits for the end of all deliveries.
func (x *testExchange) waitUntilIdle() {
	x.engine.Close()
	expectEqual(x.t, x.state.ReservationCount(), 0, "reservations")
}

// If there are more leads than capacity, exactly the capacity is sold. Turns are exact too.
func TestConcurrentLeadsFillCapsExactly(t *testing.T) {
	tests := []struct {
		name   string
		change func(r *marketSpec)
		want   map[string]int // answers to all leads; each worker sends equally many
	}{
		{"turns by weight", func(r *marketSpec) { r.campaigns[0].filterSets[0].weight, r.campaigns[0].filterSets[1].weight = 5, 2 }, map[string]int{"blue": 320, "gold": 128, "red": 64}},
		{"the same persons", func(r *marketSpec) { r.campaigns[0].duplicates = byBuyer }, map[string]int{"blue": 20, "gold": 20, "red": 20, "duplicate": 20*workerCount - 60}},
		{"buyers' caps", func(r *marketSpec) {
			r.buyers[0].caps, r.buyers[1].caps, r.buyers[2].caps = []string{"total 50"}, []string{"month 30", "total 200"}, []string{"total 17"}
		}, map[string]int{"blue": 50, "gold": 30, "red": 17, "caps_full": 223}},
		{
			"a cap of the campaign", func(r *marketSpec) { r.campaigns[0].caps = []string{"total 99"} },
			map[string]int{"sold": 99, "caps_full": 221},
		},
		{
			"a cap of the terms", func(r *marketSpec) {
				r.campaigns[0].terms = []terms{{id: "all", caps: []string{"total 99"}}}
			},
			map[string]int{"sold": 99, "caps_full": 221},
		},
		{"caps of the pair and of the campaign", func(r *marketSpec) {
			r.campaigns[0].caps = []string{"total 60"}
			for i := range r.campaigns[0].filterSets {
				r.campaigns[0].filterSets[i].caps = []string{"total 25"}
			}
		}, map[string]int{"sold": 60, "caps_full": 260}},
		{"caps on money", func(r *marketSpec) {
			r.buyers[0].caps, r.buyers[1].caps, r.buyers[2].caps = []string{"total $105"}, []string{"total $100"}, []string{"total $99.99"}
		}, map[string]int{"blue": 10, "gold": 10, "red": 9, "caps_full": 291}},
		{"money", func(r *marketSpec) {
			r.buyers[0].funds, r.buyers[1].funds, r.buyers[2].funds, r.buyers[2].credit = "500", "109.999999", "0", "70"
		}, map[string]int{"blue": 50, "gold": 10, "red": 7, "insufficient_funds": 253}},
	}
	for _, method := range []market.BuyerSelectionMethod{market.Waterfall, market.RoundRobin, market.Weighted} {
		for _, posts := range []bool{false, true} {
			for _, test := range tests {
				if test.name == "turns by weight" && method != market.Weighted {
					continue
				}
				if testing.Short() && posts && method == market.Waterfall {
					continue // the other methods also choose a turn before the post
				}
				t.Run(fmt.Sprintf("%s/%s/posts=%v", test.name, method, posts), func(t *testing.T) {
					r := threeBuyers(method)
					if posts {
						r = r.withPostEndpoints()
					}
					test.change(&r)
					x := newExchange(t, r)
					each, newLead := 0, distinctLeads
					for _, n := range test.want {
						each += n
					}
					if r.campaigns[0].duplicates == byBuyer {
						newLead = func(_, i int) request { return leadRequest(i) }
					}
					answers := x.ingestConcurrently(each/workerCount, newLead)
					x.waitUntilIdle()
					if _, summed := test.want["sold"]; summed {
						answers["sold"] = answers["blue"] + answers["gold"] + answers["red"]
						delete(answers, "blue")
						delete(answers, "gold")
						delete(answers, "red")
					}
					expectEqual(t, fmt.Sprint(answers), fmt.Sprint(test.want))
				})
			}
		}
	}
}

// Capacity that refusals release is sold again, but never twice.
func TestConcurrentLeadsRefillReleasedCaps(t *testing.T) {
	for _, method := range []market.BuyerSelectionMethod{market.Waterfall, market.Weighted} {
		t.Run(method.String(), func(t *testing.T) {
			r := threeBuyers(method).withPostEndpoints()
			r.buyers[0].caps, r.buyers[1].funds, r.buyers[2].caps = []string{"total 40"}, "300", []string{"total $200"}
			x := newExchange(t, r)
			x.buyers.replyTo = func(p *receivedPost) postReply {
				if strings.HasSuffix(p.person, "3") || p.buyer == "gold" && strings.HasSuffix(p.person, "1") {
					return refuses
				}
				return accepts
			}
			answers := x.ingestConcurrently(6, distinctLeads)
			for i := range 90 {
				answers[x.ingestResult(leadRequest(100_000+10*i))]++
			}
			x.waitUntilIdle()
			if answers["blue"] != 40 || answers["gold"] != 30 || answers["red"] != 20 {
				t.Errorf("wrong number of answers: %v", answers)
			}
		})
	}
}

func TestConcurrentDuplicates(t *testing.T) {
	for _, posts := range []bool{false, true} {
		t.Run(fmt.Sprintf("posts=%v", posts), func(t *testing.T) {
			x := newExchange(t, duplicatesMarket(anyOf, posts))
			answers := x.ingestConcurrently(20, func(_, i int) request {
				return leadRequest(i, "email", fmt.Sprintf("p%d@example.com", i+i%2)) // pairs share an address
			})
			x.waitUntilIdle()
			if answers["duplicate"]+answers["blue"] != 20*workerCount || answers["blue"] < 10 || answers["blue"] > 20 {
				t.Errorf("wrong number of answers: %v", answers)
			}
		})
	}
}

func TestConcurrentRepeatsGetOneAnswer(t *testing.T) {
	for _, posts := range []bool{false, true} {
		t.Run(fmt.Sprintf("posts=%v", posts), func(t *testing.T) {
			r := threeBuyers(market.RoundRobin)
			if posts {
				r = r.withPostEndpoints()
			}
			x := newExchange(t, r)
			var mu sync.Mutex
			leads := map[int]engine.IngestAnswer{}
			var firsts atomic.Int64
			var wg sync.WaitGroup
			for range workerCount {
				wg.Go(func() {
					for i := range 10 {
						answer, err := x.ingest(leadRequest(i).withKey(fmt.Sprint(i)))
						if err != nil {
							t.Error(err)
						}
						if !answer.Replayed {
							firsts.Add(1)
						}
						answer.Replayed = false
						mu.Lock()
						if known, ok := leads[i]; ok && known != answer {
							t.Errorf("key %d: %+v and %+v", i, known, answer)
						}
						leads[i] = answer
						mu.Unlock()
					}
				})
			}
			wg.Wait()
			x.waitUntilIdle()
			expectEqual(t, firsts.Load(), 10, "leads for 10 keys")
		})
	}
}

func TestConcurrentLeadsDuringReconfiguration(t *testing.T) {
	one := threeBuyers(market.RoundRobin)
	one.buyers[0].caps = []string{"total 100"}
	other := threeBuyers(market.Waterfall)
	other.buyers[0].caps = []string{"total 100", "hour 1000"}
	other.buyers = append(other.buyers, buyer{id: "green"})
	other.campaigns[0].filterSets = append([]filterSet{{buyer: "green", price: "3", states: "CA"}}, other.campaigns[0].filterSets[1:]...)
	x := newExchange(t, one)
	stop := make(chan struct{})
	var changing sync.WaitGroup
	changing.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			r := one
			if i%2 == 0 {
				r = other
			}
			if err := x.engine.Configure(x.configuration(r)); err != nil {
				t.Error(err)
			}
			time.Sleep(time.Millisecond)
		}
	})
	answers := x.ingestConcurrently(20, distinctLeads)
	close(stop)
	changing.Wait()
	x.waitUntilIdle()
	sold := 0
	for _, n := range answers {
		sold += n
	}
	if sold != 20*workerCount || answers["blue"]+answers["gold"]+answers["red"]+answers["green"] != sold {
		t.Errorf("wrong number of answers: %v", answers)
	}
}

package engine_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"pingpost/engine/market"
)

func sharedBy(group string, rule market.DuplicateRule) market.DuplicateRule {
	rule.Shared, rule.Group = true, group
	return rule
}

// campaignsWithRules returns a market with one campaign for each rule, named c0, c1 and so on.
func campaignsWithRules(posts bool, rules ...market.DuplicateRule) marketSpec {
	r := duplicatesMarket(anyOf, posts)
	first := r.campaigns[0]
	r.campaigns = nil
	for i, rule := range rules {
		c := first
		c.id, c.duplicates = fmt.Sprintf("c%d", i), rule
		r.campaigns = append(r.campaigns, c)
	}
	return r
}

func inCampaign(i, person int, pairs ...string) request {
	return leadRequest(person, append([]string{"flo_campaign_id", fmt.Sprintf("c%d", i)}, pairs...)...)
}

func TestDuplicatesAcrossCampaigns(t *testing.T) {
	auto, home, exchange := sharedBy("auto", anyOf), sharedBy("home", anyOf), sharedBy("", anyOf)
	for _, test := range []struct {
		name  string
		rules []market.DuplicateRule // of c0, c1 …
		want  string                 // answers to one person in c0, c1 …
	}{
		{"one group", []market.DuplicateRule{auto, auto, auto}, "[blue duplicate duplicate]"},
		{"two groups", []market.DuplicateRule{auto, home, auto, home}, "[blue blue duplicate duplicate]"},
		{"the exchange is no group", []market.DuplicateRule{exchange, auto, exchange}, "[blue blue duplicate]"},
		{"other scopes", []market.DuplicateRule{exchange, anyOf, byBuyer, turnedOff}, "[blue blue blue blue]"},
		{"by other fields", []market.DuplicateRule{sharedBy("auto", byPhone), sharedBy("auto", byEmail), sharedBy("auto", anyOf)}, "[blue blue duplicate]"},
		{"all fields find no single field", []market.DuplicateRule{auto, sharedBy("auto", allOf), sharedBy("auto", allOf)}, "[blue blue duplicate]"},
		{"without a window", []market.DuplicateRule{auto, sharedBy("auto", turnedOff), auto}, "[blue blue duplicate]"},
	} {
		for _, posts := range []bool{false, true} {
			runWithExchange(t, fmt.Sprintf("%s/posts=%v", test.name, posts), campaignsWithRules(posts, test.rules...), func(t *testing.T, x *testExchange) {
				var got []string
				for i := range test.rules {
					got = append(got, x.ingestResult(inCampaign(i, 1)))
				}
				expectEqual(t, fmt.Sprint(got), test.want)
			})
		}
	}
	runInVirtualTime(t, "the accepting campaign's window counts", func(t *testing.T) {
		short := auto
		short.Window = int64(time.Hour)
		x := newExchange(t, campaignsWithRules(false, short, auto))
		got := []string{x.ingestResult(inCampaign(0, 1)), x.ingestResult(inCampaign(1, 2))}
		time.Sleep(time.Hour)
		got = append(got, x.ingestResult(inCampaign(1, 1)), x.ingestResult(inCampaign(0, 2)))
		expectEqual(t, fmt.Sprint(got), "[blue blue blue duplicate]")
	})
	runInVirtualTime(t, "a changed scope", func(t *testing.T) {
		var got []string
		var x *testExchange
		for person, rule := range []market.DuplicateRule{auto, anyOf, home, exchange, byBuyer, auto} {
			r := campaignsWithRules(false, rule)
			if x == nil {
				x = newExchange(t, r)
			} else {
				x.configure(r)
			}
			got = append(got, x.ingestResult(inCampaign(0, 1)), x.ingestResult(inCampaign(0, 10+person)))
		}
		expectEqual(t, fmt.Sprint(got), "[blue blue blue blue blue blue blue blue blue blue duplicate blue]", "only a scope that returns finds its leads")
	})
}

// A lead waits for the lead in progress of another campaign in its group.
func TestDuplicateInFlightInAnotherCampaign(t *testing.T) {
	r := campaignsWithRules(true, sharedBy("auto", anyOf), sharedBy("auto", anyOf))
	for want, script := range map[string]postReply{"blue duplicate": accepts.after(time.Second), "post_rejected blue": refuses.after(time.Second / 2)} {
		runWithExchange(t, want, r, func(t *testing.T, x *testExchange) {
			x.buyers.replyTo = func(p *receivedPost) postReply {
				if p.lead == x.buyers.posts[0].lead {
					return script
				}
				return accepts
			}
			first := x.startIngest(inCampaign(0, 1))
			synctest.Wait()
			second := x.startIngest(inCampaign(1, 2, "phone", "415-200-0001"))
			expectEqual(t, first.wait()+" "+second.wait(), want)
			expectEqual(t, second.took, time.Second)
		})
	}
}

// Of all leads that share a phone or an email, in all campaigns of a group, one is sold.
func TestConcurrentDuplicatesAcrossCampaigns(t *testing.T) {
	for _, posts := range []bool{false, true} {
		t.Run(fmt.Sprintf("posts=%v", posts), func(t *testing.T) {
			x := newExchange(t, campaignsWithRules(posts, sharedBy("auto", anyOf), sharedBy("auto", anyOf), sharedBy("", anyOf)))
			var mu sync.Mutex
			sales := map[[2]int]int{} // by group and person
			var wg sync.WaitGroup
			for worker := range workerCount {
				wg.Go(func() {
					for person := range 20 {
						campaign := (worker + person) % 3
						key := inCampaign(campaign, person)
						if worker%2 == 0 { // another member of the household, found by the email alone
							key = inCampaign(campaign, person, "phone", fmt.Sprintf("415%07d", 3_000_000+worker*1000+person))
						}
						got := x.ingestResult(key)
						mu.Lock()
						if got == "blue" {
							sales[[2]int{campaign / 2, person}]++
						} else if got != "duplicate" {
							t.Errorf("answer %s", got)
						}
						mu.Unlock()
					}
				})
			}
			wg.Wait()
			x.waitUntilIdle()
			for group := range 2 {
				for person := range 20 {
					if n := sales[[2]int{group, person}]; n != 1 {
						t.Errorf("group %d sold person %d %d times", group, person, n)
					}
				}
			}
		})
	}
}

// acceptedValues is the naive model of all duplicate rules: the values of accepted leads with the time
// until which they count.
type acceptedValues map[string]time.Time

// valuesOf lists the values by which the campaign's rule compares a lead.
func valuesOf(campaign int, rule market.DuplicateRule, phone, email int) (values []string) {
	scope := fmt.Sprintf("campaign %d", campaign)
	if rule.Shared {
		scope = "group " + rule.Group
	}
	if rule.Phone && rule.Email && rule.All {
		return []string{fmt.Sprintf("%s phone %d email %d", scope, phone, email)}
	}
	if rule.Phone {
		values = append(values, fmt.Sprintf("%s phone %d", scope, phone))
	}
	if rule.Email {
		values = append(values, fmt.Sprintf("%s email %d", scope, email))
	}
	return values
}

// decide returns the model's answer to a lead, and adds its values if it is accepted.
func (m acceptedValues) decide(values []string, window time.Duration) string {
	if slices.ContainsFunc(values, func(value string) bool { return time.Now().Before(m[value]) }) {
		return "duplicate"
	}
	for _, value := range values {
		m[value] = time.Now().Add(window)
	}
	return "blue"
}

// scopeStep is one step of TestDuplicateScopesMatchModel: a lead, unless it has rules or a pause.
type scopeStep struct {
	rules                  []market.DuplicateRule // a new configuration
	pause                  time.Duration
	campaign, phone, email int
}

func drawScopeSteps(t *rapid.T) (steps []scopeStep) {
	rules := rapid.Custom(func(t *rapid.T) market.DuplicateRule {
		rule := rapid.SampledFrom([]market.DuplicateRule{anyOf, allOf, byPhone, byEmail}).Draw(t, "rule")
		rule.Window = int64(rapid.IntRange(1, 5).Draw(t, "hours")) * int64(time.Hour)
		rule.Shared = rapid.Bool().Draw(t, "shared")
		if rule.Shared {
			rule.Group = rapid.SampledFrom([]string{"", "auto", "home"}).Draw(t, "group")
		}
		return rule
	})
	threeRules := rapid.SliceOfN(rules, 3, 3)
	steps = append(steps, scopeStep{rules: threeRules.Draw(t, "rules")})
	for range rapid.IntRange(1, 30).Draw(t, "steps") {
		switch rapid.IntRange(0, 9).Draw(t, "step") {
		case 0:
			steps = append(steps, scopeStep{rules: threeRules.Draw(t, "rules")})
		case 1:
			steps = append(steps, scopeStep{pause: time.Duration(rapid.IntRange(1, 3).Draw(t, "hours")) * time.Hour})
		default:
			third := rapid.IntRange(0, 2)
			steps = append(steps, scopeStep{campaign: third.Draw(t, "campaign"), phone: third.Draw(t, "phone"), email: third.Draw(t, "email")})
		}
	}
	return steps
}

func TestDuplicateScopesMatchModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		steps := drawScopeSteps(rt)
		mistake := ""
		synctest.Test(t, func(t *testing.T) {
			current, model := steps[0].rules, acceptedValues{}
			x := newExchange(t, campaignsWithRules(false, current...))
			for _, step := range steps[1:] {
				switch {
				case step.rules != nil:
					current = step.rules
					x.configure(campaignsWithRules(false, current...))
				case step.pause > 0:
					time.Sleep(step.pause)
				default:
					rule := current[step.campaign]
					want := model.decide(valuesOf(step.campaign, rule, step.phone, step.email), time.Duration(rule.Window))
					got := x.ingestResult(inCampaign(step.campaign, step.phone, "email", fmt.Sprintf("p%d@example.com", step.email)))
					if got != want {
						mistake = fmt.Sprintf("%+v with %+v: %s, want %s", step, rule, got, want)
						return
					}
				}
			}
		})
		if mistake != "" {
			rt.Fatal(mistake)
		}
	})
}

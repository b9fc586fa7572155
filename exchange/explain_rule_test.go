package exchange

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"pingpost/engine/exclusion"
	"pingpost/exchange/explain"
	"pingpost/internal/must"
	"pingpost/loadtest/refbuyer"
	"pingpost/outbound/dial/dialtest"
)

// rulesConfig has a waterfall whose buyers each drop out by another rule, except for buy_last, and
// an auction with buyers that drop out before and after the ping. closedDay is a day on which the
// buyer with a schedule opens.
func rulesConfig(t testing.TB, closedDay string, second *refbuyer.Buyer, bidders ...*refbuyer.Buyer) string {
	t.Helper()
	return fmt.Sprintf(configHead+configSuppliers+`suppression_lists:
  - {id: dnc, field: phone, file: dnc.txt}
  - {id: mails, field: email, file: mails.txt}
buyers:
  - {id: buy_state, states: [NV, TX]}
  - {id: buy_filter, filters: [{field: vehicle_count, min: 1}]}
  - {id: buy_list, filters: [{field: make, in: [Audi, BMW]}]}
  - {id: buy_excluded, filters: [{field: make, not_in: [Ford]}]}
  - {id: buy_range, filters: [{field: age, min: 25, max: 60}]}
  - {id: buy_prefix, filters: [{field: zip, prefix: [100, 752], not_prefix: [75202]}]}
  - {id: buy_not_prefix, filters: [{field: zip, not_prefix: [941]}]}
  - {id: buy_far_away, filters: [{field: zip, near: {zip: "75201", miles: 25}}]}
  - {id: buy_pattern, filters: [{field: make, matches: "[a-z]+"}]}
  - {id: buy_adult, filters: [{field: born, min_age: 18}]}
  - {id: buy_dates, filters: [{field: born, from: 1990-01-01, until: 1999-12-31}]}
  - {id: buy_absent, filters: [{field: make, absent: true}]}
  - {id: buy_mail, filters: [{field: email, not_in: ["ann1@%[1]s", "x@y.example"]}]}
  - {id: buy_contact, filters: [{field: phone, in: ["+12125550000"]}]}
  - {id: buy_closed, schedule: {time_zone: America/New_York, open: ["%[2]s 08:00-18:00"]}}
  - {id: buy_capped, caps: [{per: total, count: 1}]}
  - {id: buy_spent, caps: [{per: day, money: 10, time_zone: America/New_York}]}
  - {id: buy_poor, funds: {balance: 3, credit: 1}}
  - {id: buy_listed, suppression: [dnc]}
  - {id: buy_lists, suppression: [mails, dnc]}
  - {id: buy_paused}
  - {id: buy_dup}
  - {id: buy_last}
  - {id: buy_refusing, endpoint: "http://%[3]s", auth: {oauth: {token_url: "http://%[3]s/oauth/token", client_id: "%[7]s", client_secret: "%[8]s", scope: ping post}}}
  - {id: buy_high, endpoint: "http://%[4]s", auth: {oauth: {token_url: "http://%[4]s/oauth/token", client_id: "%[7]s", client_secret: "%[8]s", scope: ping post}}, ping_rate: 1000000}
  - {id: buy_low, endpoint: "http://%[5]s", auth: {oauth: {token_url: "http://%[5]s/oauth/token", client_id: "%[7]s", client_secret: "%[8]s", scope: ping post}}, ping_rate: 1000000}
  - {id: buy_shy, endpoint: "http://%[6]s", auth: {oauth: {token_url: "http://%[6]s/oauth/token", client_id: "%[7]s", client_secret: "%[8]s", scope: ping post}}, ping_rate: 1000000}
  - {id: buy_gone, endpoint: "http://%[9]s", ping_rate: 1000000}
  - {id: buy_second, endpoint: "http://%[10]s", auth: {oauth: {token_url: "http://%[10]s/oauth/token", client_id: "%[7]s", client_secret: "%[8]s", scope: ping post}}, ping_rate: 1000000}
  - {id: buy_far, endpoint: "http://%[4]s", auth: {oauth: {token_url: "http://%[4]s/oauth/token", client_id: "%[7]s", client_secret: "%[8]s", scope: ping post}}, states: [NV]}
  - {id: buy_slow_rate, endpoint: "http://%[4]s", auth: {oauth: {token_url: "http://%[4]s/oauth/token", client_id: "%[7]s", client_secret: "%[8]s", scope: ping post}}, ping_rate: 1}
campaigns:
  - id: cmp
    method: waterfall
    duplicates: {window: 1d, scope: buyer, fields: [phone]}
    fields: [{name: vehicles, to: vehicle_count, type: integer}, {name: make, type: string}, {name: age, type: integer}, {name: born, type: date}]
    buyers:
      - {buyer: buy_state, price: 5}
      - {buyer: buy_filter, price: 5}
      - {buyer: buy_list, price: 5}
      - {buyer: buy_excluded, price: 5}
      - {buyer: buy_range, price: 5}
      - {buyer: buy_prefix, price: 5}
      - {buyer: buy_not_prefix, price: 5}
      - {buyer: buy_far_away, price: 5}
      - {buyer: buy_pattern, price: 5}
      - {buyer: buy_adult, price: 5}
      - {buyer: buy_dates, price: 5}
      - {buyer: buy_absent, price: 5}
      - {buyer: buy_mail, price: 5}
      - {buyer: buy_contact, price: 5}
      - {buyer: buy_closed, price: 5}
      - {buyer: buy_capped, price: 5}
      - {buyer: buy_spent, price: 6}
      - {buyer: buy_poor, price: 5}
      - {buyer: buy_listed, price: 5}
      - {buyer: buy_lists, price: 5}
      - {buyer: buy_paused, price: 5}
      - {buyer: buy_dup, price: 5}
      - {buyer: buy_refusing, price: 5}
      - {buyer: buy_last, price: 4}
  - id: cmp_strict
    method: waterfall
    fields: [{name: vehicles, to: vehicle_count, type: integer}]
    filters: [{field: vehicle_count, min: 1}]
    suppression: [dnc]
    duplicates: {window: 1d, fields: [email]}
    buyers: [{buyer: buy_last, price: 4}]
  - id: cmp_auto
    vertical: auto
    method: ping_post
    floor: 8
    duplicates: {window: 0s}
    buyers: [{buyer: buy_far}, {buyer: buy_second}, {buyer: buy_high}, {buyer: buy_low}, {buyer: buy_shy}, {buyer: buy_slow_rate}]
  - id: cmp_hours
    method: waterfall
    floor: 3
    duplicates: {window: 0s}
    buyers:
      - {buyer: buy_capped, price: 5, modifiers: [{during: ["Mon-Sun 00:00-24:00"], caps: 0}]}
      - {buyer: buy_dup, price: 5, caps: [{per: total, count: 3}], modifiers: [{during: ["Mon-Sun 00:00-24:00"], caps: 0.5}]}
      - {buyer: buy_paused, price: 5, schedule: {closed_on: [%[11]s]}}
      - {buyer: buy_spent, price: 4, modifiers: [{during: ["Mon-Sun 00:00-24:00"], price: 0.5}]}
      - {buyer: buy_last, price: 4}
  - {id: cmp_shut, method: waterfall, schedule: {time_zone: America/New_York, open: ["%[2]s 08:00-18:00"]}, buyers: [{buyer: buy_capped, price: 5}, {buyer: buy_last, price: 4}]}
  - {id: cmp_gone, vertical: home, method: ping_post, duplicates: {window: 0s}, buyers: [{buyer: buy_gone}]}
`, append([]any{mailHost, closedDay}, append(addressesOf(bidders), buyerClient, buyerSecret, dialtest.UnusedAddress(t), second.Addr().String(), todayAndTomorrow())...)...)
}

func todayAndTomorrow() string {
	now := time.Now().UTC()
	return now.Format(time.DateOnly) + ", " + now.AddDate(0, 0, 1).Format(time.DateOnly)
}

func addressesOf(buyers []*refbuyer.Buyer) (all []any) {
	for _, buyer := range buyers {
		all = append(all, buyer.Addr().String())
	}
	return all
}

// startRulesExchange starts an exchange with rulesConfig, in which each buyer of cmp drops out for a
// lead of person 1.
func startRulesExchange(t *testing.T) *testExchange {
	t.Helper()
	newYork := must.Value(time.LoadLocation("America/New_York"))(t)
	closedDay := time.Now().In(newYork).AddDate(0, 0, 3).Format("Mon")
	p := newTestDir(t, rulesConfig(t, closedDay, startReferenceBuyer(t, "10"),
		startReferenceBuyer(t, "5", func(o *refbuyer.Options) { o.RejectRate = 1 }), startReferenceBuyer(t, "12.5"),
		startReferenceBuyer(t, "7"), startReferenceBuyer(t, "9", func(o *refbuyer.Options) { o.NoBidRate = 1 })))
	p.writeFile(t, "dnc.txt", "+1"+areaCode+"0001\n")
	p.writeFile(t, "mails.txt", "nobody@else.example\n")
	return start(t, p)
}

// rulesOf returns the text of each candidate's rule by buyer.
func rulesOf(doc *explain.Explanation) map[string]*exclusion.UnmetRule {
	rules := make(map[string]*exclusion.UnmetRule)
	for i := range doc.Candidates {
		rules[doc.Candidates[i].Buyer] = doc.Candidates[i].Rule
	}
	return rules
}

// describe writes a rule in one line: kind, wanted, actual, text and basis.
func describe(rule *exclusion.UnmetRule) string {
	if rule == nil {
		return "none"
	}
	actual := "null"
	if rule.Actual != nil {
		actual = *rule.Actual
	}
	return fmt.Sprintf("%s | %s | %s | %s | %s", rule.Kind, rule.Wanted, actual, rule.Text, rule.Basis)
}

// TestExplainNamesRule: the explanation of a lead names for each buyer that dropped out the rule
// with the wanted and the actual value. Contact data is masked.
func TestExplainNamesRule(t *testing.T) {
	t.Parallel()
	x := startRulesExchange(t)
	x.mustAdmin(204, "POST", "/admin/v1/buyers/buy_paused/pause", "")
	born := time.Now().UTC().AddDate(-17, 0, 0).Format(time.DateOnly)
	misfit := []string{"zip", `"94105"`, "born", `"` + born + `"`, "make", `"Ford"`, "age", "17", "email", `"ann1@` + mailHost + `"`}
	var sold []string
	for range 3 {
		sold = append(sold, x.mustSell(leadBody(1, misfit...)).leadID())
	}
	doc := x.explain(x.mustSell(leadBody(1, misfit...)).leadID())
	if doc.Buyer != "buy_last" {
		t.Errorf("sold to %s, want buy_last", doc.Buyer)
	}
	for buyer, want := range map[string]string{
		"buy_state":      `^state \| one of NV, TX \| CA \| state: required one of NV, TX, got CA \| $`,
		"buy_filter":     `^filter \| >= 1 \| null \| vehicle_count: required >= 1, got none \| $`,
		"buy_list":       `^filter \| one of Audi, BMW \| Ford \| make: required one of Audi, BMW, got Ford \| $`,
		"buy_excluded":   `^filter \| none of Ford \| Ford \| make: required none of Ford, got Ford \| $`,
		"buy_range":      `^filter \| between 25 and 60 \| 17 \| age: required between 25 and 60, got 17 \| $`,
		"buy_prefix":     `^filter \| a text that begins with one of 100, 752 \| 94105 \| zip: required a text that begins with one of 100, 752, got 94105 \| $`,
		"buy_not_prefix": `^filter \| a text that begins with none of 941 \| 94105 \| zip: required a text that begins with none of 941, got 94105 \| $`,
		"buy_far_away":   `^filter \| within 25 miles of 75201 \| 94105 \| zip: required within 25 miles of 75201, got 94105 \| $`,
		"buy_pattern":    `^filter \| a text that matches \[a-z\]\+ \| Ford \| make: required a text that matches \[a-z\]\+, got Ford \| $`,
		"buy_adult":      `^filter \| age >= 18 \| ` + born + ` \| born: required age >= 18, got ` + born + ` \| $`,
		"buy_dates":      `^filter \| between 1990-01-01 and 1999-12-31 \| ` + born + ` \| born: `,
		"buy_absent":     `^filter \| no value \| Ford \| make: required no value, got Ford \| $`,
		"buy_mail":       `^filter \| none of 2 configured values \| \(masked: personal data\) \| email: required none of 2 configured values, got \(masked`,
		"buy_contact":    `^filter \| one of 1 configured values \| \(masked: personal data\) \| phone: `,
		"buy_closed":     `^schedule \| ... 08:00-18:00 America/New_York \| ... \d\d:\d\d \| schedule of the buyer: required ... 08:00-18:00 America/New_York, got ... \d\d:\d\d \| $`,
		"buy_capped":     `^cap \| at most 1 leads in total \| 1 used and 1 needed \| cap of buyer buy_capped: required at most 1 leads in total, got 1 used and 1 needed \(reconstructed\) \| reconstructed$`,
		"buy_spent":      `^cap \| at most 10 USD per day \| 6 USD used and 6 USD needed \| cap of buyer buy_spent: .*in the window 20\d\d-.*T00:00:00-0[45]:00 to `,
		"buy_poor":       `^funds \| at least 5 USD \| 4 USD \| funds: required at least 5 USD, got 4 USD \(reconstructed\): balance 3 USD, held 0 USD, credit 1 USD \| reconstructed$`,
		"buy_listed":     `^suppression_list \| not on suppression list dnc \| \(masked: personal data\) \| phone: is on suppression list dnc \| $`,
		"buy_lists":      `^suppression_list \| not on suppression list dnc \| .* \| reconstructed$`,
		"buy_paused":     `^pause \| active \| paused \| buyer: required active, got paused \| $`,
		"buy_dup":        `^duplicate \| no lead of buyer buy_dup with the same phone within 1 day \| lead_\S+ of 20\d\d-\S+Z \| `,
		"buy_refusing":   `^post \| acceptance of the lead \| HTTP 422 post_rejected \| post: required acceptance of the lead, got HTTP 422 post_rejected \| $`,
	} {
		if got := describe(rulesOf(doc)[buyer]); !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("%s:\n got %s\nwant %s", buyer, got, want)
		}
	}
	if rule := rulesOf(doc)["buy_dup"]; rule.Lead != sold[2] || rule.At == "" {
		t.Errorf("the earlier lead is %s of %q, want %s", rule.Lead, rule.At, sold[2])
	}
	text := x.mustAdmin(200, "GET", "/admin/v1/explain/"+doc.ID, "").body
	for _, personal := range []string{mailHost, areaCode + "0001", lastName} {
		if strings.Contains(text, personal) {
			t.Errorf("the explanation has personal data %q: %s", personal, text)
		}
	}
	// A cap's structured part.
	if c := rulesOf(doc)["buy_spent"].Cap; c == nil || c.Scope != "buyer" || c.Unit != "money" || c.Period != "day" || c.Zone != "America/New_York" || c.Limit != "10 USD" || c.Used != "6 USD" || c.Needed != "6 USD" {
		t.Errorf("cap %+v", c)
	}
}

// TestExplainNamesRuleOfAuction: buyers that drop out before the ping, and bids that do not win.
func TestExplainNamesRuleOfAuction(t *testing.T) {
	t.Parallel()
	x := startRulesExchange(t)
	doc := x.explain(x.mustSell(leadBody(3, "flo_campaign_id", `"cmp_auto"`)).leadID())
	for buyer, want := range map[string]string{
		"buy_far":       "state | one of NV | CA | state: required one of NV, got CA | ",
		"buy_high":      "none",
		"buy_second":    "outbid | more than the winning bid of 12.5 USD | 10 USD | bid: required more than the winning bid of 12.5 USD, got 10 USD | ",
		"buy_low":       "floor | at least the floor of 8 USD | 7 USD | bid: required at least the floor of 8 USD, got 7 USD | ",
		"buy_shy":       "bid | a bid | no bid | answer to the ping: required a bid, got no bid | ",
		"buy_slow_rate": "ping_rate | at most 1 pings per second | all of them used | ping rate: required at most 1 pings per second, got all of them used | ",
	} {
		if got := describe(rulesOf(doc)[buyer]); got != want {
			t.Errorf("%s:\n got %s\nwant %s", buyer, got, want)
		}
	}
	if doc.Buyer != "buy_high" || doc.Rule != nil {
		t.Errorf("sold to %s, rule %v", doc.Buyer, doc.Rule)
	}
}

// TestExplainNamesHoursAndModifiers: a rule names the campaign's own schedule, a closed day, and the
// modifier of a price or a cap.
func TestExplainNamesHoursAndModifiers(t *testing.T) {
	t.Parallel()
	x := startRulesExchange(t)
	x.mustSell(leadBody(60, "flo_campaign_id", `"cmp_hours"`))
	doc := x.explain(x.mustSell(leadBody(61, "flo_campaign_id", `"cmp_hours"`)).leadID())
	for buyer, want := range map[string]string{
		"buy_capped": `^cap \| a factor above 0 \| 0 during Mon-Sun 00:00-24:00 UTC \| modifier of caps in the campaign: required a factor above 0, got 0 during Mon-Sun 00:00-24:00 UTC \| $`,
		"buy_dup":    `^cap \| at most 1 leads in total \(3 × 0.5 during Mon-Sun 00:00-24:00 UTC\) \| 1 used and 1 needed \| cap of buyer buy_dup in campaign cmp_hours: `,
		"buy_paused": `^schedule \| all hours UTC, closed on \S+, \S+ \| ... 20\d\d-\d\d-\d\d \d\d:\d\d \| schedule in the campaign: `,
		"buy_spent":  `^floor \| at least the floor of 3 USD \| 2 USD \(4 USD × 0.5 during Mon-Sun 00:00-24:00 UTC\) \| price: `,
		"buy_last":   `^none$`,
	} {
		if got := describe(rulesOf(doc)[buyer]); !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("%s:\n got %s\nwant %s", buyer, got, want)
		}
	}
	doc = x.explain(x.ingest(leadBody(62, "flo_campaign_id", `"cmp_shut"`)).leadID())
	for buyer, rule := range rulesOf(doc) {
		if got, want := describe(rule), `^schedule \| ... 08:00-18:00 America/New_York \| ... \d\d:\d\d \| schedule of the campaign: `; !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("%s:\n got %s\nwant %s", buyer, got, want)
		}
	}
	if want := "It arrived outside the hours in which the campaign sells leads. Of 2 candidates: 2 outside the hours."; doc.Reason != "outside_schedule" || !strings.HasSuffix(doc.Why, want) {
		t.Errorf("reason %s: %s", doc.Reason, doc.Why)
	}
	if caps := x.mustAdmin(200, "GET", "/admin/v1/caps?campaign=cmp_hours&buyer=buy_dup", "").body; !strings.Contains(caps, `"limit":1,"used":1`) {
		t.Errorf("the limit in force is not listed: %s", caps)
	}
}

// TestExplainNamesUnhealthyBuyer: a buyer that cannot be connected to is pinged less, and the
// explanation reconstructs how much less.
func TestExplainNamesUnhealthyBuyer(t *testing.T) {
	t.Parallel()
	x := startRulesExchange(t)
	for n := range 30 {
		doc := x.explain(x.ingest(leadBody(100+n, "flo_campaign_id", `"cmp_gone"`)).leadID())
		switch rule := rulesOf(doc)["buy_gone"]; doc.Candidates[0].Outcome {
		case "error":
			if got := describe(rule); got != "bid | a bid | no connection to the endpoint | answer to the ping: required a bid, got no connection to the endpoint | " {
				t.Errorf("lead %d: %s", n, got)
			}
		case "unhealthy":
			if got := describe(rule); !strings.HasPrefix(got, "ping_health | few failed answers to recent pings | so many failures that only ") || rule.Basis != exclusion.Reconstructed {
				t.Errorf("lead %d: %s", n, got)
			}
			return
		default:
			t.Fatalf("lead %d: outcome %s", n, doc.Candidates[0].Outcome)
		}
	}
	t.Error("the buyer was pinged in all auctions")
}

// TestExplainNamesCampaignRule: the campaign itself rejects the lead. An old lead keeps the rule of
// its time after the configuration has changed.
func TestExplainNamesCampaignRule(t *testing.T) {
	t.Parallel()
	x := startRulesExchange(t)
	strict := func(number int, changes ...string) string {
		return x.ingest(leadBody(number, append(changes, "flo_campaign_id", `"cmp_strict"`)...)).leadID()
	}
	filtered := strict(50, "vehicles", "0")
	first := strict(51, "vehicles", "1")
	duplicate, listed := strict(51, "vehicles", "1"), strict(1, "vehicles", "1")
	check := func() {
		t.Helper()
		for id, want := range map[string]string{
			filtered: "filter | >= 1 | 0 | vehicle_count: required >= 1, got 0 | ",
			first:    "none",
			listed:   "suppression_list | not on suppression list dnc | (masked: personal data) | phone: is on suppression list dnc | ",
		} {
			if got := describe(x.explain(id).Rule); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		}
		rule := x.explain(duplicate).Rule
		if rule == nil || rule.Kind != exclusion.KindDuplicate || rule.Lead != first || !strings.HasPrefix(rule.Text, "duplicate: the campaign already has "+first+" of 20") {
			t.Errorf("the duplicate's rule is %s", describe(rule))
		}
	}
	check()
	text := string(must.Value(os.ReadFile(x.configPath()))(t))
	x.reloadWith(strings.Replace(text, "filters: [{field: vehicle_count, min: 1}]\n    suppression", "filters: [{field: vehicle_count, min: 3}]\n    suppression", 1))
	if got := describe(x.explain(strict(52, "vehicles", "2")).Rule); got != "filter | >= 3 | 2 | vehicle_count: required >= 3, got 2 | " {
		t.Errorf("after the change: %s", got)
	}
	check()
	// Deleted contact data hides no rule on other fields, and leaves no contact value.
	x.mustAdmin(200, "POST", "/admin/v1/erase", `{"phone":"+1`+areaCode+`0001"}`)
	check()
}

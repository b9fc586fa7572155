package explain

import (
	"strings"
	"testing"
	"time"

	"pingpost/engine"
	"pingpost/engine/bitset"
	"pingpost/engine/event"
	"pingpost/engine/market"
)

// addAttempts records failed attempts with these HTTP statuses. The last one leaves the delivery
// unconfirmed.
func (c *history) addAttempts(id market.LeadID, statuses ...uint32) {
	c.t.Helper()
	last := len(statuses) - 1
	for i, status := range statuses[:last] {
		verdict := market.VerdictUnknown
		if status < 500 {
			verdict = market.VerdictRefused
		}
		c.Add(&event.PostAttemptFailed{Lead: id, Attempt: uint32(i) + 1, At: c.Now, Status: status, Verdict: verdict})
	}
	c.AddPostResult(id, event.SettledUnknown, func(s *event.PostSettled) {
		s.Status, s.Attempts = statuses[last], uint32(len(statuses))
		if s.Status < 500 {
			s.Code = "bad_phone"
		}
	})
}

// TestExplainUnconfirmedDelivery: the summary names the attempt that left the delivery in doubt, and
// says why later refusals do not count.
func TestExplainUnconfirmedDelivery(t *testing.T) {
	for want, statuses := range map[string][]uint32{
		"but no attempt got a clear answer, so the buyer may have the lead. Ask the buyer":                                                                          {500, 500, 408},
		"but attempt 1 got no clear answer (HTTP 500), so a later refusal (HTTP 422 bad_phone) does not prove that the buyer does not have the lead. Ask the buyer": {500, 500, 422, 422, 422, 422},
		"but attempt 2 got no clear answer (HTTP 503), so the buyer may have the lead.":                                                                             {401, 503, 500},
		"but an earlier attempt has no recorded answer, so a refusal (HTTP 422 bad_phone) does not prove":                                                           {422, 422},
	} {
		c := newHistory(t)
		c.activateConfig(1, "buy_1", "buy_2")
		id := c.NewLeadID(1)
		c.AddLeadPostedToBuyer1(id)
		c.addAttempts(id, statuses...)
		if doc := c.mustExplainLead(id); !strings.Contains(doc.Why, want) {
			t.Errorf("%v: %s, want %s", statuses, doc.Why, want)
		}
	}
}

// TestExplainReleasedDelivery: the row of a released buyer says that an operator released the delivery,
// and how the last attempt ended. It does not say that the buyer was not reached.
func TestExplainReleasedDelivery(t *testing.T) {
	c := newHistoryOf(t, newCampaign(t, market.Waterfall))
	id := c.NewLeadID(1)
	c.AddLeadPostedToBuyer1(id)
	c.addAttempts(id, 500, 500, 500, 500, 500, 500)
	c.AdvanceClock(time.Minute)
	c.AddPostResult(id, event.SettledReleased, func(s *event.PostSettled) { s.Reason = market.ReasonPostRejected })
	doc := c.mustExplainLead(id)
	if want := "An operator released the delivery to buy_1 after 6 failed attempts, the last with HTTP 500, and so decided that the buyer does not have the lead."; !strings.HasPrefix(doc.Why, want) {
		t.Errorf("got %s, want %s", doc.Why, want)
	}
	const want = "post: required acceptance of the lead, got an operator's release of the delivery after 6 failed attempts, the last with HTTP 500"
	if rule := doc.Candidates[0].Rule; rule == nil || rule.Text != want {
		t.Errorf("got %+v, want %s", rule, want)
	}
}

// TestExplainRefusalOfPost: the row of a buyer that refused the post has the buyer's code, and says
// that a 2xx had a rejection in its body. The code of an erased person is withheld there too.
func TestExplainRefusalOfPost(t *testing.T) {
	for _, test := range []struct {
		status     uint32
		fault      market.OutboundRequestFault
		code, want string
	}{
		{422, 0, "bad_phone", "HTTP 422 bad_phone"},
		{200, 0, "bad_phone", "HTTP 200 with a rejection in the body: bad_phone"},
		{200, 0, "", "HTTP 200 with a rejection in the body"},
		{301, 0, "", "HTTP 301"},
		{0, market.FaultConnect, "", "no connection to the endpoint"},
	} {
		c := newHistoryOf(t, newCampaign(t, market.Waterfall))
		id := c.NewLeadID(1)
		c.AddLeadPostedToBuyer1(id)
		c.AddPostResult(id, event.SettledRefused, func(s *event.PostSettled) {
			s.Status, s.Fault, s.Code, s.Reason = test.status, test.fault, test.code, market.ReasonPostRejected
			s.Trail = []event.FilterSetsWithOutcome{{Outcome: market.OutcomePostRejected, FilterSets: bitset.Set{1}}}
		})
		check := func(want string) {
			t.Helper()
			doc, err := c.ExplainLead(id)
			if err != nil || doc.Candidates[0].Rule == nil || doc.Candidates[0].Rule.Text != "post: required acceptance of the lead, got "+want {
				t.Errorf("HTTP %d %s: %+v, %v, want %s", test.status, test.code, doc.Candidates[0].Rule, err, want)
			}
		}
		check(test.want)
		c.Contact = func(*event.LeadDecided) (event.LeadPersonalData, error) {
			return event.LeadPersonalData{}, engine.ErrErased
		}
		if test.code != "" {
			check(strings.Replace(test.want, test.code, erased, 1))
		}
	}
}

// TestExplainDoubtfulAcceptance: a sale whose accepting answer looks like a rejection says so.
func TestExplainDoubtfulAcceptance(t *testing.T) {
	c := newHistory(t)
	c.activateConfig(1, "buy_1", "buy_2")
	id := c.addDeliveredLead(1, func(s *event.PostSettled) { s.Status, s.Code = 200, "status_rejected" })
	const want = "The buyer acknowledged the lead. But the body of its answer looks like a rejection (status_rejected). The answer's status, HTTP 200, decides."
	if doc := c.mustExplainLead(id); !strings.HasSuffix(doc.Why, want) {
		t.Errorf("got %s, want %s", doc.Why, want)
	}
}

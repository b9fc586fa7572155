package engine_test

import (
	"testing"
	"time"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/internal/must"
)

// The events of an operator's action name that operator. Other events name no operator.
func TestEventsNameRequestingOperator(t *testing.T) {
	runWithExchange(t, "supplier, buyer and lead actions", withWebhooks(returnsMarket(manualReturnRule(nil))), func(t *testing.T, x *testExchange) {
		anna := x.engine.AsOperator("anna")
		start := x.log.len()
		key := newClientSecret(event.ObjectSupplier, "acme", "one", 1)
		returned := x.soldLead(1)
		expectEqual(t, x.reportResult(newReport(returned, "returned")), "ACCEPTED waiting")
		for _, record := range decodeAll(t, x.log.durable()[start:]) {
			expectEqual(t, event.RequestingOperator(record), "", "operator of ", event.DescribeAsJSON(record))
		}
		for name, act := range map[string]func() error{
			"pause":  func() error { return anna.SetCampaignOrBuyerPaused(event.ObjectCampaign, "auto", true) },
			"secret": func() error { return anna.SetOutgoingSecret("x", []byte{1}) },
			"secret removed": func() error {
				_ = x.engine.AsOperator("bob").SetOutgoingSecret("y", []byte{1})
				return anna.RemoveOutgoingSecret("y")
			},
			"funds":      func() error { return anna.AdjustBuyerFunds("blue", 5, "") },
			"credential": func() error { return anna.AddCredential(key) },
			"return":     func() error { return anna.DecideReturn(returned.Lead, false, "") },
			"webhooks":   func() error { return anna.SwitchOffAndDeadLetterWebhooks("acme") },
			"erasure": func() error {
				_, err := anna.EraseContactData([]engine.LeadAndKeySlot{x.keySlotOf(returned.Lead)})
				return err
			},
			"configuration": func() error {
				c := x.configuration(x.market)
				c.Document, c.By = "another", "anna"
				return x.engine.Configure(c)
			},
			"credential revoked": func() error {
				_ = x.engine.AsOperator("bob").AddCredential(newClientSecret(event.ObjectSupplier, "acme", "two", 2))
				c, _ := x.state.CredentialByHash([32]byte{2})
				return anna.RevokeCredential(&c)
			},
		} {
			time.Sleep(time.Second)
			before := x.log.len()
			if err := act(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if record := x.lastEvent(); x.log.len() == before || event.RequestingOperator(record) != "anna" {
				t.Errorf("%s: no event by anna, the last event is %s", name, event.DescribeAsJSON(record))
			}
		}
	})
	runInVirtualTime(t, "dead letters", func(t *testing.T) {
		x, _ := newExchangeWithDeadLetters(t, 3)
		dead := must.Value(x.deadLetters())(t)
		anna := x.engine.AsOperator("anna")
		for name, act := range map[string]func() error{
			"resent":  func() error { return anna.ResendDeadLetter(dead[0].Lead, dead[0].Type) },
			"dropped": func() error { return anna.DropDeadLetter(dead[1].Lead, dead[1].Type) },
		} {
			if err := act(); err != nil || event.RequestingOperator(x.lastEvent()) != "anna" {
				t.Errorf("%s: error %v, last event %s", name, err, event.DescribeAsJSON(x.lastEvent()))
			}
		}
		if n, err := anna.ResendDeadLetters("acme"); n != 1 || err != nil || event.RequestingOperator(x.lastEvent()) != "anna" {
			t.Errorf("resend all: %d resent, want 1; error %v, last event %s", n, err, event.DescribeAsJSON(x.lastEvent()))
		}
	})
	runInVirtualTime(t, "unconfirmed delivery", func(t *testing.T) {
		r := twoPostBuyers()
		r.buyers, r.campaigns[0].filterSets = r.buyers[:1], r.campaigns[0].filterSets[:1]
		x := newExchange(t, r)
		x.buyers.scriptPosts("blue", serverError)
		answer := must.Value(x.ingest(leadRequest(1)))(t)
		time.Sleep(time.Hour)
		if err := x.engine.AsOperator("anna").ResolveUnconfirmedDelivery(answer.Lead, event.SettledConfirmed); err != nil || event.RequestingOperator(x.lastEvent()) != "anna" {
			t.Errorf("error %v, last event %s", err, event.DescribeAsJSON(x.lastEvent()))
		}
	})
}

package webhook_test

import (
	"testing"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/webhook"
)

func TestWebhookTriggeredBy(t *testing.T) {
	sale, post := event.Sale{Buyer: 1}, event.PostIntent{URL: "https://blue.example/v1/post"}
	for name, test := range map[string]struct {
		record   event.Event
		accepted bool
		want     market.WebhookType
	}{
		"recorded sale":               {&event.LeadDecided{Sale: sale}, false, market.WebhookPosted},
		"no buyer":                    {&event.LeadDecided{}, false, market.WebhookUnmatched},
		"intent":                      {&event.LeadDecided{Sale: sale, Post: post}, false, market.WebhookNone},
		"delivered":                   {&event.PostSettled{Settlement: event.SettledDelivered}, false, market.WebhookPosted},
		"delivered late":              {&event.PostSettled{Settlement: event.SettledDelivered}, true, market.WebhookPosted},
		"confirmed":                   {&event.PostSettled{Settlement: event.SettledConfirmed}, true, market.WebhookPosted},
		"refused":                     {&event.PostSettled{Settlement: event.SettledRefused}, false, market.WebhookUnmatched},
		"refused late":                {&event.PostSettled{Settlement: event.SettledRefused}, true, market.WebhookPostFailed},
		"refused, posted to the next": {&event.PostSettled{Settlement: event.SettledRefused, Next: sale, Post: post}, false, market.WebhookNone},
		"refused, recorded for next":  {&event.PostSettled{Settlement: event.SettledRefused, Next: sale}, false, market.WebhookPosted},
		"released":                    {&event.PostSettled{Settlement: event.SettledReleased}, true, market.WebhookPostFailed},
		"pending":                     {&event.PostSettled{Settlement: event.SettledPending}, false, market.WebhookNone},
		"unknown":                     {&event.PostSettled{Settlement: event.SettledUnknown}, true, market.WebhookNone},
		"resent":                      {&event.PostSettled{Settlement: event.SettledResent}, true, market.WebhookNone},
	} {
		if got := webhook.WebhookOfDecisionOrSettlement(test.record, test.accepted); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

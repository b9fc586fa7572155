package exchange

import (
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/outbound/webhook"
)

// beginHooks begins to tell suppliers what they are owed, from before the start
// too.
func (x *Exchange) startWebhooks() {
	x.webhookClient = webhook.NewClient(webhook.ClientOptions{Secrets: x.openSecret, TrustedNetworks: x.settings.TrustedNetworks})
	x.webhookSender = webhook.New(webhook.Options{
		Outbox: x.state, Engine: x.engine.Load(), Post: x.webhookClient.Post, Now: x.clock.Now, ReportFault: x.meter.Fault,
		MaxPerEndpoint: x.settings.Webhooks.InFlight, AttemptRate: x.webhookPace,
	})
}

// minWebhooksPerSecond is what suppliers are told in a second without any haste.
const minWebhooksPerSecond = 1250

// hookPace is how many webhooks may go out in a second: so many that leads do not
// notice, or, where more are owed, a fifth of them.
func (x *Exchange) webhookPace() int {
	return max(minWebhooksPerSecond, x.state.OutboxTotals().Pending/5)
}

// endHooks waits for the attempts under way, which end within a second.
func (x *Exchange) closeWebhooks() {
	if x.webhookSender != nil {
		x.webhookSender.Close()
		x.webhookClient.Close()
	}
}

// hookGauges shows of each supplier with a webhook whether it is switched off.
func (x *Exchange) addWebhookGauges(catalog *market.Catalog) {
	for id, supplier := range catalog.Suppliers {
		if supplier.Webhooks != nil {
			x.meter.HookGauge(string(id), func() bool {
				return x.state.OutboxStatus(x.state.RefOf(event.NameSupplier, string(id))).Off
			})
		}
	}
}

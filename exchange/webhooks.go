package exchange

import (
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/outbound/webhook"
)

// startWebhooks sends pending webhooks to suppliers, including those from before the
// start.
func (x *Exchange) startWebhooks() {
	x.webhookClient = webhook.NewClient(webhook.ClientOptions{Secrets: x.decryptSecret, TrustedNetworks: x.settings.TrustedNetworks})
	x.webhookSender = webhook.New(webhook.Options{
		Outbox: x.state, Engine: x.engine.Load(), Post: x.webhookClient.Post, Now: x.clock.Now, ReportFault: x.meter.ReportFault,
		MaxPerEndpoint: x.settings.Webhooks.InFlight, AttemptRate: x.webhookRate,
	})
}

// minWebhooksPerSecond is the rate that is always allowed.
const minWebhooksPerSecond = 1250

// webhookRate returns the allowed webhooks per second: a rate that does not slow leads
// down, or a fifth of the queue if that is more.
func (x *Exchange) webhookRate() int {
	return max(minWebhooksPerSecond, x.state.OutboxTotals().Pending/5)
}

// closeWebhooks waits for the current attempts, which end within a second.
func (x *Exchange) closeWebhooks() {
	if x.webhookSender != nil {
		x.webhookSender.Close()
		x.webhookClient.Close()
	}
}

// addWebhookGauges registers a metric per supplier with a webhook that shows whether it is
// switched off.
func (x *Exchange) addWebhookGauges(catalog *market.Catalog) {
	for id, supplier := range catalog.Suppliers {
		if supplier.Webhooks != nil {
			x.meter.AddWebhookOffGauge(string(id), func() bool {
				return x.state.OutboxStatus(x.state.RefOf(event.ObjectSupplier, string(id))).Off
			})
		}
	}
}

package exchange

import (
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/outbound/webhook"
)

// startWebhookSender starts to send webhooks to suppliers, including those that an earlier run of
// the exchange did not deliver.
func (x *Exchange) startWebhookSender() {
	x.webhookClient = webhook.NewClient(webhook.ClientOptions{Secrets: x.RevealSecret, TrustedNetworks: x.settings.TrustedNetworks})
	x.webhookSender = webhook.New(webhook.SenderOptions{
		Outbox: x.state, Engine: x.engine.Load(), Post: x.webhookClient.Post, Now: x.clock.Now, ReportFault: x.meter.ReportFault,
		MaxPerEndpoint: x.settings.Webhooks.InFlight, AttemptRate: x.webhookRateForBacklog,
	})
}

// minWebhooksPerSecond is the number of webhook attempts per second that the exchange always
// allows. It is low enough not to slow leads down.
const minWebhooksPerSecond = 1250

// webhookRateForBacklog returns how many webhook attempts per second the exchange may start now:
// minWebhooksPerSecond, or a fifth of the pending webhooks if that is more.
func (x *Exchange) webhookRateForBacklog() (attemptsPerSecond int) {
	return max(minWebhooksPerSecond, x.state.OutboxTotals().Pending/5)
}

// stopWebhookSender stops the sending of webhooks. It waits for the attempts in progress, which end
// within a second.
func (x *Exchange) stopWebhookSender() {
	if x.webhookSender != nil {
		x.webhookSender.Close()
		x.webhookClient.Close()
	}
}

// addWebhookGauges registers a metric for each supplier with a webhook. It shows whether the
// exchange has switched the webhook off.
func (x *Exchange) addWebhookGauges(catalog *market.Catalog) {
	for id, supplier := range catalog.Suppliers {
		if supplier.Webhooks != nil {
			x.meter.AddWebhookOffGauge(string(id), func() bool {
				return x.state.OutboxStatus(x.state.RefOf(event.ObjectSupplier, string(id))).Off
			})
		}
	}
}

package exchange

import (
	"log/slog"
	"time"

	"pingpost/config"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/internal/trace"
	httpdial "pingpost/outbound/dial"
	"pingpost/outbound/webhook"
	"pingpost/server/admin/oidc"
)

// startWebhookSender starts to send webhooks to suppliers, including those that an earlier run of
// the exchange did not deliver.
func (x *Exchange) startWebhookSender() {
	x.webhookClient = webhook.NewClient(webhook.ClientOptions{Secrets: x.RevealSecret, TrustedNetworks: x.settings.TrustedNetworks})
	x.webhookSender = webhook.New(webhook.SenderOptions{
		Outbox: x.state, Engine: x.engine.Load(), Post: x.webhookClient.Post, Now: x.clock.Now, ReportFault: x.meter.ReportFault,
		MaxPerEndpoint: x.settings.Webhooks.InFlight, AttemptRate: x.webhookRateForBacklog, AttemptTimeout: x.webhookAttemptTimeout,
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

// addWebhookSwitchedOffGauges registers a metric for each supplier with a webhook. It shows whether the
// exchange has switched the webhook off.
func (x *Exchange) addWebhookSwitchedOffGauges(catalog *market.Catalog) {
	for id, supplier := range catalog.Suppliers {
		if supplier.Webhooks != nil {
			x.meter.AddWebhookOffGauge(string(id), func() bool {
				return x.state.OutboxStatus(x.state.RefOf(event.ObjectSupplier, string(id))).Off
			})
		}
	}
}

// traceFlushTimeout limits how long a stop waits for the collector to accept the last
// traces.
const traceFlushTimeout = 2 * time.Second

// startTraceExportIfConfigured starts to send traces of requests to an OpenTelemetry collector, if the
// configuration names one. It also registers metrics of sent and lost traces.
func (x *Exchange) startTraceExportIfConfigured() {
	to := &x.settings.Traces
	if to.Endpoint == "" {
		return
	}
	t := trace.New(trace.Options{
		Endpoint: to.Endpoint, Headers: to.HTTPHeader(), Sample: to.Sample,
		Tenant: x.settings.Tenant, Version: x.options.Version, Logger: x.logger,
	})
	x.tracer = t
	x.meter.AddGauge(`pingpost_traces_exported_total`, func() float64 { return float64(t.ExportedTraces()) })
	x.meter.AddGauge(`pingpost_traces_dropped_total`, func() float64 { return float64(t.DroppedTraces()) })
}

const (
	providerTimeout     = 5 * time.Second // of one request to the identity provider
	maxProviderResponse = 1 << 20         // bytes
)

// newIdentityProvider returns the provider of admin.oidc, or nil if there is none. It sends no request,
// so a provider that is down does not delay the start.
func newIdentityProvider(settings *config.Settings, logger *slog.Logger) (providerOrNil *oidc.Provider) {
	o := &settings.OIDC
	if o.Issuer == "" {
		return nil
	}
	return oidc.NewProvider(oidc.Options{
		Issuer: o.Issuer, ClientID: o.ClientID, ClientSecret: o.ClientSecret.Reveal(), Label: o.Label, Scopes: o.Scopes,
		RolesClaim: o.RolesClaim, Roles: o.Roles, DefaultRole: o.DefaultRole, AllowedDomains: o.AllowedDomains, Now: time.Now, Logger: logger,
		Client: httpdial.NewStandardClient(httpdial.StandardClientOptions{TrustedNetworks: settings.TrustedNetworks, Timeout: providerTimeout, MaxResponse: maxProviderResponse}),
	})
}

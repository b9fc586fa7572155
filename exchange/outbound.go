package exchange

import (
	"log/slog"
	"net"
	"net/netip"
	"time"

	"pingpost/config"
	"pingpost/config/schema"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/internal/trace"
	httpdial "pingpost/outbound/dial"
	"pingpost/outbound/webhook"
	"pingpost/server/admin/oidc"
	"pingpost/server/instructions"
)

// startWebhookSender starts to send webhooks to suppliers, including those that an earlier run of
// the exchange did not deliver.
func (x *Exchange) startWebhookSender() {
	x.webhookClient = webhook.NewClient(webhook.ClientOptions{Secrets: x.RevealSecret, TrustedNetworks: x.settings.TrustedNetworks})
	x.webhookSender = webhook.New(webhook.SenderOptions{
		Outbox: x.state, Engine: x.engine.Load(), Post: x.postWebhookWhileDeciding, Now: x.clock.Now, ReportFault: x.meter.ReportFault,
		MaxPerEndpoint: x.settings.Webhooks.InFlight, AttemptRate: x.webhookRateForBacklog, AttemptTimeout: x.webhookAttemptTimeout,
	})
}

// postWebhookWhileDeciding makes one attempt to send a webhook. A node that may no longer decide sends
// nothing.
func (x *Exchange) postWebhookWhileDeciding(request *market.WebhookRequest) market.WebhookAttemptResult {
	if x.isClustered() && !x.waitUntilMayDecide(x.cluster.leaderships.Load(), request.Deadline) {
		return market.WebhookAttemptResult{Fault: market.FaultConnect}
	}
	return x.webhookClient.Post(request)
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
		x.webhookSender = nil
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

// PostingInstructions returns the publisher of posting instructions. It is nil until the keys are open.
func (x *Exchange) PostingInstructions() *instructions.Publisher { return x.instructions }

func (x *Exchange) newPostingInstructionPublisher() *instructions.Publisher {
	base, configured := x.settings.PublicURL, true
	if base == "" {
		base, configured = x.publicListenerURL(), false
	}
	return instructions.NewPublisher(x, &instructions.ExchangeSettings{
		BaseURL: base, BaseURLSet: configured, Sandbox: x.settings.Sandbox, BodyBytes: x.settings.Limits.Body,
		Idempotency: x.settings.Idempotency, PingIdempotency: x.settings.PingIdempotency,
		FormatDuration: func(d time.Duration) string { return schema.Duration(d).String() },
	}, x.vault.DeriveKey("instruction links"))
}

// publicListenerURL returns the address of the public listener as a URL. A listener on all addresses
// has none that others could use, so the host is then localhost.
func (x *Exchange) publicListenerURL() string {
	scheme := "http"
	if x.settings.TLS.IsSet() {
		scheme = "https"
	}
	host, port, err := net.SplitHostPort(x.PublicAddress())
	if err != nil {
		return scheme + "://" + x.PublicAddress()
	}
	if address, err := netip.ParseAddr(host); err == nil && address.IsUnspecified() {
		host = "localhost"
	}
	return scheme + "://" + net.JoinHostPort(host, port)
}

package exchange

import (
	"net"
	"net/netip"
	"sync/atomic"
	"time"

	"pingpost/exchange/alerting"
	"pingpost/outbound/notify"
	"pingpost/server/admin/alerts"
)

// alertRunner runs the alerts of an exchange while it serves.
type alertRunner struct {
	service    atomic.Pointer[alerting.Service] // nil while this node does not decide
	transport  *notify.Transport
	hasMetrics bool
}

// start begins to evaluate the alert rules and to send notifications, including those that an
// earlier run did not send. The first start also registers the metrics of alerts.
func (r *alertRunner) start(x *Exchange) {
	e := x.engine.Load()
	r.transport = notify.NewTransport(notify.TransportOptions{TrustedNetworks: x.settings.TrustedNetworks})
	service := alerting.New(alerting.Options{
		Sources: alerting.Sources{
			State: x.state, Catalog: e.ActiveCatalogOrNil, Counts: x.meter.ReadTradeCounts, Report: x.Report, BackupLag: x.backupLag, DiskFree: x.disk.free.Load,
		},
		Engine: e, Transport: r.transport, Now: x.clock.Now, Seal: x.Seal, Open: x.vault.OpenSecret, Tenant: x.settings.Tenant,
		ConsoleURL: x.consoleURLForLinksOrEmpty(), Logger: x.logger,
	})
	r.service.Store(service)
	if !r.hasMetrics {
		r.hasMetrics = true
		r.addMetrics(x)
	}
	service.Start()
}

func (r *alertRunner) addMetrics(x *Exchange) {
	x.meter.AddGauge(`pingpost_alerts_firing`, func() float64 { return float64(x.state.Alerts().FiringCount()) })
	totals := func(count func(alerts.ChannelCounts) uint64) func() float64 {
		return func() float64 {
			sum, service := uint64(0), r.service.Load()
			if service == nil {
				return 0
			}
			for _, h := range service.HealthByChannel() {
				sum += count(h.ChannelCounts)
			}
			return float64(sum)
		}
	}
	x.meter.AddGauge(`pingpost_alert_notifications_queued`, totals(func(c alerts.ChannelCounts) uint64 { return uint64(c.Queued) }))
	x.meter.AddGauge(`pingpost_alert_notifications_total{outcome="sent"}`, totals(func(c alerts.ChannelCounts) uint64 { return c.Sent }))
	x.meter.AddGauge(`pingpost_alert_notifications_total{outcome="failed"}`, totals(func(c alerts.ChannelCounts) uint64 { return c.Failed }))
	x.meter.AddGauge(`pingpost_alert_notifications_total{outcome="dropped"}`, totals(func(c alerts.ChannelCounts) uint64 { return c.Dropped }))
}

// close ends the evaluations and the sending of notifications. The next start sends the rest.
func (r *alertRunner) close() {
	if service := r.service.Swap(nil); service != nil {
		service.Close()
		r.transport.Close()
	}
}

// consoleURLForLinksOrEmpty returns the address of the console for links in e-mails and notifications,
// without a slash at its end: admin.public_url, or else the address of the admin listener. It is empty
// if that listener is on all addresses of the machine, because the exchange then knows no address for a
// link.
func (x *Exchange) consoleURLForLinksOrEmpty() string {
	if x.settings.AdminPublicURL != "" {
		return x.settings.AdminPublicURL
	}
	host, _, err := net.SplitHostPort(x.settings.AdminListen)
	if err != nil || host == "" {
		return ""
	}
	if address, err := netip.ParseAddr(host); err == nil && address.IsUnspecified() {
		return ""
	}
	_, port, err := net.SplitHostPort(x.AdminAddress()) // admin.listen may have port 0
	if err != nil {
		return ""
	}
	scheme := "http"
	if x.settings.AdminTLS.IsSet() {
		scheme = "https"
	}
	return scheme + "://" + net.JoinHostPort(host, port)
}

// Alerts returns the service that runs the alerts, or nil while the exchange starts or stops.
func (x *Exchange) Alerts() (serviceOrNil alerts.Service) {
	if x.EngineWhileReady() == nil {
		return nil
	}
	if service := x.alerts.service.Load(); service != nil {
		return service
	}
	return nil
}

// backupLag returns the age of the oldest data that the backup lacks, and the backup's last error.
// hasBackup is false if no backup is configured.
func (x *Exchange) backupLag() (lag time.Duration, lastError string, hasBackup bool) {
	if x.backupRunner.shipper == nil {
		return 0, "", false
	}
	status := x.backupRunner.shipper.Status()
	if status.Err != nil {
		lastError = status.Err.Error()
	}
	return status.Lag, lastError, true
}

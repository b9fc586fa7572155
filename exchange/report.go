package exchange

import (
	"context"
	"path/filepath"
	"sync/atomic"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/state"
	"pingpost/exchange/reportmail"
	"pingpost/report"
	"pingpost/report/projection"
	"pingpost/server/admin/savedreports"
	"pingpost/wal"
)

// backgroundReportBuilder builds the report on leads and revenue in the background. Requests never wait for
// it.
type backgroundReportBuilder struct {
	report *report.Report // nil if the report is off
	stop   context.CancelFunc
	ended  chan struct{}
}

// reportSource gives the report access to the log and to configured names through the report's
// own interface.
type reportSource struct {
	*state.State
	*wal.Log
}

// LogIdentity returns the ids of the exchange and of its log. If they change, the report must be built
// again from the beginning.
func (c reportSource) LogIdentity() report.LogIdentity {
	return report.LogIdentity{Exchange: c.FoundedEvent().Epoch, Epoch: c.Epoch()}
}

// NewReader reads the log from an entry on.
func (c reportSource) NewReader(from uint64) (report.LogReader, error) {
	reader, err := c.Log.NewReader(from)
	if err != nil {
		return nil, err
	}
	return reader, nil
}

// Report returns the report, or nil if it is off.
func (x *Exchange) Report() (reportOrNil *report.Report) { return x.reporter.report }

// startIfEnabled begins to read the log for the report in the background, if the configuration enables
// the report. It also registers the report's metrics.
func (r *backgroundReportBuilder) startIfEnabled(x *Exchange) {
	if x.settings.Report.Keep == 0 {
		return
	}
	hasher := x.newPersonHasher()
	r.report = report.New(report.Options{
		HashContact: func(lead *event.LeadDecided) []projection.ContactHash { return x.hashContact(hasher, lead) },

		Dir: filepath.Join(x.settings.DataDir, "report"), Source: reportSource{x.state, x.log}, Retention: x.settings.Report.Keep,
		HasDiskSpace: x.disk.hasSpaceForOptionalFiles, Now: func() time.Time { return time.Unix(0, x.clock.Now()) }, Logger: x.logger,
	})
	var ctx context.Context
	ctx, r.stop = context.WithCancel(context.Background())
	r.ended = make(chan struct{})
	go func() {
		defer close(r.ended)
		r.report.Run(ctx)
	}()
	x.meter.AddGauge(`pingpost_report_lag_seconds`, func() float64 { return r.report.ProgressStatus().Lag.Seconds() })
	x.meter.AddGauge(`pingpost_report_lag_entries`, func() float64 { return float64(r.report.ProgressStatus().LagEntries) })
	x.meter.AddGauge(`pingpost_report_errors_total`, func() float64 { return float64(r.report.ProgressStatus().Errors) })
	x.meter.AddGauge(`pingpost_report_rebuilds_total`, func() float64 { return float64(r.report.ProgressStatus().Rebuilds) })
}

// close stops the report and waits until it has ended. The next start continues where it
// stopped.
func (r *backgroundReportBuilder) close() {
	if r.report != nil {
		r.stop()
		<-r.ended
	}
}

// reportMailRunner sends the saved reports of an exchange while it serves.
type reportMailRunner struct {
	service atomic.Pointer[reportmail.Service] // nil while this node does not decide
}

// start begins to send the saved reports at the moments of their schedules. It needs the alerts, whose
// first e-mail channel has the SMTP server.
func (r *reportMailRunner) start(x *Exchange) {
	e := x.engine.Load()
	composer := &reportmail.Composer{Report: x.Report, Zone: x.zone, Tenant: x.settings.Tenant, Epoch: x.state.FoundedEvent().Epoch, ConsoleURL: x.consoleURLForLinksOrEmpty()}
	service := reportmail.New(reportmail.Options{
		Table: x.state.SavedReports(),
		SetReport: func(by, id string, document []byte) error {
			return e.AsOperator(by).SetOrRemoveSavedReport(id, document)
		},
		RecordMail: e.RecordReportMail,
		Compose:    composer.Compose,
		Sender:     x.alerts.service.Load().FirstEmailChannelSender,
		ChannelID: func() string {
			if channel := x.state.Alerts().Settings().FirstEnabledEmailChannel(); channel != nil {
				return channel.ID
			}
			return ""
		},
		Send: x.alerts.transport.SendMail, Now: x.clock.Now, Zone: x.zone, Logger: x.logger,
	})
	r.service.Store(service)
	service.Start()
}

// close ends the sending. The next start sends the moments without a result.
func (r *reportMailRunner) close() {
	if service := r.service.Swap(nil); service != nil {
		service.Close()
	}
}

// SavedReports returns the service that sends saved reports, or nil while the exchange starts or stops.
func (x *Exchange) SavedReports() (serviceOrNil savedreports.Service) {
	if x.EngineWhileReady() == nil {
		return nil
	}
	if service := x.reportMail.service.Load(); service != nil {
		return service
	}
	return nil
}

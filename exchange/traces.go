package exchange

import (
	"time"

	"pingpost/internal/trace"
)

// traceFlushTimeout limits how long a stop waits for the collector to accept the last
// traces.
const traceFlushTimeout = 2 * time.Second

// startTraces starts to send traces of requests to an OpenTelemetry collector, if the
// configuration names one. It also registers metrics of sent and lost traces.
func (x *Exchange) startTraces() {
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

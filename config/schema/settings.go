package schema

import (
	"time"

	"pingpost/engine/market"
)

// ProcessLimitSettings are the limits of the process and of its listeners. The limits of a single supplier
// or buyer are in its own entry.
type ProcessLimitSettings struct {
	Body          *ByteSize `json:"body"`             // of a request
	Answer        *ByteSize `json:"answer"`           // of a buyer's answer
	Header        *ByteSize `json:"header"`           // of a request, all of its lines
	Connections   *int      `json:"connections"`      // open at once
	MaxConnsPerIP *int      `json:"max_conns_per_ip"` // open at once from one address
	AuthFailures  *int      `json:"auth_failures"`    // wrong credentials per second from one address
	Documents     *int      `json:"documents"`        // API documents sent per second to one address
	ReadTimeout   *Duration `json:"read_timeout"`     // for a request to arrive
	WriteTimeout  *Duration `json:"write_timeout"`    // for an answer to leave
	IdleTimeout   *Duration `json:"idle_timeout"`     // of a connection between requests
}

// MaxBody leaves room in a log entry for a lead twice (its fields may have other names
// the second time) and for the decision.
const MaxBody = 400 * KiB

func (l *ProcessLimitSettings) fillDefaults() {
	l.Body = orPointerTo(l.Body, 64*KiB)
	l.Answer = orPointerTo(l.Answer, 64*KiB)
	l.Header = orPointerTo(l.Header, 16*KiB)
	l.Connections = orPointerTo(l.Connections, 10_000)
	l.MaxConnsPerIP = orPointerTo(l.MaxConnsPerIP, 1_000)
	l.AuthFailures = orPointerTo(l.AuthFailures, 100)
	l.Documents = orPointerTo(l.Documents, 50)
	l.ReadTimeout = l.ReadTimeout.orDefault(10 * time.Second)
	l.WriteTimeout = l.WriteTimeout.orDefault(10 * time.Second)
	l.IdleTimeout = l.IdleTimeout.orDefault(time.Minute)
}

// ReportRetentionSettings says how long the operators' report keeps its sums.
type ReportRetentionSettings struct {
	Keep *Duration `json:"keep"` // retention; 0: no report; default 90 days
}

func (r *ReportRetentionSettings) fillDefaults() { r.Keep = r.Keep.orDefault(90 * Day) }

// TLS names the certificate file (with its chain) and the key file of a listener, both
// in PEM and relative to the document's file.
type TLS struct {
	Cert string `json:"cert"`
	Key  string `json:"key"`
}

// TraceSettings configures the export of request traces.
type TraceSettings struct {
	Endpoint OutboundURL            `json:"endpoint"` // of a collector for OTLP over HTTP; /v1/traces is added
	Sample   *Share                 `json:"sample"`   // of the requests without a sampling decision of the caller
	Headers  []TraceCollectorHeader `json:"headers,omitempty"`
}

// TraceCollectorHeader is a header that the collector needs, such as a credential.
type TraceCollectorHeader struct {
	Name  string `json:"name"`
	Value Secret `json:"value,omitzero"`
}

// defaultSample is one request in a hundred.
const defaultSample = market.WholeShare / 100

func (t *TraceSettings) fillDefaults() {
	if t != nil {
		t.Sample = orPointerTo(t.Sample, Share(defaultSample))
	}
}

// WebhookConcurrencyPerEndpoint limits the concurrent attempts to each endpoint, for the webhooks of
// all suppliers.
type WebhookConcurrencyPerEndpoint struct {
	InFlight *int `json:"in_flight"` // concurrent attempts to one endpoint
}

func (w *WebhookConcurrencyPerEndpoint) fillDefaults() { w.InFlight = orPointerTo(w.InFlight, 8) }

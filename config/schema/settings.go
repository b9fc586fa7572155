package schema

import (
	"time"

	"pingpost/engine/market"
)

// Limits are those of the process and its addresses. The limits of one supplier
// or buyer stand beside it.
type Limits struct {
	Body          *Size     `json:"body"`             // of a request
	Answer        *Size     `json:"answer"`           // of a buyer's answer
	Header        *Size     `json:"header"`           // of a request, all of its lines
	Connections   *int      `json:"connections"`      // open at once
	MaxConnsPerIP *int      `json:"max_conns_per_ip"` // open at once from one address
	AuthFailures  *int      `json:"auth_failures"`    // wrong credentials a second from one address
	Documents     *int      `json:"documents"`        // API documents a second that one address is sent
	ReadTimeout   *Duration `json:"read_timeout"`     // for a request to arrive
	WriteTimeout  *Duration `json:"write_timeout"`    // for an answer to leave
	IdleTimeout   *Duration `json:"idle_timeout"`     // of a connection between requests
}

// MaxBody leaves room in an entry of the log for a lead twice, under other names
// for its fields, and for the decision.
const MaxBody = 400 * KiB

func (l *Limits) fill() {
	l.Body = valueOr(l.Body, 64*KiB)
	l.Answer = valueOr(l.Answer, 64*KiB)
	l.Header = valueOr(l.Header, 16*KiB)
	l.Connections = valueOr(l.Connections, 10_000)
	l.MaxConnsPerIP = valueOr(l.MaxConnsPerIP, 1_000)
	l.AuthFailures = valueOr(l.AuthFailures, 100)
	l.Documents = valueOr(l.Documents, 10)
	l.ReadTimeout = l.ReadTimeout.orDefault(10 * time.Second)
	l.WriteTimeout = l.WriteTimeout.orDefault(10 * time.Second)
	l.IdleTimeout = l.IdleTimeout.orDefault(time.Minute)
}

// Report is what operators' reports are made from.
type Report struct {
	Keep *Duration `json:"keep"` // how long; 0: there is none; 90 days by default
}

func (r *Report) fill() { r.Keep = r.Keep.orDefault(90 * Day) }

// TLS is by which files an address speaks TLS: the certificate with its chain, and
// its key, both as PEM, relative to the document's file.
type TLS struct {
	Cert string `json:"cert"`
	Key  string `json:"key"`
}

// Traces is where traces of requests are sent, and of how many.
type Traces struct {
	Endpoint Address       `json:"endpoint"` // of a collector that takes OTLP over HTTP; /v1/traces is added
	Sample   *Share        `json:"sample"`   // of the requests whose callers have not decided it themselves
	Headers  []TraceHeader `json:"headers,omitempty"`
}

// TraceHeader is one that the collector wants, such as a credential.
type TraceHeader struct {
	Name  string `json:"name"`
	Value Secret `json:"value,omitzero"`
}

// defaultSample is one request in a hundred.
const defaultSample = market.WholeShare / 100

func (t *Traces) fill() {
	if t != nil {
		t.Sample = valueOr(t.Sample, Share(defaultSample))
	}
}

// Webhooks are settings of what is told to all suppliers.
type Webhooks struct {
	InFlight *int `json:"in_flight"` // attempts under way to one endpoint
}

func (w *Webhooks) fill() { w.InFlight = valueOr(w.InFlight, 8) }

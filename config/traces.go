package config

import (
	"net/http"
	"net/netip"
	"strings"

	"pingpost/engine/market"
)

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

// usualSample is one request in a hundred.
const usualSample = market.WholeShare / 100

func (t *Traces) fill() {
	if t != nil {
		t.Sample = given(t.Sample, Share(usualSample))
	}
}

// TraceSettings are the same, judged. Without an endpoint nothing is traced.
type TraceSettings struct {
	Endpoint string        `key:"traces.endpoint"`
	Sample   market.Share  `key:"traces.sample"`
	Headers  []TraceHeader `key:"traces.headers"`
}

// Header is what goes with each batch.
func (t *TraceSettings) Header() http.Header {
	header := make(http.Header, len(t.Headers))
	for _, h := range t.Headers {
		if h.Value.Reveal() != "" {
			header.Set(h.Name, h.Value.Reveal())
		}
	}
	return header
}

// traces judges where traces go. Plain http is allowed to anywhere, unlike to buyers: what is
// sent has no person in it. With headers it is warned of.
func (c *compiler) traces(at place, t *Traces) TraceSettings {
	if t == nil {
		return TraceSettings{}
	}
	if t.Endpoint == "" {
		c.fail(at.key("endpoint"), "is missing; give the collector's address, such as http://127.0.0.1:4318, or leave traces out")
		return TraceSettings{}
	}
	endpoint, complete := c.settingAddress(at.key("endpoint"), t.Endpoint)
	if !complete {
		return TraceSettings{}
	}
	to, ok := c.location(at.key("endpoint"), endpoint, true)
	if ok && (to.RawQuery != "" || to.ForceQuery) {
		c.fail(at.key("endpoint"), "has a query (?…), but a path is added to it; give what it says as a header")
	}
	if ok && len(t.Headers) > 0 && to.Scheme == "http" && !isLoopback(to.Hostname()) {
		c.warn(at.key("endpoint"), "is plain http, and who listens on the way can read the headers; use https")
	}
	if len(t.Headers) > maxHeaders {
		c.fail(at.key("headers"), "are over 16; no collector needs more")
	}
	seen := make(map[string]place)
	for i, h := range t.Headers {
		here := at.key("headers").at(i)
		c.once(here.key("name"), seen, strings.ToLower(h.Name))
		c.header(here.key("name"), h.Name)
		c.needed(here.key("value"), h.Value)
		c.lacks(here.key("value"), Kept{})
		if value := h.Value.Reveal(); len(value) > maxHeaderValue || strings.ContainsFunc(value, notInLine) || strings.TrimSpace(value) != value {
			c.fail(here.key("value"), "is not a header's value; give one line of printable ASCII")
		}
	}
	return TraceSettings{Endpoint: endpoint, Sample: market.Share(*t.Sample), Headers: t.Headers}
}

// isLoopback tells whether a host is this machine.
func isLoopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && address.Unmap().IsLoopback()
}

package config

import (
	"net/netip"
	"strings"

	"pingpost/config/schema"
	"pingpost/config/syntax"
	"pingpost/engine/market"
)

// compileTraces judges where traces go. Plain http is allowed to anywhere, unlike to buyers: what is
// sent has no person in it. With headers it is warned of.
func (c *compiler) compileTraces(at syntax.Path, t *schema.Traces) TraceSettings {
	if t == nil {
		return TraceSettings{}
	}
	if t.Endpoint == "" {
		c.report(at.Key("endpoint"), "is missing; give the collector's address, such as http://127.0.0.1:4318, or leave traces out")
		return TraceSettings{}
	}
	endpoint, complete := c.settingAddress(at.Key("endpoint"), t.Endpoint)
	if !complete {
		return TraceSettings{}
	}
	to, ok := c.parseURL(at.Key("endpoint"), endpoint, true)
	if ok && (to.RawQuery != "" || to.ForceQuery) {
		c.report(at.Key("endpoint"), "has a query (?…), but a path is added to it; give what it says as a header")
	}
	if ok && len(t.Headers) > 0 && to.Scheme == "http" && !isLoopback(to.Hostname()) {
		c.warn(at.Key("endpoint"), "is plain http, and who listens on the way can read the headers; use https")
	}
	if len(t.Headers) > maxHeaders {
		c.report(at.Key("headers"), "are over 16; no collector needs more")
	}
	seen := make(map[string]syntax.Path)
	for i, h := range t.Headers {
		here := at.Key("headers").Index(i)
		c.checkUnique(here.Key("name"), seen, strings.ToLower(h.Name))
		c.checkHeaderName(here.Key("name"), h.Name)
		c.requireSecret(here.Key("value"), h.Value)
		c.noteUnset(here.Key("value"), UnsetVariable{})
		if value := h.Value.Reveal(); len(value) > maxHeaderValue || strings.ContainsFunc(value, isOutsideLine) || strings.TrimSpace(value) != value {
			c.report(here.Key("value"), "is not a header's value; give one line of printable ASCII")
		}
	}
	return TraceSettings{Endpoint: endpoint, Sample: market.Share(*t.Sample), Headers: t.Headers}
}

// isLoopback tells whether a host is this machine.
func isLoopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && address.Unmap().IsLoopback()
}

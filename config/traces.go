package config

import (
	"net/netip"
	"strings"

	"pingpost/config/schema"
	"pingpost/config/syntax"
	"pingpost/engine/market"
)

// compileTraces checks the address of the collector that receives the traces. Unlike buyers'
// addresses it may be plain http everywhere, because traces contain no personal data. Headers
// over plain http to another machine cause a warning.
func (c *compiler) compileTraces(at syntax.KeyPath, t *schema.TraceSettings) TraceSettings {
	if t == nil {
		return TraceSettings{}
	}
	if t.Endpoint == "" {
		c.reportMistake(at.Key("endpoint"), "is missing; give the collector's address, such as http://127.0.0.1:4318, or remove traces")
		return TraceSettings{}
	}
	endpoint, complete := c.expandSettingAddress(at.Key("endpoint"), t.Endpoint)
	if !complete {
		return TraceSettings{}
	}
	to, ok := c.parseAndCheckURL(at.Key("endpoint"), endpoint, true)
	if ok && (to.RawQuery != "" || to.ForceQuery) {
		c.reportMistake(at.Key("endpoint"), "has a query (?…), but a path is added to the address; send its values as headers")
	}
	if ok && len(t.Headers) > 0 && to.Scheme == "http" && !isLoopback(to.Hostname()) {
		c.addWarning(at.Key("endpoint"), "is plain http, so others on the network can read the headers; use https")
	}
	if len(t.Headers) > maxHeaders {
		c.reportMistake(at.Key("headers"), "are more than 16; remove some")
	}
	seen := make(map[string]syntax.KeyPath)
	for i, h := range t.Headers {
		here := at.Key("headers").Index(i)
		c.checkUnique(here.Key("name"), seen, strings.ToLower(h.Name))
		c.checkHeaderName(here.Key("name"), h.Name)
		c.requireSecret(here.Key("value"), h.Value)
		c.recordIfUnset(here.Key("value"), UnsetEnvironmentVariable{})
		if value := h.Value.Reveal(); len(value) > maxHeaderValue || strings.ContainsFunc(value, isNotPrintableASCII) || strings.TrimSpace(value) != value {
			c.reportMistake(here.Key("value"), "is not a header's value; give one line of printable ASCII")
		}
	}
	return TraceSettings{Endpoint: endpoint, Sample: market.ShareInMillionths(*t.Sample), Headers: t.Headers}
}

// isLoopback reports whether host is this machine: localhost or a loopback address.
func isLoopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && address.Unmap().IsLoopback()
}

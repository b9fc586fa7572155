package config

import (
	"net"
	"net/netip"
	"path/filepath"
	"strconv"
	"time"
)

// Settings is what the process needs beside the catalog. Each field has the key by which
// the document knows it, and whether a change of it takes effect at once; else it does at
// the next start.
type Settings struct {
	DataDir         string         `key:"data_dir"` // absolute, or relative to the working directory where the file's path was
	Listen          string         `key:"listen"`
	TLS             TLSSettings    `key:"tls"` // of Listen
	AdminListen     string         `key:"admin.listen"`
	AdminTLS        TLSSettings    `key:"admin.tls"`
	AdminPassword   Secret         `key:"admin.password"`
	TrustedProxies  []netip.Prefix `key:"trusted_proxies" effect:"at once"`
	TrustedNetworks []netip.Prefix `key:"trusted_networks"`
	Tenant          string         `key:"tenant"`
	Sandbox         bool           `key:"sandbox"`
	History         time.Duration  `key:"history"`
	Idempotency     time.Duration  `key:"idempotency"`
	PingIdempotency time.Duration  `key:"ping_idempotency"` // how long a ping's answer and its name are kept
	TokenLifetime   time.Duration  `key:"token_lifetime"`
	Limits          LimitSettings
	Webhooks        WebhookSettings
	Report          ReportSettings
	Traces          TraceSettings
}

// LimitSettings are the limits in bytes, connections and time.
type LimitSettings struct {
	Body          int           `key:"limits.body"`
	Answer        int           `key:"limits.answer"`
	Header        int           `key:"limits.header"`
	Connections   int           `key:"limits.connections"`
	MaxConnsPerIP int           `key:"limits.max_conns_per_ip"`
	AuthFailures  int           `key:"limits.auth_failures"` // a second, from one address
	Documents     int           `key:"limits.documents"`     // a second, to one address
	ReadTimeout   time.Duration `key:"limits.read_timeout"`
	WriteTimeout  time.Duration `key:"limits.write_timeout"`
	IdleTimeout   time.Duration `key:"limits.idle_timeout"`
}

func (c *compiler) settings(d *Document) {
	c.id("tenant", d.Tenant)
	c.address("listen", d.Listen)
	c.address("admin.listen", d.Admin.Listen)
	if _, port, err := net.SplitHostPort(d.Listen); err == nil && d.Listen == d.Admin.Listen && port != "0" {
		c.fail("admin.listen", "is the same address as listen; the admin API needs its own")
	}
	if len(d.Admin.Password.Reveal()) > maxSecret {
		c.fail("admin.password", "is over 4096 bytes; shorten it")
	}
	c.lacks("admin.password", Kept{})
	c.spanIn("history", d.History, day, 3650*day)
	c.spanIn("idempotency", d.Idempotency, time.Hour, 3650*day)
	c.spanIn("ping_idempotency", d.PingKeys, time.Minute, 3650*day)
	c.spanIn("token_lifetime", d.TokenLifetime, time.Minute, 30*day)
	if d.History.span() < d.Idempotency.span() {
		c.fail("history", "is shorter than idempotency ("+d.Idempotency.String()+"), but keys are rebuilt from the log; raise history or lower idempotency")
	}
	if d.History.span() < d.PingKeys.span() {
		c.fail("history", "is shorter than ping_idempotency ("+d.PingKeys.String()+"), but what a ping was answered is read back from the log; raise history or lower ping_idempotency")
	}
	c.networks = c.prefixes("trusted_networks", d.TrustedNetworks)
	c.admin(d)
	c.out.Settings = Settings{
		DataDir:         c.source.resolve(d.DataDir),
		Listen:          d.Listen,
		TLS:             c.tls("tls", d.TLS),
		AdminListen:     d.Admin.Listen,
		AdminTLS:        c.tls("admin.tls", d.Admin.TLS),
		AdminPassword:   d.Admin.Password,
		TrustedProxies:  c.prefixes("trusted_proxies", d.TrustedProxies),
		TrustedNetworks: c.networks,
		Tenant:          d.Tenant,
		Sandbox:         d.Sandbox,
		History:         d.History.span(),
		Idempotency:     d.Idempotency.span(),
		PingIdempotency: d.PingKeys.span(),
		TokenLifetime:   d.TokenLifetime.span(),
		Limits:          c.limits("limits", &d.Limits),
		Webhooks:        c.webhooks("webhooks", &d.Webhooks),
		Report:          c.report("report", &d.Report),
		Traces:          c.traces("traces", d.Traces),
	}
}

// resolve is a path of the document, which is relative to the document's file.
func (s *Source) resolve(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(filepath.Dir(s.Path), path)
}

func (c *compiler) address(at place, text string) {
	host, port, err := net.SplitHostPort(text)
	number, portErr := strconv.ParseUint(port, 10, 16)
	if err != nil || portErr != nil || number > 65535 || len(host) > 253 {
		c.fail(at, "is not an address to listen on; write host:port, such as 127.0.0.1:8080 or [::1]:8080")
	}
}

func (c *compiler) prefixes(at place, list []string) []netip.Prefix {
	var out []netip.Prefix
	for i, text := range list {
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			address, addressErr := netip.ParseAddr(text)
			if addressErr != nil || address.Zone() != "" {
				c.fail(at.at(i), "is no network; write such as 10.0.0.0/8, or one address")
				continue
			}
			address = address.Unmap()
			prefix = netip.PrefixFrom(address, address.BitLen())
		}
		if prefix != prefix.Masked() {
			c.fail(at.at(i), "has bits past the network's own; write it as its first address and its length, such as 10.0.0.0/8")
			continue
		}
		out = append(out, prefix)
	}
	return out
}

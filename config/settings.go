package config

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"pingpost/config/schema"
	"pingpost/config/syntax"
	"pingpost/engine/market"
)

// Settings configure the process: everything in a document that is not in the catalog of
// suppliers, buyers and campaigns. The tags give each field's key in the document, and
// whether a change takes effect at once or at the next start.
type Settings struct {
	DataDir         string        `key:"data_dir"` // absolute, or relative to the working directory if the file's path is
	Listen          string        `key:"listen"`
	TLS             TLSSettings   `key:"tls"` // for Listen
	AdminListen     string        `key:"admin.listen"`
	AdminTLS        TLSSettings   `key:"admin.tls"`
	AdminPassword   schema.Secret `key:"admin.password"`
	AdminPublicURL  string        `key:"admin.public_url"` // of AdminListen, without a slash at the end; empty: not configured
	RequireTOTP     bool          `key:"admin.require_totp"`
	OIDC            OIDCSettings
	PublicURL       string         `key:"public_url"` // of Listen, without a slash at the end; empty: not configured
	TrustedProxies  []netip.Prefix `key:"trusted_proxies" effect:"at once"`
	TrustedNetworks []netip.Prefix `key:"trusted_networks"`
	TimeZone        string         `key:"time_zone"` // IANA name, of days in reports; empty: UTC
	Tenant          string         `key:"tenant"`
	Sandbox         bool           `key:"sandbox"`
	Enforce         bool           `key:"provisioning"` // the document's entries replace those of the exchange
	Cluster         ClusterSettings
	History         time.Duration `key:"history"`
	Idempotency     time.Duration `key:"idempotency"`
	PingIdempotency time.Duration `key:"ping_idempotency"` // retention of a ping's answer and key
	HotFor          time.Duration `key:"hot_for"`          // time in memory after a lead's decision
	TokenLifetime   time.Duration `key:"token_lifetime"`
	Limits          ServerLimitSettings
	Webhooks        WebhookConcurrencyPerEndpoint
	Report          ReportRetentionSettings
	Traces          TraceSettings
}

// ReportZone returns the time zone of the setting time_zone.
func (s *Settings) ReportZone() *time.Location {
	if zone, err := time.LoadLocation(s.TimeZone); err == nil {
		return zone
	}
	return time.UTC // an unknown name is a mistake, so no compiled document has one
}

// ServerLimitSettings are the limits in bytes, connections and time.
type ServerLimitSettings struct {
	Body          int           `key:"limits.body"`
	Answer        int           `key:"limits.answer"`
	Header        int           `key:"limits.header"`
	Connections   int           `key:"limits.connections"`
	MaxConnsPerIP int           `key:"limits.max_conns_per_ip"`
	AuthFailures  int           `key:"limits.auth_failures"` // per second, from one address
	Documents     int           `key:"limits.documents"`     // per second, to one address
	ReadTimeout   time.Duration `key:"limits.read_timeout"`
	WriteTimeout  time.Duration `key:"limits.write_timeout"`
	IdleTimeout   time.Duration `key:"limits.idle_timeout"`
}

func (c *compiler) compileSettings(d *schema.Document) {
	c.checkID("tenant", d.Tenant)
	c.checkListenAddress("listen", d.Listen)
	c.checkListenAddress("admin.listen", d.Admin.Listen)
	if _, port, err := net.SplitHostPort(d.Listen); err == nil && d.Listen == d.Admin.Listen && port != "0" {
		c.reportMistake("admin.listen", "is the same address as listen; the admin API needs its own")
	}
	if len(d.Admin.Password.Reveal()) > schema.MaxSecret {
		c.reportMistake("admin.password", "is longer than 4096 bytes; shorten it")
	}
	c.recordIfUnset("admin.password", UnsetEnvironmentVariable{})
	c.checkPublicURL("public_url", d.PublicURL)
	c.checkAdminPublicURL("admin.public_url", d.Admin.PublicURL)
	if d.TimeZone != "" {
		c.loadTimeZoneOrUTC("time_zone", d.TimeZone)
	}
	if d.Provisioning != schema.ProvisioningSeed && d.Provisioning != schema.ProvisioningEnforce {
		c.reportMistake("provisioning", "is not seed or enforce; write one of them")
	}
	c.checkDurationRange("history", d.History, schema.Day, 3650*schema.Day)
	c.checkDurationRange("idempotency", d.Idempotency, time.Hour, 3650*schema.Day)
	c.checkDurationRange("ping_idempotency", d.PingKeys, time.Minute, 3650*schema.Day)
	if d.HotFor != nil {
		c.checkDurationRange("hot_for", d.HotFor, time.Second, 3650*schema.Day)
	}
	c.checkDurationRange("token_lifetime", d.TokenLifetime, time.Minute, 30*schema.Day)
	if d.History.OrZero() < d.Idempotency.OrZero() {
		c.reportMistake("history", "is shorter than idempotency ("+d.Idempotency.String()+"), but the exchange rebuilds keys from the log; raise history or lower idempotency")
	}
	if d.History.OrZero() < d.PingKeys.OrZero() {
		c.reportMistake("history", "is shorter than ping_idempotency ("+d.PingKeys.String()+"), but the exchange reads the answers to pings from the log; raise history or lower ping_idempotency")
	}
	c.networks = c.compileNetworks("trusted_networks", d.TrustedNetworks)
	c.warnWeakAdminAccess(d)
	c.out.Settings = Settings{
		DataDir:         c.source.resolvePath(d.DataDir),
		Listen:          d.Listen,
		TLS:             c.compileTLS("tls", d.TLS),
		AdminListen:     d.Admin.Listen,
		AdminTLS:        c.compileTLS("admin.tls", d.Admin.TLS),
		AdminPassword:   d.Admin.Password,
		AdminPublicURL:  strings.TrimRight(d.Admin.PublicURL, "/"),
		RequireTOTP:     d.Admin.RequireTOTP,
		OIDC:            c.compileOIDC("admin.oidc", d.Admin.OIDC),
		PublicURL:       strings.TrimRight(d.PublicURL, "/"),
		TrustedProxies:  c.compileNetworks("trusted_proxies", d.TrustedProxies),
		TrustedNetworks: c.networks,
		TimeZone:        d.TimeZone,
		Tenant:          d.Tenant,
		Sandbox:         d.Sandbox,
		Enforce:         d.Provisioning == schema.ProvisioningEnforce,
		Cluster:         c.compileCluster("cluster", d),
		History:         d.History.OrZero(),
		Idempotency:     d.Idempotency.OrZero(),
		PingIdempotency: d.PingKeys.OrZero(),
		HotFor:          schema.DefaultHotFor,
		TokenLifetime:   d.TokenLifetime.OrZero(),
		Limits:          c.compileLimits("limits", &d.Limits),
		Webhooks:        c.compileWebhookConcurrency("webhooks", &d.Webhooks),
		Report:          c.compileReport("report", &d.Report),
		Traces:          c.compileTraces("traces", d.Traces),
	}
	if d.HotFor != nil {
		c.out.Settings.HotFor = d.HotFor.OrZero()
	}
}

// resolvePath returns the path of a file that the document names. A relative path begins in the folder
// of the document's file; an absolute one stays.
func (s *ParsedDocument) resolvePath(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(filepath.Dir(s.Path), path)
}

// checkListenAddress reports a text that is not host:port.
func (c *compiler) checkListenAddress(at syntax.KeyPath, text string) {
	host, port, err := net.SplitHostPort(text)
	number, portErr := strconv.ParseUint(port, 10, 16)
	if err != nil || portErr != nil || number > 65535 || len(host) > 253 {
		c.reportMistake(at, "is not an address to listen on; write host:port, such as 127.0.0.1:8080 or [::1]:8080")
	}
}

const maxPublicURL = 500

// checkPublicURL reports a text that is not the base of the exchange's public addresses. Links and
// instructions for suppliers begin with it, so a query or a fragment would break them.
func (c *compiler) checkPublicURL(at syntax.KeyPath, text string) {
	if text == "" {
		return
	}
	u, ok := parsePublicURL(text)
	switch {
	case !ok:
		c.reportMistake(at, "is not an address; write the one under which suppliers reach the exchange, such as https://leads.example.com")
	case u.User != nil || u.RawQuery != "" || u.ForceQuery || strings.Contains(text, "#"):
		c.reportMistake(at, "has a user, a query or a fragment; write only scheme, host and, behind a proxy, the path in front of /api/v1")
	}
}

// checkAdminPublicURL reports a text that is not the scheme and the host of the operators' address. The
// console is at the root of its address, so there is no path in front of it.
func (c *compiler) checkAdminPublicURL(at syntax.KeyPath, text string) {
	if text == "" {
		return
	}
	u, ok := parsePublicURL(text)
	switch {
	case !ok:
		c.reportMistake(at, "is not an address; write the one under which operators reach the console, such as https://console.example.com")
	case u.User != nil || u.RawQuery != "" || u.ForceQuery || strings.Contains(text, "#") || strings.Trim(u.Path, "/") != "":
		c.reportMistake(at, "has a user, a path, a query or a fragment; write only scheme and host, such as https://console.example.com")
	}
}

// parsePublicURL parses an absolute address of HTTP. It has no characters that a link in a text, a page
// or a command would have to quote.
func parsePublicURL(text string) (u *url.URL, ok bool) {
	u, err := url.Parse(text)
	return u, err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Hostname() != "" && len(text) <= maxPublicURL &&
		!strings.ContainsFunc(text, isNotPrintableASCII) && !strings.ContainsAny(text, " \"<>\\'`")
}

// compileNetworks parses networks and single addresses. It reports and omits invalid ones.
func (c *compiler) compileNetworks(at syntax.KeyPath, list []string) []netip.Prefix {
	var out []netip.Prefix
	for i, text := range list {
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			address, addressErr := netip.ParseAddr(text)
			if addressErr != nil || address.Zone() != "" {
				c.reportMistake(at.Index(i), "is not a network; write for example 10.0.0.0/8, or one address")
				continue
			}
			address = address.Unmap()
			prefix = netip.PrefixFrom(address, address.BitLen())
		}
		if prefix != prefix.Masked() {
			c.reportMistake(at.Index(i), "has bits after the network's prefix; write the first address and the length, such as 10.0.0.0/8")
			continue
		}
		out = append(out, prefix)
	}
	return out
}

func (c *compiler) compileLimits(at syntax.KeyPath, l *schema.ProcessLimitSettings) ServerLimitSettings {
	if *l.Body > schema.MaxBody {
		c.reportMistake(at.Key("body"), fmt.Sprintf("is larger than %s: one log entry holds the lead as received and as posted, "+
			"and an entry is at most 1MiB; give %s to %s", schema.MaxBody, schema.KiB, schema.MaxBody))
	} else {
		c.checkSizeRange(at.Key("body"), *l.Body, schema.KiB, schema.MaxBody)
	}
	c.checkSizeRange(at.Key("answer"), *l.Answer, schema.KiB, 16*schema.MiB)
	c.checkSizeRange(at.Key("header"), *l.Header, schema.KiB, schema.MiB)
	c.checkIntRange(at.Key("connections"), *l.Connections, 1, 1_000_000)
	c.checkIntRange(at.Key("max_conns_per_ip"), *l.MaxConnsPerIP, 1, 1_000_000)
	c.checkIntRange(at.Key("auth_failures"), *l.AuthFailures, 1, 1_000_000)
	c.checkIntRange(at.Key("documents"), *l.Documents, 1, 1_000_000)
	c.checkDurationRange(at.Key("read_timeout"), l.ReadTimeout, 100*time.Millisecond, time.Hour)
	c.checkDurationRange(at.Key("write_timeout"), l.WriteTimeout, 100*time.Millisecond, time.Hour)
	c.checkDurationRange(at.Key("idle_timeout"), l.IdleTimeout, 100*time.Millisecond, schema.Day)
	return ServerLimitSettings{
		Body:          int(*l.Body),
		Answer:        int(*l.Answer),
		Header:        int(*l.Header),
		Connections:   *l.Connections,
		MaxConnsPerIP: *l.MaxConnsPerIP,
		AuthFailures:  *l.AuthFailures,
		Documents:     *l.Documents,
		ReadTimeout:   l.ReadTimeout.OrZero(),
		WriteTimeout:  l.WriteTimeout.OrZero(),
		IdleTimeout:   l.IdleTimeout.OrZero(),
	}
}

// ReportRetentionSettings says how long the report keeps its sums; 0: the exchange has no report.
type ReportRetentionSettings struct {
	Keep time.Duration `key:"report.keep"`
}

func (c *compiler) compileReport(at syntax.KeyPath, r *schema.ReportRetentionSettings) ReportRetentionSettings {
	if keep := r.Keep.OrZero(); keep != 0 && (keep < schema.Day || keep > 3650*schema.Day) {
		c.reportMistake(at.Key("keep"), "is out of range; give 1d to 3650d, or 0s for no report")
	}
	return ReportRetentionSettings{r.Keep.OrZero()}
}

// TLSSettings are the certificate files with resolved paths. Empty: the listener uses
// plain HTTP.
type TLSSettings struct{ CertFile, KeyFile string }

// IsSet reports whether the listener uses TLS.
func (t TLSSettings) IsSet() bool { return t != TLSSettings{} }

// compileTLS checks the paths of a listener's certificate files. It does not read the files,
// because they change independently of the document.
func (c *compiler) compileTLS(at syntax.KeyPath, t *schema.TLS) TLSSettings {
	if t == nil {
		return TLSSettings{}
	}
	const needed = "tls needs cert and key, the paths of two PEM files"
	c.reportMissingPathOrPEMText(at.Key("cert"), t.Cert, needed)
	c.reportMissingPathOrPEMText(at.Key("key"), t.Key, needed)
	return TLSSettings{CertFile: c.source.resolvePath(t.Cert), KeyFile: c.source.resolvePath(t.Key)}
}

// reportMissingPathOrPEMText reports a mistake if the path is missing, or if the value is the text of a PEM
// file instead of its path. needed lists the paths that belong together.
func (c *compiler) reportMissingPathOrPEMText(at syntax.KeyPath, path, needed string) {
	switch {
	case path == "":
		c.reportMistake(at, "is missing; "+needed)
	case strings.Contains(path, "-----BEGIN"):
		c.reportMistake(at, "contains the file's text; write the file's path")
	}
}

// TraceSettings are the checked settings of tracing. Without an endpoint there are no
// traces.
type TraceSettings struct {
	Endpoint string                        `key:"traces.endpoint"`
	Sample   market.ShareInMillionths      `key:"traces.sample"`
	Headers  []schema.TraceCollectorHeader `key:"traces.headers"`
}

// HTTPHeader returns the headers that are sent with each batch of traces to the collector.
func (t *TraceSettings) HTTPHeader() http.Header {
	header := make(http.Header, len(t.Headers))
	for _, h := range t.Headers {
		if h.Value.Reveal() != "" {
			header.Set(h.Name, h.Value.Reveal())
		}
	}
	return header
}

// maxInFlight is the highest number of concurrent attempts to one endpoint. An exchange
// makes at most 256 to all endpoints together.
const maxInFlight = 64

// WebhookConcurrencyPerEndpoint is the highest number of concurrent webhook attempts to one endpoint.
type WebhookConcurrencyPerEndpoint struct {
	InFlight int `key:"webhooks.in_flight"`
}

func (c *compiler) compileWebhookConcurrency(at syntax.KeyPath, w *schema.WebhookConcurrencyPerEndpoint) WebhookConcurrencyPerEndpoint {
	c.checkIntRange(at.Key("in_flight"), *w.InFlight, 1, maxInFlight)
	return WebhookConcurrencyPerEndpoint{InFlight: *w.InFlight}
}

// OIDCSettings are the checked settings of the sign-in at an OpenID Connect provider. Without an
// issuer there is none.
type OIDCSettings struct {
	Issuer         string                         `key:"admin.oidc.issuer"`
	ClientID       string                         `key:"admin.oidc.client_id"`
	ClientSecret   schema.Secret                  `key:"admin.oidc.client_secret"`
	Label          string                         `key:"admin.oidc.label"`
	Scopes         []string                       `key:"admin.oidc.scopes"`
	RolesClaim     string                         `key:"admin.oidc.roles.claim"`
	Roles          map[string]market.OperatorRole `key:"admin.oidc.roles.map"`
	DefaultRole    market.OperatorRole            `key:"admin.oidc.default_role"` // zero: none
	AllowedDomains []string                       `key:"admin.oidc.allowed_domains"`
}

// maxOIDCEntries limits the roles, scopes and domains of a provider.
const maxOIDCEntries = 100

// compileOIDC checks the provider of the operators' sign-in. Its address follows the rules of
// buyers' addresses.
func (c *compiler) compileOIDC(at syntax.KeyPath, o *schema.OIDCSignIn) OIDCSettings {
	if o == nil {
		return OIDCSettings{}
	}
	c.checkURL(at.Key("issuer"), o.Issuer, false)
	if o.ClientID == "" || len(o.ClientID) > schema.MaxSecret {
		c.reportMistake(at.Key("client_id"), "is missing or too long; give the client id that the provider assigned to pingpost")
	}
	if len(o.ClientSecret.Reveal()) > schema.MaxSecret {
		c.reportMistake(at.Key("client_secret"), "is longer than 4096 bytes; shorten it")
	}
	c.recordIfUnset(at.Key("client_secret"), UnsetEnvironmentVariable{})
	if len(o.Label) > 100 {
		c.reportMistake(at.Key("label"), "is longer than 100 bytes; shorten it")
	}
	roles := o.Roles.Map.ByValue()
	if len(o.Scopes) > maxOIDCEntries || len(roles) > maxOIDCEntries || len(o.AllowedDomains) > maxOIDCEntries {
		c.reportMistake(at, "has more than 100 scopes, roles or allowed domains; remove some")
	}
	if !slices.Contains(o.Scopes, "openid") {
		c.reportMistake(at.Key("scopes"), "lacks openid, without which the provider sends no identity; add it")
	}
	out := OIDCSettings{
		Issuer: o.Issuer, ClientID: o.ClientID, ClientSecret: o.ClientSecret, Label: o.Label, Scopes: o.Scopes,
		RolesClaim: o.Roles.Claim, Roles: make(map[string]market.OperatorRole, len(roles)),
	}
	for value, name := range roles {
		out.Roles[value] = c.parseRole(at.Key("roles").Key("map"), name)
	}
	if o.DefaultRole != "" && o.DefaultRole != "none" {
		out.DefaultRole = c.parseRole(at.Key("default_role"), o.DefaultRole)
	}
	if len(out.Roles) == 0 && out.DefaultRole == 0 {
		c.reportMistake(at.Key("roles"), "gives no role to anyone; add map, such as {ops: operator}, or default_role")
	}
	for i, domain := range o.AllowedDomains {
		if domain == "" || domain != strings.ToLower(domain) || strings.ContainsAny(domain, "@ /") {
			c.reportMistake(at.Key("allowed_domains").Index(i), "is not a domain of e-mail addresses in lower case; write for example example.com")
		}
		out.AllowedDomains = append(out.AllowedDomains, domain)
	}
	return out
}

// parseRole returns the operators' role with this name. It reports another name as a mistake.
func (c *compiler) parseRole(at syntax.KeyPath, name string) market.OperatorRole {
	role, ok := market.ParseRole(name)
	if !ok {
		c.reportMistake(at, "has a role that does not exist; use viewer, operator or admin")
	}
	return role
}

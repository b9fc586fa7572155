package schema

import (
	"time"
)

// Document is the configuration of an exchange. The example configuration shows every key.
// FillDefaults sets missing values. A value stays empty or nil if its absence has a meaning
// of its own.
type Document struct {
	DataDir         string        `json:"data_dir"` // relative to the document's file
	Listen          string        `json:"listen"`
	TLS             *TLS          `json:"tls,omitempty"` // of listen
	Admin           AdminListener `json:"admin"`
	PublicURL       string        `json:"public_url,omitempty"` // under which suppliers reach listen
	TrustedProxies  []string      `json:"trusted_proxies,omitempty"`
	TrustedNetworks []string      `json:"trusted_networks,omitempty"`

	TimeZone     string `json:"time_zone,omitempty"` // of days in reports and periods; empty: UTC
	Tenant       string `json:"tenant"`
	Sandbox      bool   `json:"sandbox"`
	Provisioning string `json:"provisioning"` // seed or enforce

	Cluster *Cluster `json:"cluster,omitempty"`

	History       *Duration                     `json:"history"`           // retention of the log
	Idempotency   *Duration                     `json:"idempotency"`       // retention of an idempotency key
	PingKeys      *Duration                     `json:"ping_idempotency"`  // retention of a ping's idempotency key
	HotFor        *Duration                     `json:"hot_for,omitempty"` // time in memory after a lead's decision
	TokenLifetime *Duration                     `json:"token_lifetime"`    // of an OAuth access token
	Limits        ProcessLimitSettings          `json:"limits"`
	Webhooks      WebhookConcurrencyPerEndpoint `json:"webhooks"`
	Report        ReportRetentionSettings       `json:"report"`
	Traces        *TraceSettings                `json:"traces,omitempty"`

	Suppliers []Supplier        `json:"suppliers,omitempty"`
	Buyers    []Buyer           `json:"buyers,omitempty"`
	Lists     []SuppressionList `json:"suppression_lists,omitempty"`
	Campaigns []Campaign        `json:"campaigns,omitempty"`
}

// AdminListener configures the address for operators. Without a password, operators sign in with an
// account, an identity provider or an API token.
type AdminListener struct {
	Listen   string `json:"listen"`
	TLS      *TLS   `json:"tls,omitempty"`
	Password Secret `json:"password,omitzero"`

	PublicURL   string      `json:"public_url,omitempty"`   // under which operators reach the listener
	RequireTOTP bool        `json:"require_totp,omitempty"` // accounts need a second factor
	OIDC        *OIDCSignIn `json:"oidc,omitempty"`
}

// The values of the key provisioning.
const (
	// ProvisioningSeed creates the document's suppliers, buyers, lists and campaigns at the first start.
	// Afterwards the exchange keeps them, and operators change them.
	ProvisioningSeed = "seed"
	// ProvisioningEnforce applies the document's entries at each start and reload. Operators cannot
	// change them.
	ProvisioningEnforce = "enforce"
)

const (
	defaultHistory       = 45 * Day
	defaultIdempotency   = 30 * Day
	defaultPingKeys      = 30 * Day
	defaultTokenLifetime = time.Hour

	// DefaultHotFor is the default of hot_for.
	DefaultHotFor = Day
)

// FillDefaults sets the missing values to their defaults.
func (d *Document) FillDefaults() {
	setDefault(&d.DataDir, "./data")
	setDefault(&d.Listen, "127.0.0.1:8080")
	setDefault(&d.Admin.Listen, "127.0.0.1:9090")
	if d.Sandbox {
		setDefault(&d.Tenant, "sandbox")
	}
	setDefault(&d.Tenant, "production")
	setDefault(&d.Provisioning, ProvisioningSeed)
	d.History = d.History.orDefault(defaultHistory)
	d.Idempotency = d.Idempotency.orDefault(defaultIdempotency)
	d.PingKeys = d.PingKeys.orDefault(min(defaultPingKeys, d.History.OrZero()))
	d.TokenLifetime = d.TokenLifetime.orDefault(defaultTokenLifetime)
	d.Admin.OIDC.fillDefaults()
	d.Limits.fillDefaults()
	d.Webhooks.fillDefaults()
	d.Report.fillDefaults()
	d.Traces.fillDefaults()
	for i := range d.Suppliers {
		d.Suppliers[i].fillDefaults()
	}
	for i := range d.Buyers {
		d.Buyers[i].fillDefaults()
	}
	for i := range d.Lists {
		d.Lists[i].fillDefaults()
	}
	for i := range d.Campaigns {
		d.Campaigns[i].fillDefaults()
	}
}

// setDefault sets a zero value to its default.
func setDefault[T comparable](value *T, fallback T) {
	var zero T
	if *value == zero {
		*value = fallback
	}
}

// orPointerTo returns the value, or a pointer to the default if the value is nil.
func orPointerTo[T any](value *T, fallback T) *T {
	if value != nil {
		return value
	}
	return &fallback
}

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
	TrustedProxies  []string      `json:"trusted_proxies,omitempty"`
	TrustedNetworks []string      `json:"trusted_networks,omitempty"`

	Tenant  string `json:"tenant"`
	Sandbox bool   `json:"sandbox"`

	History       *Duration       `json:"history"`          // retention of the log
	Idempotency   *Duration       `json:"idempotency"`      // retention of an idempotency key
	PingKeys      *Duration       `json:"ping_idempotency"` // retention of a ping's idempotency key
	TokenLifetime *Duration       `json:"token_lifetime"`   // of an OAuth access token
	Limits        LimitSettings   `json:"limits"`
	Webhooks      WebhookSettings `json:"webhooks"`
	Report        ReportSettings  `json:"report"`
	Traces        *TraceSettings  `json:"traces,omitempty"`

	Suppliers []Supplier        `json:"suppliers,omitempty"`
	Buyers    []Buyer           `json:"buyers,omitempty"`
	Lists     []SuppressionList `json:"suppression_lists,omitempty"`
	Campaigns []Campaign        `json:"campaigns,omitempty"`
}

// AdminListener configures the address for operators. Without a password, only accounts and API
// tokens can log in.
type AdminListener struct {
	Listen   string `json:"listen"`
	TLS      *TLS   `json:"tls,omitempty"`
	Password Secret `json:"password,omitzero"`
}

const (
	defaultHistory       = 45 * Day
	defaultIdempotency   = 30 * Day
	defaultPingKeys      = 30 * Day
	defaultTokenLifetime = time.Hour
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
	d.History = d.History.orDefault(defaultHistory)
	d.Idempotency = d.Idempotency.orDefault(defaultIdempotency)
	d.PingKeys = d.PingKeys.orDefault(min(defaultPingKeys, d.History.OrZero()))
	d.TokenLifetime = d.TokenLifetime.orDefault(defaultTokenLifetime)
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

package schema

import (
	"time"
)

// Document is the form that describes an exchange. The example of the project
// shows every key; what is absent from a text has its default here, except where
// absence itself means something, and then the field is empty or nil.
type Document struct {
	DataDir         string   `json:"data_dir"` // relative to the file
	Listen          string   `json:"listen"`
	TLS             *TLS     `json:"tls,omitempty"` // of listen
	Admin           Admin    `json:"admin"`
	TrustedProxies  []string `json:"trusted_proxies,omitempty"`
	TrustedNetworks []string `json:"trusted_networks,omitempty"`

	Tenant  string `json:"tenant"`
	Sandbox bool   `json:"sandbox"`

	History       *Duration `json:"history"`          // how far back the log is kept
	Idempotency   *Duration `json:"idempotency"`      // how long a key is remembered
	PingKeys      *Duration `json:"ping_idempotency"` // how long that of a ping is
	TokenLifetime *Duration `json:"token_lifetime"`   // of an OAuth access token
	Limits        Limits    `json:"limits"`
	Webhooks      Webhooks  `json:"webhooks"`
	Report        Report    `json:"report"`
	Traces        *Traces   `json:"traces,omitempty"`

	Suppliers []Supplier `json:"suppliers,omitempty"`
	Buyers    []Buyer    `json:"buyers,omitempty"`
	Lists     []List     `json:"suppression_lists,omitempty"`
	Campaigns []Campaign `json:"campaigns,omitempty"`
}

// Admin is the operators' address. Without a password it serves only what needs
// none.
type Admin struct {
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

// FillDefaults puts in the defaults.
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
	d.PingKeys = d.PingKeys.orDefault(min(defaultPingKeys, d.History.Span()))
	d.TokenLifetime = d.TokenLifetime.orDefault(defaultTokenLifetime)
	d.Limits.fill()
	d.Webhooks.fill()
	d.Report.fill()
	d.Traces.fill()
	for i := range d.Suppliers {
		d.Suppliers[i].fill()
	}
	for i := range d.Buyers {
		d.Buyers[i].fill()
	}
	for i := range d.Lists {
		d.Lists[i].fill()
	}
	for i := range d.Campaigns {
		d.Campaigns[i].fill()
	}
}

// setDefault gives a value its default where it has none.
func setDefault[T comparable](value *T, other T) {
	var none T
	if *value == none {
		*value = other
	}
}

// valueOr is a value, or its default where none is written.
func valueOr[T any](value *T, other T) *T {
	if value != nil {
		return value
	}
	return &other
}

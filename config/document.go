package config

import "time"

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
	defaultHistory       = 45 * day
	defaultIdempotency   = 30 * day
	defaultPingKeys      = 30 * day
	defaultTokenLifetime = time.Hour
)

// fill puts in the defaults.
func (d *Document) fill() {
	orElse(&d.DataDir, "./data")
	orElse(&d.Listen, "127.0.0.1:8080")
	orElse(&d.Admin.Listen, "127.0.0.1:9090")
	if d.Sandbox {
		orElse(&d.Tenant, "sandbox")
	}
	orElse(&d.Tenant, "production")
	d.History = d.History.orElse(defaultHistory)
	d.Idempotency = d.Idempotency.orElse(defaultIdempotency)
	d.PingKeys = d.PingKeys.orElse(min(defaultPingKeys, d.History.span()))
	d.TokenLifetime = d.TokenLifetime.orElse(defaultTokenLifetime)
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

// orElse gives a value its default where it has none.
func orElse[T comparable](value *T, other T) {
	var none T
	if *value == none {
		*value = other
	}
}

// given is a value, or its default where none is written.
func given[T any](value *T, other T) *T {
	if value != nil {
		return value
	}
	return &other
}

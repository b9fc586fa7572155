package exchange

import (
	"net"
	"net/netip"
	"time"

	"pingpost/config/schema"
	"pingpost/server/instructions"
)

// Instructions returns the publisher of posting instructions. It is nil until the keys are open.
func (x *Exchange) Instructions() *instructions.Publisher { return x.instructions }

func (x *Exchange) newInstructionPublisher() *instructions.Publisher {
	base, configured := x.settings.PublicURL, true
	if base == "" {
		base, configured = x.listenURL(), false
	}
	return instructions.NewPublisher(x, &instructions.ExchangeSettings{
		BaseURL: base, BaseURLSet: configured, Sandbox: x.settings.Sandbox, BodyBytes: x.settings.Limits.Body,
		Idempotency: x.settings.Idempotency, PingIdempotency: x.settings.PingIdempotency,
		FormatDuration: func(d time.Duration) string { return schema.Duration(d).String() },
	}, x.vault.DeriveKey("instruction links"))
}

// listenURL returns the address of the public listener as a URL. A listener on all addresses has
// none that others could use, so the result names this machine.
func (x *Exchange) listenURL() string {
	scheme := "http"
	if x.settings.TLS.IsSet() {
		scheme = "https"
	}
	host, port, err := net.SplitHostPort(x.PublicAddress())
	if err != nil {
		return scheme + "://" + x.PublicAddress()
	}
	if address, err := netip.ParseAddr(host); err == nil && address.IsUnspecified() {
		host = "localhost"
	}
	return scheme + "://" + net.JoinHostPort(host, port)
}

package exchange

import (
	"net"
	"net/netip"
	"time"

	"pingpost/config/schema"
	"pingpost/server/instructions"
)

// PostingInstructions returns the publisher of posting instructions. It is nil until the keys are open.
func (x *Exchange) PostingInstructions() *instructions.Publisher { return x.instructions }

func (x *Exchange) newPostingInstructionPublisher() *instructions.Publisher {
	base, configured := x.settings.PublicURL, true
	if base == "" {
		base, configured = x.publicListenerURL(), false
	}
	return instructions.NewPublisher(x, &instructions.ExchangeSettings{
		BaseURL: base, BaseURLSet: configured, Sandbox: x.settings.Sandbox, BodyBytes: x.settings.Limits.Body,
		Idempotency: x.settings.Idempotency, PingIdempotency: x.settings.PingIdempotency,
		FormatDuration: func(d time.Duration) string { return schema.Duration(d).String() },
	}, x.vault.DeriveKey("instruction links"))
}

// publicListenerURL returns the address of the public listener as a URL. A listener on all addresses
// has none that others could use, so the host is then localhost.
func (x *Exchange) publicListenerURL() string {
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

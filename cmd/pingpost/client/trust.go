// Package client has the flags with which commands reach a running exchange.
package client

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
)

// TrustedCAFlag is the flag --ca, which selects the certificates that a command trusts when it
// connects to an exchange over https.
type TrustedCAFlag struct {
	CA string `name:"ca" env:"PINGPOST_CA" type:"path" placeholder:"FILE" help:"Certificates in PEM by which an https address is trusted, instead of the machine's own; also in the environment variable PINGPOST_CA."`
}

// NewTransport returns a new HTTP transport, with its own connections, that trusts the certificates of
// --ca. Without --ca it trusts the machine's own.
func (f *TrustedCAFlag) NewTransport() (*http.Transport, error) {
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}}
	if f.CA == "" {
		return transport, nil
	}
	text, err := os.ReadFile(f.CA)
	if err != nil {
		return nil, fmt.Errorf("--ca: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("--ca %s has no certificate in PEM", f.CA)
	}
	transport.TLSClientConfig.RootCAs = pool
	return transport, nil
}

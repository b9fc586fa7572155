package servertest

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"net/http/httptest"
	"testing"
)

// NewTLSConfigs returns two TLS configurations for a test: one for a server on 127.0.0.1, and
// one for a client that trusts this server.
func NewTLSConfigs(t *testing.T) (serverConfig, clientConfig *tls.Config) {
	t.Helper()
	made := httptest.NewTLSServer(http.NotFoundHandler())
	defer made.Close()
	pool := x509.NewCertPool()
	pool.AddCert(made.Certificate())
	return &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}, Certificates: made.TLS.Certificates},
		&tls.Config{RootCAs: pool, ServerName: "127.0.0.1", MinVersion: tls.VersionTLS12}
}

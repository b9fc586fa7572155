package member

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
)

// LoadTLS returns the TLS configuration of connections between nodes: both ends show a certificate of the
// cluster's authority. All three are files in PEM form.
func LoadTLS(certificate, key, authority string) (*tls.Config, error) {
	pair, err := tls.LoadX509KeyPair(certificate, key)
	if err != nil {
		return nil, fmt.Errorf("cannot load cluster.tls.certificate %q and its key %q: %w", certificate, key, err)
	}
	text, err := os.ReadFile(authority)
	if err != nil {
		return nil, fmt.Errorf("cannot read cluster.tls.authority: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("cluster.tls.authority %q has no certificate in PEM form", authority)
	}
	return &tls.Config{
		Certificates: []tls.Certificate{pair}, RootCAs: pool, ClientCAs: pool,
		ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS13,
	}, nil
}

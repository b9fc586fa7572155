package main

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pingpost/internal/certtest"
	"pingpost/internal/must"
)

// writeCertificate writes a certificate for this machine and its key into a folder. It
// returns a client that trusts it, and a line of the key.
func writeCertificate(t *testing.T, dir string) (client *http.Client, keyText string) {
	t.Helper()
	cert, key, err := certtest.SelfSigned(1, time.Now().Add(-time.Hour), time.Now().Add(365*24*time.Hour))
	must.Succeed(t, err)
	for name, text := range map[string][]byte{"cert.pem": cert, "key.pem": key} {
		must.Succeed(t, os.WriteFile(filepath.Join(dir, name), text, 0o600))
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(cert)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}
	t.Cleanup(transport.CloseIdleConnections)
	lines := strings.Split(string(key), "\n")
	return &http.Client{Transport: transport, Timeout: 20 * time.Second}, lines[1]
}

// TestCommandsOverTLS: each command that calls an exchange trusts the CA of --ca or
// PINGPOST_CA, and fails without it.
func TestCommandsOverTLS(t *testing.T) {
	text := strings.Replace(testConfig, `password: "${ADMIN_PASSWORD}"}`, `password: "${ADMIN_PASSWORD}", tls: {cert: cert.pem, key: key.pem}}
tls: {cert: cert.pem, key: key.pem}`, 1)
	text = strings.Replace(text, `ingest_rate: 1000000}`, `ingest_rate: 1000000, oauth_clients: [{client_id: sup, client_secret: "${SUP_API_KEY}"}]}`, 1)
	path := writeConfig(t, text)
	dir := filepath.Dir(path)
	writeCertificate(t, dir)
	s := startServe(t, "-c", path)
	public, admin := s.addresses("production")
	public, admin = strings.Replace(public, "http:", "https:", 1), strings.Replace(admin, "http:", "https:", 1)
	ca, leads := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "leads.ndjson")
	writeFile(t, leads, `{"flo_campaign_id":"cmp","flo_supplier_id":"sup","first_name":"Ann","last_name":"`+personName+`","phone":"4155550132","email":"a@b.example","state":"CA"}`+"\n")
	t.Setenv("PINGPOST_API_KEY", apiKey)
	for _, args := range [][]string{
		{"export", "--admin", admin},
		{"diff", "--admin", admin, path},
		{"statement", "--admin", admin, "--supplier", "sup"},
		{"send", leads, "--to", public, "--no-idempotency"},
		{"ping", "--url", public, "--api-key", apiKey, "flo_campaign_id=cmp", "flo_supplier_id=sup"},
		{"ping", "--url", public, "--client-id", "sup", "--client-secret", apiKey, "vertical=auto", "state=CA", "tcpa_consent:=true"},
	} {
		without := run(t, args...)
		if strings.Contains(without.err, "cannot reach") || slices.Contains(args, "--admin") && !strings.Contains(without.err, "--ca FILE") {
			t.Errorf("%v without the CA does not name --ca: %s", args, without.err)
		}
		if without.code == 0 || !strings.Contains(without.err+without.out, "certificate") && args[0] != "send" {
			t.Errorf("%v without the CA: exit %d %s %s", args, without.code, without.out, without.err)
		}
		with := run(t, append(args, "--ca", ca)...)
		if args[0] != "ping" && with.code != 0 || strings.Contains(with.err, "certificate") {
			t.Errorf("%v: exit %d %s %s", args, with.code, with.out, with.err)
		}
	}
	t.Setenv("PINGPOST_CA", ca)
	mustPrint(t, "cert: cert.pem", "export", "--admin", admin)
	for file, want := range map[string]string{filepath.Join(dir, "none.pem"): "no such file", path: "has no certificate in PEM"} {
		mustFail(t, want, "export", "--admin", admin, "--ca", file)
	}
}

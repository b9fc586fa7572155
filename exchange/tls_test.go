package exchange

import (
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pingpost/config"
	"pingpost/internal/certtest"
	"pingpost/internal/must"
)

// certIssuer creates certificates with different serial numbers.
type certIssuer struct {
	t    *testing.T
	next int64
}

func newCertIssuer(t *testing.T) *certIssuer { return &certIssuer{t: t, next: 100} }

// issue returns a new certificate, its key and its serial number.
func (i *certIssuer) issue(until time.Time) (cert, key string, number int64) {
	i.t.Helper()
	i.next++
	certificate, private, err := certtest.SelfSigned(i.next, time.Now().Add(-time.Hour), until)
	must.Succeed(i.t, err)
	return string(certificate), string(private), i.next
}

// client returns a client that accepts any certificate. Without keepAlive each request has its own
// handshake.
func (i *certIssuer) client(keepAlive bool) *http.Client {
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: !keepAlive}
	i.t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: checkingTransport(transport), Timeout: waitTimeout}
}

// tlsConfig is baseConfig with certificates at both addresses.
var tlsConfig = strings.Replace(baseConfig, `password: "${PASSWORD}"}`, `password: "${PASSWORD}", tls: {cert: cert.pem, key: key.pem}}
tls: {cert: cert.pem, key: key.pem}`, 1)

// newTLSDir returns a folder with tlsConfig and a certificate for a year.
func newTLSDir(t *testing.T, issuer *certIssuer) (p testDir, number int64) {
	t.Helper()
	p = newTestDir(t, tlsConfig)
	cert, key, number := issuer.issue(time.Now().Add(365 * 24 * time.Hour))
	p.writeFile(t, "cert.pem", cert)
	p.writeFile(t, "key.pem", key)
	return p, number
}

// requestWith sends a request with the client, and also returns the serial number of the server's
// certificate.
func (r *testExchange) requestWith(client *http.Client, method, url, body string, headers ...string) (*answer, int64, error) {
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		return nil, 0, err
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	if strings.HasPrefix(url, "https://"+r.AdminAddress()) {
		req.SetBasicAuth("op", adminPassword)
	}
	response, err := client.Do(req)
	if err != nil {
		return nil, 0, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		r.t.Errorf("cannot read the body of an answer with status %d: %v", response.StatusCode, err)
		return nil, 0, err
	}
	number := int64(0)
	if response.TLS != nil {
		number = response.TLS.PeerCertificates[0].SerialNumber.Int64()
	}
	return &answer{response.StatusCode, response.Header, string(text)}, number, nil
}

// TestCertificatesRotateUnderLoad: certificate and key files change one after the other under load.
// No request fails, and only matching pairs are used.
func TestCertificatesRotateUnderLoad(t *testing.T) {
	t.Parallel()
	issuer := newCertIssuer(t)
	p, first := newTLSDir(t, issuer)
	x := start(t, p)
	var (
		loading sync.WaitGroup
		stop    atomic.Bool
		sent    atomic.Int64
		refused atomic.Int64
		used    sync.Map
	)
	for i := range 4 {
		client := issuer.client(i%2 == 0)
		loading.Go(func() {
			for !stop.Load() {
				a, number, err := x.requestWith(client, "POST", "https://"+x.PublicAddress()+"/api/v1/ingest", leadBody(int(sent.Add(1)%9000)), "X-Api-Key", acmeKey, "Content-Type", jsonType)
				if err == nil && a.status == 503 {
					refused.Add(1)
					time.Sleep(10 * time.Millisecond)
					continue
				}
				if err != nil || a.status != 201 {
					t.Errorf("lead during the rotation: got %v, %v", a, err)
					return
				}
				used.Store(number, true)
			}
		})
	}
	eventually(t, "leads are accepted", func() bool { return sent.Load() > 20 })
	last := first
	for range 3 {
		cert, key, number := issuer.issue(time.Now().Add(300 * 24 * time.Hour))
		p.writeFile(t, "cert.pem", cert) // with the previous key
		x.certificates.requestFileCheck()
		eventually(t, "the mismatched pair is rejected", func() bool { return len(x.certificates.public.recheck) == 0 })
		p.writeFile(t, "key.pem", key)
		x.mustReload() // SIGHUP does this
		eventually(t, "the new certificate is used", func() bool { _, ok := used.Load(number); return ok })
		last = number
	}
	before := sent.Load()
	eventually(t, "more leads are accepted", func() bool { return sent.Load() > before+20 })
	stop.Store(true)
	loading.Wait()
	for _, address := range []string{x.PublicAddress(), x.AdminAddress()} {
		eventually(t, "the last certificate is used at "+address, func() bool {
			_, number, err := x.requestWith(issuer.client(false), "GET", "https://"+address+"/readyz", "")
			return err == nil && number == last
		})
	}
	a, _, err := x.requestWith(issuer.client(false), "GET", "https://"+x.AdminAddress()+"/metrics", "")
	must.Succeed(t, err)
	if n := refused.Load(); n > 0 && !hasSlowCommit(a.body) {
		t.Errorf("%d leads were refused with a 503, and the log was fast", n)
	}
	for _, address := range []string{"listen", "admin"} {
		// Prometheus's figure is a float, as in 1.8e+09.
		if !strings.Contains(a.body, `pingpost_tls_not_after_timestamp_seconds{address="`+address+`"}`) {
			t.Errorf("metrics lack the expiry of %s's certificate", address)
		}
	}
	if n := x.state.LeadCountWithExpired(); int64(n) > sent.Load() || n == 0 {
		t.Errorf("%d leads after %d requests", n, sent.Load())
	}
}

// TestStartChecksCertificates: invalid files fail the start. An expired certificate is used and
// logged.
func TestStartChecksCertificates(t *testing.T) {
	t.Parallel()
	issuer := newCertIssuer(t)
	p, _ := newTLSDir(t, issuer)
	cert, key, number := issuer.issue(time.Now().Add(-time.Minute))
	p.writeFile(t, "cert.pem", "x")
	if _, err := Start(p.configPath(), Options{Env: env, Logger: p.logger()}); err == nil || !strings.Contains(err.Error(), "tls: ") || !strings.Contains(err.Error(), "no certificate in PEM") {
		t.Errorf("invalid certificate file: %v", err)
	}
	p.writeFile(t, "cert.pem", cert)
	p.writeFile(t, "key.pem", key)
	x := start(t, p)
	conn := must.Value(tls.Dial("tcp", x.PublicAddress(), &tls.Config{InsecureSkipVerify: true}))(t)
	defer conn.Close()
	if got := conn.ConnectionState().PeerCertificates[0].SerialNumber.Int64(); got != number {
		t.Errorf("got certificate %d, want the expired one", got)
	}
	eventually(t, "the expiry is logged", func() bool { return strings.Contains(x.logged.String(), "the TLS certificate has expired") })
	for name, settings := range map[string]config.Settings{
		"expired": {TLS: config.TLSSettings{CertFile: p.dir + "/cert.pem", KeyFile: p.dir + "/key.pem"}},
		"missing": {AdminTLS: config.TLSSettings{CertFile: p.dir + "/none.pem", KeyFile: p.dir + "/key.pem"}},
	} {
		if err := CheckCertificateFiles(&settings); err == nil {
			t.Errorf("CheckCertificateFiles accepted a certificate that is %s", name)
		}
	}
	if err := CheckCertificateFiles(&config.Settings{}); err != nil {
		t.Error(err)
	}
}

// TestCheckClusterCertificates: a missing file is a warning, because the files may be on another machine. A file
// with other content is an error.
func TestCheckClusterCertificates(t *testing.T) {
	t.Parallel()
	issuer := newCertIssuer(t)
	p, _ := newTLSDir(t, issuer)
	cert, key, _ := issuer.issue(time.Now().Add(time.Hour))
	expired, expiredKey, _ := issuer.issue(time.Now().Add(-time.Minute))
	for name, content := range map[string]string{"node.crt": cert, "node.key": key, "ca.crt": cert, "old.crt": expired, "old.key": expiredKey, "text": "x"} {
		p.writeFile(t, name, content)
	}
	for name, row := range map[string]struct {
		cert, key, authority string
		warns, fails         bool
	}{
		"valid":               {"node.crt", "node.key", "ca.crt", false, false},
		"certificate missing": {"node.cert", "node.key", "ca.crt", true, false},
		"key missing":         {"node.crt", "node.pem", "ca.crt", true, false},
		"authority missing":   {"node.crt", "node.key", "ca.pem", true, false},
		"another key":         {"node.crt", "old.key", "ca.crt", false, true},
		"expired":             {"old.crt", "old.key", "ca.crt", false, true},
		"invalid authority":   {"node.crt", "node.key", "text", false, true},
	} {
		var settings config.Settings
		files := &settings.Cluster.TLS
		files.CertFile, files.KeyFile, files.AuthorityFile = p.dir+"/"+row.cert, p.dir+"/"+row.key, p.dir+"/"+row.authority
		if warning, err := CheckClusterCertificateFiles(&settings); warning != nil != row.warns || err != nil != row.fails {
			t.Errorf("%s: warning %v, error %v", name, warning, err)
		}
	}
	if warning, err := CheckClusterCertificateFiles(&config.Settings{}); warning != nil || err != nil {
		t.Errorf("without cluster.tls: %v, %v", warning, err)
	}
}

// TestTLSChangeNeedsRestart: the differences say so. Plain HTTP to a TLS port gets an error that
// names https.
func TestTLSChangeNeedsRestart(t *testing.T) {
	t.Parallel()
	issuer := newCertIssuer(t)
	p, _ := newTLSDir(t, issuer)
	x := start(t, p)
	changed, err := x.ApplyConfiguration([]byte(strings.ReplaceAll(tlsConfig, "cert: cert.pem", "cert: other.pem")), nil, true, "")
	if err != nil || fmt.Sprint(changed.Changes) != `[~ tls.cert: "cert.pem" -> "other.pem" (at the next start) ~ admin.tls.cert: "cert.pem" -> "other.pem" (at the next start)]` {
		t.Errorf("unexpected changes: %q, %v", changed, err)
	}
	for _, address := range []string{x.PublicAddress(), x.AdminAddress()} {
		w := dial(t, address)
		w.send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
		if f := w.readAnswer("GET").mustFail(t, 400, "malformed_request"); !strings.Contains(f.Message, "https://") {
			t.Errorf("error does not name https: %v", f.Message)
		}
		w.mustBeClosed()
	}
}

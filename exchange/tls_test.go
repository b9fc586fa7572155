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

// issuer makes certificates with numbers of their own.
type issuer struct {
	t    *testing.T
	next int64
}

func newIssuer(t *testing.T) *issuer { return &issuer{t: t, next: 100} }

// issue is a new certificate and its key, and its number.
func (is *issuer) issue(until time.Time) (cert, key string, number int64) {
	is.t.Helper()
	is.next++
	certificate, private, err := certtest.SelfSigned(is.next, time.Now().Add(-time.Hour), until)
	must.Succeed(is.t, err)
	return string(certificate), string(private), is.next
}

// client takes any certificate; without keeping it makes a handshake for each request.
func (is *issuer) client(keeping bool) *http.Client {
	way := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: !keeping}
	is.t.Cleanup(way.CloseIdleConnections)
	return &http.Client{Transport: holding(way), Timeout: patience}
}

// overTLS is the exchange of the other tests, with certificates at both addresses.
var overTLS = strings.Replace(recorded, `password: "${PASSWORD}"}`, `password: "${PASSWORD}", tls: {cert: cert.pem, key: key.pem}}
tls: {cert: cert.pem, key: key.pem}`, 1)

// tlsPlace is a place with such a configuration and a certificate that is good for a
// year.
func tlsPlace(t *testing.T, is *issuer) (p place, number int64) {
	t.Helper()
	p = newPlace(t, overTLS)
	cert, key, number := is.issue(time.Now().Add(365 * 24 * time.Hour))
	p.beside(t, "cert.pem", cert)
	p.beside(t, "key.pem", key)
	return p, number
}

// request makes one by a client of its own, and says which certificate it was shown.
func (r *running) request(client *http.Client, method, url, body string, headers ...string) (*answer, int64, error) {
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		return nil, 0, err
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	if strings.HasPrefix(url, "https://"+r.AdminAddress()) {
		req.SetBasicAuth("op", password)
	}
	response, err := client.Do(req)
	if err != nil {
		return nil, 0, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		r.t.Errorf("an answer of status %d was cut off: %v", response.StatusCode, err)
		return nil, 0, err
	}
	number := int64(0)
	if response.TLS != nil {
		number = response.TLS.PeerCertificates[0].SerialNumber.Int64()
	}
	return &answer{response.StatusCode, response.Header, string(text)}, number, nil
}

// TestCertificatesRotateUnderLoad: while leads come in over kept and over new
// connections, certificates are replaced, in halves too. No request fails, half a pair
// is never shown, and the last pair is.
func TestCertificatesRotateUnderLoad(t *testing.T) {
	is := newIssuer(t)
	p, first := tlsPlace(t, is)
	x := start(t, p)
	var (
		loading sync.WaitGroup
		stop    atomic.Bool
		sent    atomic.Int64
		shown   sync.Map
	)
	for i := range 4 {
		client := is.client(i%2 == 0)
		loading.Go(func() {
			for !stop.Load() {
				a, number, err := x.request(client, "POST", "https://"+x.PublicAddress()+"/api/v1/ingest", lead(int(sent.Add(1)%9000)), "X-Api-Key", acmeKey, "Content-Type", typeIsOwn)
				if err != nil || a.status != 201 {
					t.Errorf("%v, %v", a, err)
					return
				}
				shown.Store(number, true)
			}
		})
	}
	eventually(t, "leads come in", func() bool { return sent.Load() > 20 })
	last := first
	for range 3 {
		cert, key, number := is.issue(time.Now().Add(300 * 24 * time.Hour))
		p.beside(t, "cert.pem", cert) // and another's key
		x.certificates.requestFileCheck()
		eventually(t, "half a pair is told of", func() bool { return len(x.certificates.public.recheck) == 0 })
		p.beside(t, "key.pem", key)
		x.mustReload() // SIGHUP does this
		eventually(t, "the new certificate is shown", func() bool { _, ok := shown.Load(number); return ok })
		last = number
	}
	before := sent.Load()
	eventually(t, "more leads come in", func() bool { return sent.Load() > before+20 })
	stop.Store(true)
	loading.Wait()
	for _, address := range []string{x.PublicAddress(), x.AdminAddress()} {
		eventually(t, "the last one is shown at "+address, func() bool {
			_, number, err := x.request(is.client(false), "GET", "https://"+address+"/readyz", "")
			return err == nil && number == last
		})
	}
	a, _, err := x.request(is.client(false), "GET", "https://"+x.AdminAddress()+"/metrics", "")
	must.Succeed(t, err)
	for _, address := range []string{"listen", "admin"} {
		// Prometheus's figure is a float, as in 1.8e+09.
		if !strings.Contains(a.body, `pingpost_tls_not_after_timestamp_seconds{address="`+address+`"}`) {
			t.Errorf("the end of %s's certificate is not among the metrics", address)
		}
	}
	if n := x.state.LeadCount(); int64(n) > sent.Load() || n == 0 {
		t.Errorf("%d leads of %d", n, sent.Load())
	}
}

// TestStartWithCertificates: files that are no pair are told before anything is bound;
// one that has run out is shown all the same, and told.
func TestStartWithCertificates(t *testing.T) {
	is := newIssuer(t)
	p, _ := tlsPlace(t, is)
	cert, key, number := is.issue(time.Now().Add(-time.Minute))
	p.beside(t, "cert.pem", "x")
	if _, err := Start(p.config(), Options{Env: env, Logger: logger}); err == nil || !strings.Contains(err.Error(), "tls: ") || !strings.Contains(err.Error(), "no certificate in PEM") {
		t.Errorf("no certificate: %v", err)
	}
	p.beside(t, "cert.pem", cert)
	p.beside(t, "key.pem", key)
	x := start(t, p)
	conn := must.Value(tls.Dial("tcp", x.PublicAddress(), &tls.Config{InsecureSkipVerify: true}))(t)
	defer conn.Close()
	if got := conn.ConnectionState().PeerCertificates[0].SerialNumber.Int64(); got != number {
		t.Errorf("%d is shown", got)
	}
	eventually(t, "it is told", func() bool { return strings.Contains(spoken.String(), "the TLS certificate has expired") })
	for what, settings := range map[string]config.Settings{
		"run out": {TLS: config.TLSSettings{Cert: p.dir + "/cert.pem", Key: p.dir + "/key.pem"}},
		"missing": {AdminTLS: config.TLSSettings{Cert: p.dir + "/none.pem", Key: p.dir + "/key.pem"}},
	} {
		if err := CheckCertificateFiles(&settings); err == nil {
			t.Errorf("validate lets pass what is %s", what)
		}
	}
	if err := CheckCertificateFiles(&config.Settings{}); err != nil {
		t.Error(err)
	}
}

// TestTLSTakesEffectAtTheNextStart: another file's name is told to wait, in diff as in
// the log; plain HTTP to TLS is told what is spoken here.
func TestTLSTakesEffectAtTheNextStart(t *testing.T) {
	is := newIssuer(t)
	p, _ := tlsPlace(t, is)
	x := start(t, p)
	changed, err := x.ApplyConfiguration([]byte(strings.ReplaceAll(overTLS, "cert: cert.pem", "cert: other.pem")), nil, true, "")
	if err != nil || fmt.Sprint(changed.Changes) != `[~ tls.cert: "cert.pem" -> "other.pem" (at the next start) ~ admin.tls.cert: "cert.pem" -> "other.pem" (at the next start)]` {
		t.Errorf("%q, %v", changed, err)
	}
	for _, address := range []string{x.PublicAddress(), x.AdminAddress()} {
		w := dial(t, address)
		w.say("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
		if f := w.next("GET").mustFail(t, 400, "malformed_request"); !strings.Contains(f.Message, "https://") {
			t.Error(f.Message)
		}
		w.ends()
	}
}

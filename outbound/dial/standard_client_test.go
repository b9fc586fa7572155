package dial

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"pingpost/internal/must"
)

// The client for libraries has the rules of Hosts: trusted networks only, no redirect, limited bodies.
func TestStandardClientObeysNetworkRules(t *testing.T) {
	answer := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/away" {
			http.Redirect(w, r, "/", http.StatusFound)
			return
		}
		_, _ = io.WriteString(w, strings.Repeat("x", 100))
	}
	plain, secure := httptest.NewServer(http.HandlerFunc(answer)), httptest.NewTLSServer(http.HandlerFunc(answer))
	defer plain.Close()
	defer secure.Close()
	roots := secure.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	loopback := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	for name, row := range map[string]struct {
		address     string
		trusted     []netip.Prefix
		maxResponse int64
		status      int
		want        error
	}{
		"plain, trusted":    {plain.URL, loopback, 100, 200, nil},
		"TLS, trusted":      {secure.URL, loopback, 100, 200, nil},
		"plain, private":    {plain.URL, nil, 100, 0, errForbidden},
		"TLS, private":      {secure.URL, nil, 100, 0, errForbidden},
		"a redirect":        {plain.URL + "/away", loopback, 100, 302, nil},
		"a body too large":  {plain.URL, loopback, 99, 200, errResponseTooLarge},
		"no such authority": {secure.URL + "/", loopback, 100, 0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			options := StandardClientOptions{TrustedNetworks: row.trusted, RootCAs: roots, Timeout: 10 * time.Second, MaxResponse: row.maxResponse}
			if name == "no such authority" {
				options.RootCAs = nil
			}
			response, err := NewStandardClient(options).Get(row.address)
			if row.status == 0 {
				if err == nil || !errors.Is(err, row.want) && row.want != nil {
					t.Fatalf("%v, want %v", err, row.want)
				}
				return
			}
			must.Succeed(t, err)
			_, err = io.Copy(io.Discard, response.Body)
			_ = response.Body.Close()
			if response.StatusCode != row.status || !errors.Is(err, row.want) {
				t.Errorf("%d, %v; want %d, %v", response.StatusCode, err, row.status, row.want)
			}
		})
	}
}

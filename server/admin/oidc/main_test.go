package oidc

import (
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/oauth2-proxy/mockoidc"

	"pingpost/engine/market"
	"pingpost/internal/must"
	"pingpost/outbound/dial"
)

const callback = "https://exchange.example" + PathCallback

// identityProvider is a real provider on this machine, whose answers a test can change.
type identityProvider struct {
	*mockoidc.MockOIDC
	t *testing.T

	mu     sync.Mutex
	tamper func(path string, answer []byte) []byte // nil: no change
}

func startProvider(t *testing.T) *identityProvider {
	t.Helper()
	p := &identityProvider{MockOIDC: must.Value(mockoidc.NewServer(nil))(t), t: t}
	must.Succeed(t, p.AddMiddleware(p.changeAnswers))
	listener := must.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	must.Succeed(t, p.Start(listener, nil))
	t.Cleanup(func() { _ = p.Shutdown() })
	return p
}

// changeAnswers passes each answer through tamper.
func (p *identityProvider) changeAnswers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		tamper := p.tamper
		p.mu.Unlock()
		if tamper == nil {
			next.ServeHTTP(w, r)
			return
		}
		recorded := httptest.NewRecorder()
		next.ServeHTTP(recorded, r)
		maps.Copy(w.Header(), recorded.Header())
		body := tamper(r.URL.Path, recorded.Body.Bytes())
		w.Header().Del("Content-Length")
		w.WriteHeader(recorded.Code)
		_, _ = w.Write(body)
	})
}

func (p *identityProvider) setTamper(tamper func(path string, answer []byte) []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tamper = tamper
}

// options returns the options of an exchange that knows the provider.
func (p *identityProvider) options() Options {
	return Options{
		Issuer: p.Issuer(), ClientID: p.ClientID, ClientSecret: p.ClientSecret, Scopes: []string{"openid", "email", "profile", "groups"},
		RolesClaim: "groups", Roles: map[string]market.OperatorRole{"ops": market.RoleOperator, "admins": market.RoleAdmin},
		Now: time.Now, Logger: slog.New(slog.DiscardHandler), Client: localClient(),
	}
}

func localClient() *http.Client {
	return dial.NewStandardClient(dial.StandardClientOptions{TrustedNetworks: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Timeout: 5 * time.Second, MaxResponse: 1 << 20})
}

// authorize follows the browser to the provider and returns the query of the callback.
func authorize(t *testing.T, location string) url.Values {
	t.Helper()
	browser := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response := must.Value(browser.Get(location))(t) //nolint:bodyclose // the linter does not see through must.Value
	_ = response.Body.Close()
	back := must.Value(url.Parse(response.Header.Get("Location")))(t)
	if response.StatusCode != http.StatusFound || !strings.HasPrefix(back.String(), callback+"?") {
		t.Fatalf("the provider answers %d %q", response.StatusCode, back)
	}
	return back.Query()
}

// signIn signs a person in from the beginning to the end.
func signIn(t *testing.T, p *Provider) (Identity, error) {
	t.Helper()
	location, cookie, err := p.Begin(callback)
	if err != nil {
		return Identity{}, err
	}
	return p.Finish(t.Context(), cookie, authorize(t, location))
}

func anna(groups ...string) *mockoidc.MockUser {
	return &mockoidc.MockUser{Subject: "4711", Email: "Anna@Example.com", EmailVerified: true, Groups: groups}
}

// signer signs the claims of an id token.
type signer func(claims jwt.MapClaims) string

// signWith returns a signer with an algorithm and a key, which names the provider's key.
func (p *identityProvider) signWith(method jwt.SigningMethod, key any) signer {
	return func(claims jwt.MapClaims) string {
		token := jwt.NewWithClaims(method, claims)
		token.Header["kid"] = must.Value(p.Keypair.KeyID())(p.t)
		return must.Value(token.SignedString(key))(p.t)
	}
}

// tamperWithToken makes the provider send an id token with other claims or another signature.
func (p *identityProvider) tamperWithToken(sign signer, change func(claims jwt.MapClaims)) {
	p.setTamper(func(path string, answer []byte) []byte {
		if path != mockoidc.TokenEndpoint {
			return answer
		}
		var tokens map[string]any
		if json.Unmarshal(answer, &tokens) != nil || tokens["id_token"] == nil {
			return answer
		}
		claims := jwt.MapClaims{}
		body, _ := base64.RawURLEncoding.DecodeString(strings.Split(tokens["id_token"].(string), ".")[1])
		_ = json.Unmarshal(body, &claims)
		change(claims)
		tokens["id_token"] = sign(claims)
		changed, _ := json.Marshal(tokens)
		return changed
	})
}

func untrustingClient() *http.Client {
	return dial.NewStandardClient(dial.StandardClientOptions{Timeout: 5 * time.Second, MaxResponse: 1 << 20})
}

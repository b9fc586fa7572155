package oidc

import (
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/oauth2-proxy/mockoidc"

	"pingpost/engine/market"
	"pingpost/internal/must"
	"pingpost/outbound/dial/dialtest"
)

func TestRoleAndNameComeFromTheProvider(t *testing.T) {
	idp := startProvider(t)
	unverified := anna("ops")
	unverified.EmailVerified = false
	pretender := anna("ops")
	pretender.Subject, pretender.EmailVerified = "anna@example.com", false
	long := anna("ops")
	long.Email = strings.Repeat("x", 80) + "@example.com"
	elsewhere := anna("ops")
	elsewhere.Email = "anna@evil.example"
	lookalike := anna("ops")
	lookalike.Email = "anna@example.com.evil.example"
	for name, row := range map[string]struct {
		user   *mockoidc.MockUser
		change func(*Options)
		want   Identity
		err    error
	}{
		"one group":         {anna("ops", "other"), nil, Identity{"oidc:anna@example.com", market.RoleOperator}, nil},
		"the highest group": {anna("ops", "admins"), nil, Identity{"oidc:anna@example.com", market.RoleAdmin}, nil},
		"no known group":    {anna("other"), nil, Identity{}, ErrNoRole},
		"no group":          {anna(), nil, Identity{}, ErrNoRole},
		"the default role":  {anna(), func(o *Options) { o.DefaultRole = market.RoleViewer }, Identity{"oidc:anna@example.com", market.RoleViewer}, nil},
		"another claim":     {anna("ops"), func(o *Options) { o.RolesClaim = "realm_access.roles" }, Identity{}, ErrNoRole},
		"a claim of text": {anna(), func(o *Options) {
			o.RolesClaim, o.Roles = "preferred_username", map[string]market.OperatorRole{"ann": market.RoleViewer}
		}, Identity{"oidc:anna@example.com", market.RoleViewer}, nil},
		"an unverified address":     {unverified, nil, Identity{"oidc:sub:4711", market.RoleOperator}, nil},
		"a long address":            {long, nil, Identity{"oidc:" + strings.Repeat("x", 40) + "~", market.RoleOperator}, nil},
		"an allowed domain":         {anna("ops"), allowExample, Identity{"oidc:anna@example.com", market.RoleOperator}, nil},
		"another domain":            {elsewhere, allowExample, Identity{}, ErrNoRole},
		"a domain that begins so":   {lookalike, allowExample, Identity{}, ErrNoRole},
		"unverified allowed domain": {unverified, allowExample, Identity{}, ErrNoRole},
		"a subject like an address": {pretender, nil, Identity{"oidc:sub:anna@example.com", market.RoleOperator}, nil},
		"such a subject and domain": {pretender, allowExample, Identity{}, ErrNoRole},
	} {
		t.Run(name, func(t *testing.T) {
			row.user.PreferredUsername = "ann"
			options := idp.options()
			if row.change != nil {
				row.change(&options)
			}
			idp.QueueUser(row.user)
			got, err := signIn(t, NewProvider(options))
			if !errors.Is(err, row.err) || got.Role != row.want.Role || !strings.HasPrefix(got.Name, row.want.Name) || len(got.Name) > maxName {
				t.Errorf("got %+v, %v; want %+v, %v", got, err, row.want, row.err)
			}
		})
	}
}

func allowExample(o *Options) { o.AllowedDomains = []string{"example.org", "example.com"} }

// A role that the provider takes away is gone at the next sign-in.
func TestRemovedRoleEndsAtNextSignIn(t *testing.T) {
	idp := startProvider(t)
	p := NewProvider(idp.options())
	for _, row := range []struct {
		groups []string
		role   market.OperatorRole
		err    error
	}{{[]string{"admins"}, market.RoleAdmin, nil}, {[]string{"ops"}, market.RoleOperator, nil}, {nil, 0, ErrNoRole}} {
		idp.QueueUser(anna(row.groups...))
		if got, err := signIn(t, p); got.Role != row.role || !errors.Is(err, row.err) {
			t.Errorf("groups %q: got %+v, %v", row.groups, got, err)
		}
	}
}

// Each id token that another party signed, or that is for another purpose, is refused.
func TestForgedIDTokensAreRefused(t *testing.T) {
	idp := startProvider(t)
	stranger := must.Value(rsa.GenerateKey(rand.Reader, 2048))(t)
	own := idp.signWith(jwt.SigningMethodRS256, idp.Keypair.PrivateKey)
	keep := func(jwt.MapClaims) {}
	set := func(name string, value any) func(jwt.MapClaims) {
		return func(claims jwt.MapClaims) { claims[name] = value }
	}
	for name, row := range map[string]struct {
		sign   signer
		change func(jwt.MapClaims)
		valid  bool
	}{
		"unchanged":               {own, keep, true},
		"more claims":             {own, set("x", 1), true},
		"two audiences with azp":  {own, func(c jwt.MapClaims) { c["aud"], c["azp"] = []string{"other", idp.ClientID}, idp.ClientID }, true},
		"another key":             {idp.signWith(jwt.SigningMethodRS256, stranger), keep, false},
		"no signature":            {idp.signWith(jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType), keep, false},
		"HMAC with the secret":    {idp.signWith(jwt.SigningMethodHS256, []byte(idp.ClientSecret)), keep, false},
		"another audience":        {own, set("aud", "other"), false},
		"two audiences":           {own, set("aud", []string{"other", idp.ClientID}), false},
		"another authorized one":  {own, set("azp", "other"), false},
		"another issuer":          {own, set("iss", "https://evil.example"), false},
		"expired":                 {own, set("exp", time.Now().Add(-time.Hour).Unix()), false},
		"without an end":          {own, func(c jwt.MapClaims) { delete(c, "exp") }, false},
		"another nonce":           {own, set("nonce", "other"), false},
		"without a nonce":         {own, func(c jwt.MapClaims) { delete(c, "nonce") }, false},
		"no token":                {func(jwt.MapClaims) string { return "" }, keep, false},
		"text instead of a token": {func(jwt.MapClaims) string { return "a.b.c" }, keep, false},
	} {
		t.Run(name, func(t *testing.T) {
			idp.tamperWithToken(row.sign, row.change)
			idp.QueueUser(anna("ops"))
			got, err := signIn(t, NewProvider(idp.options()))
			if row.valid != (err == nil) || !row.valid && (!errors.Is(err, ErrInvalid) || got != Identity{}) {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

// A callback counts only in the browser and for the sign-in that began it.
func TestForeignCallbacksAreRefused(t *testing.T) {
	idp := startProvider(t)
	p := NewProvider(idp.options())
	begin := func() (cookie string, query url.Values) {
		location, cookie, err := p.Begin(callback)
		must.Succeed(t, err)
		return cookie, authorize(t, location)
	}
	for name, row := range map[string]struct {
		change func(cookie string, query url.Values) string // returns the cookie to use
		want   error
	}{
		"no cookie":        {func(string, url.Values) string { return "" }, ErrInvalid},
		"a made-up cookie": {func(string, url.Values) string { return strings.Repeat("A", 300) }, ErrInvalid},
		"the cookie of another sign-in": {func(string, url.Values) string {
			other, _ := begin()
			return other
		}, ErrInvalid},
		"the cookie of another process": {func(string, url.Values) string {
			_, cookie, _ := NewProvider(idp.options()).Begin(callback)
			return cookie
		}, ErrInvalid},
		"another state":  {func(c string, q url.Values) string { q.Set("state", "x"); return c }, ErrInvalid},
		"no state":       {func(c string, q url.Values) string { q.Del("state"); return c }, ErrInvalid},
		"two states":     {func(c string, q url.Values) string { q.Add("state", "x"); return c }, ErrInvalid},
		"no code":        {func(c string, q url.Values) string { q.Del("code"); return c }, ErrInvalid},
		"another code":   {func(c string, q url.Values) string { q.Set("code", "x"); return c }, ErrInvalid},
		"another issuer": {func(c string, q url.Values) string { q.Set("iss", "https://evil.example"); return c }, ErrInvalid},
		"a refusal":      {func(c string, q url.Values) string { q.Set("error", "access_denied"); return c }, ErrDenied},
		"a code of another sign-in": {func(c string, q url.Values) string { // PKCE and nonce differ
			_, other := begin()
			q.Set("code", other.Get("code"))
			return c
		}, ErrInvalid},
		"the same code twice": {func(c string, q url.Values) string {
			_, _ = p.Finish(t.Context(), c, q)
			return c
		}, ErrInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			cookie, query := begin()
			cookie = row.change(cookie, query)
			if got, err := p.Finish(t.Context(), cookie, query); !errors.Is(err, row.want) || got != (Identity{}) {
				t.Errorf("got %+v, %v; want %v", got, err, row.want)
			}
		})
	}
}

func TestSlowSignInExpires(t *testing.T) {
	idp := startProvider(t)
	idp.AccessTTL = time.Hour // the tokens do not expire
	options := idp.options()
	var ahead atomic.Int64
	options.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	p := NewProvider(options)
	location, cookie, err := p.Begin(callback)
	must.Succeed(t, err)
	query := authorize(t, location)
	ahead.Store(int64(flowLife))
	if _, err := p.Finish(t.Context(), cookie, query); !errors.Is(err, ErrInvalid) {
		t.Errorf("%v", err)
	}
}

// The metadata name the endpoints. Those of another issuer are refused, and if the provider announces
// the parameter iss, a callback without it is refused (RFC 9207).
func TestMixedUpIssuersAreRefused(t *testing.T) {
	idp := startProvider(t)
	replace := func(from, to string) {
		idp.setTamper(func(path string, answer []byte) []byte {
			if path == mockoidc.DiscoveryEndpoint {
				answer = []byte(strings.Replace(string(answer), from, to, 1))
			}
			return answer
		})
	}
	replace(`"issuer":"`, `"issuer":"https://evil.example/`)
	if _, _, err := NewProvider(idp.options()).Begin(callback); !errors.Is(err, ErrUnreachable) {
		t.Errorf("metadata of another issuer: %v", err)
	}
	replace(`{`, `{"authorization_response_iss_parameter_supported":true,`)
	p := NewProvider(idp.options())
	for issuer, want := range map[string]error{"": ErrInvalid, idp.Issuer(): nil, idp.Issuer() + "/": ErrInvalid} {
		location, cookie, err := p.Begin(callback)
		must.Succeed(t, err)
		idp.UserQueue = &mockoidc.UserQueue{}
		query := authorize(t, location)
		if issuer != "" {
			query.Set("iss", issuer)
		}
		_, err = p.Finish(t.Context(), cookie, query)
		if errors.Is(err, ErrNoRole) {
			err = nil // the default user of the provider has no role here
		}
		if !errors.Is(err, want) {
			t.Errorf("iss %q: %v, want %v", issuer, err, want)
		}
	}
}

// A provider that is down fails the sign-in at once, and works again later. Asking whether it is
// reachable never waits.
func TestProviderDownAndUpAgain(t *testing.T) {
	idp := startProvider(t)
	options := idp.options()
	var ahead atomic.Int64
	options.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	options.Issuer = "http://" + dialtest.UnusedAddress(t)
	silent := NewProvider(options)
	if !silent.WasReachableOrUnknown() {
		t.Error("a provider is unreachable before the first request")
	}
	if _, _, err := silent.Begin(callback); !errors.Is(err, ErrUnreachable) {
		t.Errorf("a closed port: %v", err)
	}
	if silent.WasReachableOrUnknown() {
		t.Error("a closed port is reachable")
	}

	options.Issuer = idp.Issuer()
	p := NewProvider(options)
	idp.QueueError(&mockoidc.ServerError{Code: 500, Error: "server_error"})
	if _, _, err := p.Begin(callback); !errors.Is(err, ErrUnreachable) || p.WasReachableOrUnknown() {
		t.Errorf("an answer of 500: %v", err)
	}
	if _, _, err := p.Begin(callback); !errors.Is(err, ErrUnreachable) {
		t.Errorf("shortly after a failure: %v", err)
	}
	ahead.Store(int64(retryAfter))
	location, cookie, err := p.Begin(callback)
	if err != nil || !p.WasReachableOrUnknown() {
		t.Fatalf("up again: %v", err)
	}
	query := authorize(t, location)
	must.Succeed(t, idp.Shutdown())
	if _, err := p.Finish(t.Context(), cookie, query); !errors.Is(err, ErrUnreachable) {
		t.Errorf("down before the code is exchanged: %v", err)
	}
}

// A failure of the token endpoint is the provider's, not an invalid sign-in of the person.
func TestFailingTokenEndpointIsUnreachable(t *testing.T) {
	idp := startProvider(t)
	p := NewProvider(idp.options())
	for code, want := range map[int]error{500: ErrUnreachable, 503: ErrUnreachable, 400: ErrInvalid} {
		location, cookie, err := p.Begin(callback)
		must.Succeed(t, err)
		query := authorize(t, location)
		for range 2 { // the client repeats its first request with the secret in the body
			idp.QueueError(&mockoidc.ServerError{Code: code, Error: "server_error"})
		}
		if _, err := p.Finish(t.Context(), cookie, query); !errors.Is(err, want) {
			t.Errorf("an answer of %d: %v, want %v", code, err, want)
		}
	}
}

// Requests to the provider obey the network rules: no private address outside trusted_networks.
func TestPrivateProviderNeedsTrustedNetwork(t *testing.T) {
	idp := startProvider(t)
	options := idp.options()
	options.Client = untrustingClient()
	if _, _, err := NewProvider(options).Begin(callback); !errors.Is(err, ErrUnreachable) {
		t.Errorf("%v", err)
	}
}

func TestSizeOfAnswersIsLimited(t *testing.T) {
	idp := startProvider(t)
	idp.setTamper(func(_ string, answer []byte) []byte {
		return append([]byte(strings.Repeat(" ", 1<<20)), answer...)
	})
	if _, _, err := NewProvider(idp.options()).Begin(callback); !errors.Is(err, ErrUnreachable) {
		t.Errorf("%v", err)
	}
}

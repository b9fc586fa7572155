package oidc

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"time"

	gooidc "github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"pingpost/engine/market"
)

// Options describe the provider, the client that it knows, and the rules for roles.
type Options struct {
	Issuer         string
	ClientID       string
	ClientSecret   string // empty: a public client
	Label          string // of the provider on the sign-in page; empty: the issuer's host
	Scopes         []string
	RolesClaim     string                         // the claim that gives roles; dots lead into objects
	Roles          map[string]market.OperatorRole // by the claim's value
	DefaultRole    market.OperatorRole            // without a matching value; zero: no sign-in
	AllowedDomains []string                       // of verified e-mail addresses; empty: all

	Client *http.Client // limits time and size of its requests
	Now    func() time.Time
	Logger *slog.Logger
}

// The reasons why a sign-in fails. Their texts are for the log; Handlers shows fixed words.
var (
	ErrUnreachable = errors.New("the identity provider cannot be reached")
	ErrInvalid     = errors.New("the sign-in is invalid or was started in another browser")
	ErrDenied      = errors.New("the identity provider refused the sign-in")
	ErrNoRole      = errors.New("the person has no role here")
)

const (
	metadataLife = time.Hour        // then it is loaded again in the background
	retryAfter   = 10 * time.Second // after a failure
)

// signingAlgorithms are the accepted algorithms of id tokens. All are asymmetric: with an HMAC, each
// holder of the client's secret could sign a token.
var signingAlgorithms = []string{
	gooidc.RS256, gooidc.RS384, gooidc.RS512, gooidc.ES256, gooidc.ES384, gooidc.ES512, gooidc.PS256, gooidc.PS384, gooidc.PS512, gooidc.EdDSA,
}

// metadata is the provider's discovered configuration.
type metadata struct {
	oauth         oauth2.Config
	verifier      *gooidc.IDTokenVerifier
	sendsIssuer   bool // its callbacks have the parameter iss (RFC 9207)
	loadedAtNanos int64
}

// Provider is an OpenID Connect provider. It loads the provider's metadata when they are needed,
// never at the start of the exchange. It is safe for concurrent use.
type Provider struct {
	options Options
	flows   flowSealer

	mu       sync.Mutex
	loaded   *metadata
	loading  chan struct{} // not nil: a request is under way; closed at its end
	failedAt time.Time     // of the last request; zero: it succeeded
}

// NewProvider returns a provider. It sends no request.
func NewProvider(o Options) *Provider {
	if o.Label == "" {
		o.Label = o.Issuer
		if u, err := url.Parse(o.Issuer); err == nil && u.Host != "" {
			o.Label = u.Hostname()
		}
	}
	return &Provider{options: o, flows: newFlowSealer()}
}

// Label returns the provider's name for the sign-in page.
func (p *Provider) Label() string { return p.options.Label }

// WasReachableOrUnknown reports whether the last request to the provider succeeded. It returns true
// before the first result. It never waits: if the metadata are missing or old, it starts a request in
// the background.
func (p *Provider) WasReachableOrUnknown() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shouldStartLoadLocked() {
		p.startLoadLocked()
	}
	return p.failedAt.IsZero()
}

// shouldStartLoadLocked reports whether the metadata should be requested now. The caller holds p.mu.
func (p *Provider) shouldStartLoadLocked() bool {
	now := p.options.Now()
	switch {
	case p.loading != nil:
		return false
	case !p.failedAt.IsZero() && now.Sub(p.failedAt) < retryAfter:
		return false
	}
	return p.loaded == nil || now.UnixNano()-p.loaded.loadedAtNanos >= int64(metadataLife)
}

// startLoadLocked requests the metadata in a new goroutine, which the client's timeout ends. The
// caller holds p.mu.
func (p *Provider) startLoadLocked() {
	done := make(chan struct{})
	p.loading = done
	go func() {
		loaded, err := p.load()
		p.mu.Lock()
		defer p.mu.Unlock()
		if err != nil {
			p.failedAt = p.options.Now()
			p.options.Logger.Warn("cannot load the metadata of the identity provider; operators cannot sign in there. Check admin.oidc.issuer and the network", "issuer", p.options.Issuer, "error", err)
		} else {
			p.loaded, p.failedAt = loaded, time.Time{}
		}
		p.loading = nil
		close(done)
	}()
}

// load requests the provider's metadata. The library checks that they name the configured issuer.
func (p *Provider) load() (*metadata, error) {
	ctx := p.withHTTPClient(context.Background())
	found, err := gooidc.NewProvider(ctx, p.options.Issuer)
	if err != nil {
		return nil, err
	}
	var more struct {
		SendsIssuer bool `json:"authorization_response_iss_parameter_supported"`
	}
	if err := found.Claims(&more); err != nil {
		return nil, err
	}
	o := &p.options
	return &metadata{
		oauth:         oauth2.Config{ClientID: o.ClientID, ClientSecret: o.ClientSecret, Endpoint: found.Endpoint(), Scopes: o.Scopes},
		verifier:      found.Verifier(&gooidc.Config{ClientID: o.ClientID, SupportedSigningAlgs: signingAlgorithms, Now: o.Now}),
		sendsIssuer:   more.SendsIssuer,
		loadedAtNanos: o.Now().UnixNano(),
	}, nil
}

func (p *Provider) withHTTPClient(ctx context.Context) context.Context {
	return gooidc.ClientContext(ctx, p.options.Client)
}

// metadataOrWaitForFirst returns the metadata. It waits for a request only if there are none yet; old ones
// serve until new ones have arrived. It returns ErrUnreachable only if no request has succeeded yet.
func (p *Provider) metadataOrWaitForFirst() (*metadata, error) {
	p.mu.Lock()
	if p.shouldStartLoadLocked() {
		p.startLoadLocked()
	}
	loaded, loading := p.loaded, p.loading
	p.mu.Unlock()
	if loaded == nil && loading != nil {
		<-loading
		p.mu.Lock()
		loaded = p.loaded
		p.mu.Unlock()
	}
	if loaded == nil {
		return nil, ErrUnreachable
	}
	return loaded, nil
}

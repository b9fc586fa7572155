package instructions

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"time"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
)

// Exchange is the part of the process that a Publisher uses.
type Exchange interface {
	// EngineWhileReady returns the engine, or nil while the exchange starts or stops.
	EngineWhileReady() *engine.Engine
	Now() int64
	Seal(name, value string) []byte
	RevealSecret(name string) (value string, ok bool)
}

// Publisher builds instructions from the active configuration, and makes and opens links to them. It
// is safe for concurrent use.
type Publisher struct {
	exchange Exchange
	env      ExchangeSettings
	key      [32]byte
}

// NewPublisher returns a publisher. key signs the links and must have no other use.
func NewPublisher(exchange Exchange, env *ExchangeSettings, key [32]byte) *Publisher {
	return &Publisher{exchange, *env, key}
}

// The errors of a Publisher.
var (
	ErrUnavailable     = errors.New("the exchange accepts no requests at present")
	ErrUnknownCampaign = errors.New("no campaign of this id is configured")
	ErrUnknownSupplier = errors.New("no supplier of this id is configured")
	ErrNotAccepted     = errors.New("there are no posting instructions for this supplier, because the campaign accepts no leads from it")
	ErrUnknownLink     = errors.New("the link to posting instructions is damaged, or another exchange made it")
	ErrLinkEnded       = errors.New("the link has expired or was revoked, or the supplier no longer sends leads to the campaign")
	ErrUnreadableLinks = errors.New("the stored generation of the supplier's links cannot be read")
)

// Limits of the lifetime of a link.
const (
	DefaultLinkLifetime = 7 * 24 * time.Hour
	MinLinkLifetime     = time.Minute
	MaxLinkLifetime     = 90 * 24 * time.Hour
)

// Document returns the instructions for a supplier and a campaign. Errors: ErrUnavailable,
// ErrUnknownCampaign, ErrUnknownSupplier, ErrNotAccepted.
func (p *Publisher) Document(campaignID, supplierID string) (*Document, error) {
	e, campaign, supplier, err := p.requireCampaignAcceptingSupplier(campaignID, supplierID)
	if err != nil {
		return nil, err
	}
	return Build(&p.env, campaign, supplier, credentialsOf(e, supplier)), nil
}

func (p *Publisher) requireCampaignAcceptingSupplier(campaignID, supplierID string) (e *engine.Engine, campaign *market.Campaign, supplier *market.Supplier, err error) {
	if e = p.exchange.EngineWhileReady(); e == nil || e.ActiveCatalogOrNil() == nil {
		return nil, nil, nil, ErrUnavailable
	}
	catalog := e.ActiveCatalogOrNil()
	campaign, supplier = catalog.Campaigns[market.CampaignID(campaignID)], catalog.Suppliers[market.SupplierID(supplierID)]
	switch {
	case campaign == nil:
		err = ErrUnknownCampaign
	case supplier == nil:
		err = ErrUnknownSupplier
	case !campaign.AcceptsSupplier(supplier.ID):
		err = ErrNotAccepted
	}
	return e, campaign, supplier, err
}

// credentialsOf returns the supplier's live credentials. A client with two secrets is listed once,
// with the hint of the newer secret.
func credentialsOf(e *engine.Engine, supplier *market.Supplier) SupplierCredentialHints {
	c := SupplierCredentialHints{APIKeyHints: []string{}, Clients: []OAuthClientSummary{}}
	for _, key := range e.State().CredentialsOf(event.CredentialAPIKey, event.ObjectSupplier, supplier.Ref) {
		c.APIKeyHints = append(c.APIKeyHints, key.Hint)
	}
	for _, secret := range e.State().CredentialsOf(event.CredentialOAuthClient, event.ObjectSupplier, supplier.Ref) {
		c.Clients = slices.DeleteFunc(c.Clients, func(known OAuthClientSummary) bool { return known.ID == secret.Client })
		c.Clients = append(c.Clients, OAuthClientSummary{secret.Client, secret.Hint, secret.Scopes.Names()})
	}
	return c
}

// Link is a public address under which a supplier reads its instructions.
type Link struct {
	URL     string
	Expires time.Time
}

// NewLink returns a new link to the instructions for a supplier and a campaign. Errors: those of Document,
// and ErrUnreadableLinks.
func (p *Publisher) NewLink(campaignID, supplierID string, lifetime time.Duration) (Link, error) {
	e, campaign, supplier, err := p.requireCampaignAcceptingSupplier(campaignID, supplierID)
	if err != nil {
		return Link{}, err
	}
	generation, err := p.linkGenerationOrZero(e, supplierID)
	if err != nil {
		return Link{}, err
	}
	expires := time.Unix(0, p.exchange.Now()).Add(lifetime).Truncate(time.Second)
	token := signLinkToken(&p.key, &linkClaims{supplier: supplier.Ref, campaign: campaign.Ref, expires: expires.Unix(), generation: generation})
	return Link{p.env.BaseURL + PathPrefix + token, expires}, nil
}

// PathPrefix begins the path of a link. The token follows.
const PathPrefix = "/instructions/"

// DocumentOfLinkToken returns the instructions to which a link's token belongs. Errors: ErrUnknownLink,
// ErrLinkEnded, ErrUnavailable.
func (p *Publisher) DocumentOfLinkToken(token []byte) (*Document, error) {
	c, ok := verifyLinkToken(&p.key, token)
	if !ok {
		return nil, ErrUnknownLink
	}
	if c.expires <= p.exchange.Now()/int64(time.Second) {
		return nil, ErrLinkEnded
	}
	e := p.exchange.EngineWhileReady()
	if e == nil {
		return nil, ErrUnavailable
	}
	supplierID := e.State().NameOf(event.ObjectSupplier, c.supplier)
	if generation, err := p.linkGenerationOrZero(e, supplierID); err != nil || c.generation != generation {
		return nil, ErrLinkEnded
	}
	d, err := p.Document(e.State().NameOf(event.ObjectCampaign, c.campaign), supplierID)
	if err != nil && !errors.Is(err, ErrUnavailable) {
		err = ErrLinkEnded
	}
	if err == nil {
		d.LinkEnds = time.Unix(c.expires, 0)
	}
	return d, err
}

// RevokeLinks ends all links of a supplier, by a new generation. operator is the operator's name.
// The generation is a stored secret, so it is in the log: a restored backup does not bring revoked
// links back.
func (p *Publisher) RevokeLinks(supplierID, operator string) error {
	e := p.exchange.EngineWhileReady()
	if e == nil {
		return ErrUnavailable
	}
	if e.State().RefOf(event.ObjectSupplier, supplierID) == 0 {
		return ErrUnknownSupplier
	}
	var generation [generationSize]byte
	_, _ = rand.Read(generation[:])
	name := linkSecretName(supplierID)
	return e.AsOperator(operator).SetOutgoingSecret(name, p.exchange.Seal(name, hex.EncodeToString(generation[:])))
}

// linkGenerationOrZero returns the generation of a supplier's valid links. Before the first revocation it is
// zero. The error is ErrUnreadableLinks if the stored generation cannot be read: zero in its place
// would make revoked links valid again.
func (p *Publisher) linkGenerationOrZero(e *engine.Engine, supplierID string) (generation [generationSize]byte, err error) {
	name := linkSecretName(supplierID)
	if _, revoked := e.State().SealedSecret(name); !revoked {
		return generation, nil
	}
	stored, ok := p.exchange.RevealSecret(name)
	if ok {
		generation, ok = parseGeneration(stored)
	}
	if !ok {
		return generation, ErrUnreadableLinks
	}
	return generation, nil
}

// IsLinkSecret reports whether the stored secret of this name is the generation of a supplier's
// links, which operators cannot set.
func IsLinkSecret(name string) bool { return strings.HasPrefix(name, linkSecretPrefix) }

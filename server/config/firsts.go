package config

import "pingpost/engine/market"

// Firsts is what a document gives only the first value of. Each is applied
// where nothing of its name is known yet, and never takes anything back.
// Secrets that the document only says are set are not among them.
type Firsts struct {
	Credentials []FirstCredential
	Secrets     []FirstSecret
	Paused      Paused
	Balances    []FirstBalance
	Lists       []FirstList
}

// Owner is whose a credential is.
type Owner uint8

// Who may have credentials.
const (
	OwnerSupplier Owner = 1
	OwnerBuyer    Owner = 2
)

func (o Owner) String() string {
	switch o {
	case OwnerSupplier:
		return "supplier"
	case OwnerBuyer:
		return "buyer"
	}
	return "unknown"
}

// CredentialKind is what a caller shows.
type CredentialKind uint8

// The kinds of credentials.
const (
	CredentialAPIKey      CredentialKind = 1 // in x-api-key
	CredentialOAuthClient CredentialKind = 2 // a client id and secret
	CredentialBearer      CredentialKind = 3 // a sandbox's static token
)

func (k CredentialKind) String() string {
	switch k {
	case CredentialAPIKey:
		return "api_key"
	case CredentialOAuthClient:
		return "oauth_client"
	case CredentialBearer:
		return "bearer_token"
	}
	return "unknown"
}

// FirstCredential is one by which callers show who they are. Only its hash is
// to be stored.
type FirstCredential struct {
	Owner    Owner
	OwnerID  string
	Kind     CredentialKind
	ClientID string // of an OAuth client
	Value    Secret
	Scopes   []string // none for an API key
}

// FirstSecret is one that the exchange shows to others: it is needed in the
// clear. Names are buyer/<id>/bearer, buyer/<id>/api_key, buyer/<id>/oauth and
// supplier/<id>/webhook.
type FirstSecret struct {
	Name  string
	Value Secret
}

// Paused is what begins as paused.
type Paused struct {
	Campaigns []market.CampaignID
	Buyers    []market.BuyerID
}

// FirstBalance is what a buyer begins with.
type FirstBalance struct {
	Buyer market.BuyerID
	Money market.Money
}

// FirstList is a file with a suppression list's first entries.
type FirstList struct {
	ID   market.ListID
	Path string
}

func (c *compiler) first(credential FirstCredential) {
	c.out.Firsts.Credentials = append(c.out.Firsts.Credentials, credential)
}

// keep notes an outbound secret, if its value is known here, and returns its
// name.
func (c *compiler) keep(name string, value Secret) string {
	if value.Reveal() != "" {
		c.out.Firsts.Secrets = append(c.out.Firsts.Secrets, FirstSecret{Name: name, Value: value})
	}
	return name
}

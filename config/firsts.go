package config

import (
	"pingpost/engine/event"
	"pingpost/engine/market"
)

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

// FirstCredential is one by which callers show who they are. Only its hash is
// to be stored.
type FirstCredential struct {
	Owner    event.NameKind // a supplier or a buyer
	OwnerID  string
	Kind     event.CredentialKind
	ClientID string // of an OAuth client
	Value    Secret
	Scopes   event.Scopes // none for an API key
}

// FirstSecret is one that the exchange shows to others: it is needed in the
// clear. Names are buyer/<id>/bearer, buyer/<id>/api_key, buyer/<id>/oauth,
// buyer/<id>/secret/<name> and supplier/<id>/webhook; and of variables in addresses
// buyer/<id>/variable/<NAME> and supplier/<id>/variable/<NAME>.
type FirstSecret struct {
	Name    string
	Value   Secret
	Follows bool // it takes the place of the one in force: a variable of an address
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
	At   Problem // its place in the document, without a message
}

func (c *compiler) first(credential FirstCredential) {
	c.out.Firsts.Credentials = append(c.out.Firsts.Credentials, credential)
}

// keep notes an outbound secret, if its value is known here, and returns its
// name.
func (c *compiler) keep(at place, name string, value Secret) string {
	c.lacks(at, Kept{Secret: name})
	if value.Reveal() != "" {
		c.out.Firsts.Secrets = append(c.out.Firsts.Secrets, FirstSecret{Name: name, Value: value})
	}
	return name
}

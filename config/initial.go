package config

import (
	"pingpost/config/schema"
	"pingpost/config/syntax"
	"pingpost/engine/event"
	"pingpost/engine/market"
)

// InitialValues is what a document gives only the first value of. Each is applied
// where nothing of its name is known yet, and never takes anything back.
// Secrets that the document only says are set are not among them.
type InitialValues struct {
	Credentials []InitialCredential
	Secrets     []InitialSecret
	Paused      Paused
	Balances    []InitialBalance
	Lists       []InitialList
}

// InitialCredential is one by which callers show who they are. Only its hash is
// to be stored.
type InitialCredential struct {
	Owner    event.NameKind // a supplier or a buyer
	OwnerID  string
	Kind     event.CredentialKind
	ClientID string // of an OAuth client
	Value    schema.Secret
	Scopes   event.Scopes // none for an API key
}

// InitialSecret is one that the exchange shows to others: it is needed in the
// clear. Names are buyer/<id>/bearer, buyer/<id>/api_key, buyer/<id>/oauth,
// buyer/<id>/secret/<name> and supplier/<id>/webhook; and of variables in addresses
// buyer/<id>/variable/<NAME> and supplier/<id>/variable/<NAME>.
type InitialSecret struct {
	Name    string
	Value   schema.Secret
	Follows bool // it takes the place of the one in force: a variable of an address
}

// Paused is what begins as paused.
type Paused struct {
	Campaigns []market.CampaignID
	Buyers    []market.BuyerID
}

// InitialBalance is what a buyer begins with.
type InitialBalance struct {
	Buyer market.BuyerID
	Money market.Money
}

// InitialList is a file with a suppression list's first entries.
type InitialList struct {
	ID   market.ListID
	Path string
	At   syntax.Problem // its place in the document, without a message
}

func (c *compiler) addCredential(credential InitialCredential) {
	c.out.Initial.Credentials = append(c.out.Initial.Credentials, credential)
}

// addSecret notes an outbound secret, if its value is known here, and returns its
// name.
func (c *compiler) addSecret(at syntax.Path, name string, value schema.Secret) string {
	c.noteUnset(at, UnsetVariable{Secret: name})
	if value.Reveal() != "" {
		c.out.Initial.Secrets = append(c.out.Initial.Secrets, InitialSecret{Name: name, Value: value})
	}
	return name
}

package config

import (
	"slices"
	"strings"

	"pingpost/config/canonical"
	"pingpost/config/schema"
	"pingpost/config/syntax"
	"pingpost/engine/event"
	"pingpost/engine/market"
)

// InitialValues are values that a document gives only for the first time: credentials,
// secrets, pauses, balances and lists. The exchange applies each only if it does not know its
// name yet, and never removes one. The exception is a secret with Follows, which replaces the
// stored value. Secrets that the document only declares are not included.
type InitialValues struct {
	Credentials []InitialCredential
	Secrets     []InitialOutboundSecret
	Paused      InitialCampaignAndBuyerPauses
	Balances    []InitialBalance
	Lists       []InitialSuppressionFile
}

// InitialCredential is a credential that a supplier or a buyer presents to the exchange. The
// exchange must store only its hash.
type InitialCredential struct {
	Owner    event.ConfigObjectKind // a supplier or a buyer
	OwnerID  string
	Kind     event.SupplierOrBuyerCredentialKind
	ClientID string // for an OAuth client
	Value    schema.Secret
	Scopes   event.OAuthScopes // zero for an API key
}

// InitialOutboundSecret is a secret that the exchange presents to others, so it needs the plain
// value. Names are buyer/<id>/bearer, buyer/<id>/api_key, buyer/<id>/oauth,
// buyer/<id>/secret/<name> and supplier/<id>/webhook. Variables in addresses are named
// buyer/<id>/variable/<NAME> and supplier/<id>/variable/<NAME>.
type InitialOutboundSecret struct {
	Name    string
	Value   schema.Secret
	Follows bool // replaces the value in force: a variable of an address
}

// InitialCampaignAndBuyerPauses are the campaigns and buyers that are paused when the exchange first sees
// them.
type InitialCampaignAndBuyerPauses struct {
	Campaigns []market.CampaignID
	Buyers    []market.BuyerID
}

// InitialBalance is a buyer's balance when the exchange first sees the buyer.
type InitialBalance struct {
	Buyer market.BuyerID
	Money market.Money
}

// InitialSuppressionFile names the file with the first entries of a suppression list.
type InitialSuppressionFile struct {
	ID   market.ListID
	Path string
	At   syntax.Problem // its place in the document, without a message
}

// addInitialCredential adds a credential that callers present to the exchange.
func (c *compiler) addInitialCredential(credential InitialCredential) {
	c.out.Initial.Credentials = append(c.out.Initial.Credentials, credential)
}

// addInitialSecretOrRecordUnset adds a secret that the exchange presents to others, if its value is
// known in this process. If the secret's variable has no value, it records the variable as unset. It
// always returns the secret's name.
func (c *compiler) addInitialSecretOrRecordUnset(at syntax.KeyPath, name string, value schema.Secret) (secretName string) {
	c.recordIfUnset(at, UnsetEnvironmentVariable{Secret: name})
	if value.Reveal() != "" {
		c.out.Initial.Secrets = append(c.out.Initial.Secrets, InitialOutboundSecret{Name: name, Value: value})
	}
	return name
}

// CredentialsAndSecretsOf returns the credentials and secrets that belong to these entries. The other initial
// values stay out: the exchange compiles them from the entries themselves.
func (v *InitialValues) CredentialsAndSecretsOf(refs []canonical.EntryRef) (selected InitialValues) {
	belongs := make(map[canonical.EntryRef]bool, len(refs))
	for _, ref := range refs {
		belongs[ref] = true
	}
	for i := range v.Credentials {
		if belongs[v.Credentials[i].owner()] {
			selected.Credentials = append(selected.Credentials, v.Credentials[i])
		}
	}
	for _, s := range v.Secrets {
		if belongs[ownerOfSecret(s.Name)] {
			selected.Secrets = append(selected.Secrets, s)
		}
	}
	return selected
}

// owner returns the entry that the credential belongs to.
func (c *InitialCredential) owner() canonical.EntryRef {
	if c.Owner == event.ObjectBuyer {
		return canonical.EntryRef{Kind: canonical.Buyers, ID: c.OwnerID}
	}
	return canonical.EntryRef{Kind: canonical.Suppliers, ID: c.OwnerID}
}

// ownerOfSecret returns the entry that the secret of this name belongs to: see InitialOutboundSecret.
func ownerOfSecret(name string) canonical.EntryRef {
	owner, rest, _ := strings.Cut(name, "/")
	id, _, _ := strings.Cut(rest, "/")
	return canonical.EntryRef{Kind: canonical.Collection(owner + "s"), ID: id}
}

// UnsetVariablesOfEntries returns the unset variables that belong to these entries.
func (x *CompiledDocument) UnsetVariablesOfEntries(refs []canonical.EntryRef) (unset []UnsetEnvironmentVariable) {
	for _, variable := range x.Unset {
		switch {
		case variable.Credential != nil && slices.Contains(refs, variable.Credential.owner()),
			variable.Credential == nil && !variable.IsSetting() && slices.Contains(refs, ownerOfSecret(variable.Secret)):
			unset = append(unset, variable)
		}
	}
	return unset
}

package config

import (
	"pingpost/engine/event"
)

// Kept is a variable of the environment that has no value here. The exchange may have
// sealed the value that it had before: a start needs no variable again that an exchange
// has.
type Kept struct {
	Problem    Problem          // to report where the exchange has no value either
	Variable   string           // its name, where the value is nothing but it
	Secret     string           // name of the sealed value
	Credential *FirstCredential // what the variable gives the first value of; with neither, a setting

	// address is the whole address that the variable is in, where it is in the host.
	// The document in force must have the same address: another one could send the
	// value to anybody.
	address Address
}

// IsSetting reports whether the variable is of a setting, which nothing seals.
func (k *Kept) IsSetting() bool { return k.Secret == "" && k.Credential == nil }

// Given is a secret of a document, and the variable that gave it: empty where none did, or
// where the document is of a version that did not keep the name.
type Given struct {
	secret   string // name of a sealed one, else the rest
	owner    event.NameKind
	id       string
	kind     event.CredentialKind
	client   string
	variable string
	address  Address // see Kept
}

// Is reports whether a document that was in force had the same variable for the same
// secret. The value of another variable was never here.
func (k *Kept) Is(before map[Given]bool) bool {
	if k.address != "" {
		return before[Given{secret: k.Secret, address: k.address}]
	}
	given := Given{secret: k.Secret}
	if c := k.Credential; c != nil {
		given = Given{owner: c.Owner, id: c.OwnerID, kind: c.Kind, client: c.ClientID}
	}
	named := given
	named.variable = k.Variable
	return before[named] || before[given] || IsVariable(k.Secret)
}

// Given are the document's secrets with their variables.
func (d *Document) Given() map[Given]bool {
	all := make(map[Given]bool)
	add := func(of Given, s Secret) {
		of.variable = s.variable
		all[of] = s.IsSet()
	}
	clients := func(owner event.NameKind, id string, list []OAuthClient) {
		for i := range list {
			add(Given{owner: owner, id: id, kind: event.CredentialOAuthClient, client: list[i].ClientID}, list[i].ClientSecret)
		}
	}
	addresses := func(prefix string, list ...Address) {
		for _, a := range list {
			for _, name := range a.variables() {
				all[Given{secret: owner{prefix: prefix}.variable(name), address: a}] = true
			}
		}
	}
	for i := range d.Suppliers {
		s := &d.Suppliers[i]
		add(Given{owner: event.NameSupplier, id: s.ID, kind: event.CredentialAPIKey}, s.APIKey)
		clients(event.NameSupplier, s.ID, s.OAuthClients)
		for j := range s.BearerTokens {
			add(Given{owner: event.NameSupplier, id: s.ID, kind: event.CredentialBearer}, s.BearerTokens[j].Token)
		}
		if s.Webhook != nil {
			add(Given{secret: WebhookSecretName(s.ID)}, s.Webhook.Secret)
			addresses(supplierPrefix(s.ID), s.Webhook.URL)
		}
	}
	for i := range d.Buyers {
		b := &d.Buyers[i]
		clients(event.NameBuyer, b.ID, b.OAuthClients)
		addresses(buyerPrefix(b.ID), b.Endpoint, b.PingURL, b.PostURL, b.TestEndpoint, b.TestPingURL, b.TestPostURL)
		for j := range b.Secrets {
			add(Given{secret: BuyerSecretName(b.ID, b.Secrets[j].Name)}, b.Secrets[j].Value)
		}
		if a := b.Auth; a != nil {
			add(Given{secret: buyerPrefix(b.ID) + "/bearer"}, a.Bearer)
			add(Given{secret: buyerPrefix(b.ID) + "/api_key"}, a.APIKey)
			if a.OAuth != nil {
				addresses(buyerPrefix(b.ID), a.OAuth.TokenURL)
				add(Given{secret: buyerPrefix(b.ID) + "/oauth"}, a.OAuth.ClientSecret)
			}
		}
	}
	return all
}

// lacks notes that a variable at the place has no value, if that is so.
func (c *compiler) lacks(at place, kept Kept) {
	if found, exact := c.source.find(at); exact && found.missing != "" {
		c.lacksFor(at, kept, found.missing)
	}
}

func (c *compiler) lacksFor(at place, kept Kept, message string) {
	found, _ := c.source.find(at)
	kept.Variable = onlyVariable(found.raw)
	kept.Problem = Problem{File: c.source.Path, Line: found.line, Column: found.column, Path: string(at), Message: message}
	c.out.Kept = append(c.out.Kept, kept)
}

// KeptSettings are the problems of variables that settings need, nil where none does.
func (x *Exchange) KeptSettings() error {
	var problems Problems
	for i := range x.Kept {
		if x.Kept[i].IsSetting() {
			problems = append(problems, x.Kept[i].Problem)
		}
	}
	return problems.err()
}

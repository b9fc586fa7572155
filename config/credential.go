package config

import (
	"strings"

	"pingpost/engine/event"
)

// OAuthClient is a pair of names by which a supplier or buyer gets tokens.
type OAuthClient struct {
	ClientID     string   `json:"client_id"`
	ClientSecret Secret   `json:"client_secret,omitzero"`
	Scopes       []string `json:"scopes,omitempty"`
}

// BearerToken is a long-lived token of a sandbox.
type BearerToken struct {
	Token  Secret   `json:"token,omitzero"`
	Scopes []string `json:"scopes,omitempty"`
}

// The scopes that a client or token may have.
const (
	ScopePing    = "ping"
	ScopePost    = "post"
	ScopeWebhook = "webhook"
)

const maxClientID = 128

func fillClients(clients []OAuthClient, scopes ...string) {
	for i := range clients {
		if len(clients[i].Scopes) == 0 {
			clients[i].Scopes = scopes
		}
	}
}

func fillTokens(tokens []BearerToken) {
	for i := range tokens {
		if len(tokens[i].Scopes) == 0 {
			tokens[i].Scopes = []string{ScopePing, ScopePost, ScopeWebhook}
		}
	}
}

func (c *compiler) clients(at place, owner event.NameKind, ownerID string, clients []OAuthClient) {
	for i := range clients {
		here, client := at.at(i), &clients[i]
		switch {
		case client.ClientID == "":
			c.fail(here.key("client_id"), "is missing; give the client a name")
		case len(client.ClientID) > maxClientID || strings.ContainsFunc(client.ClientID, notInClientID):
			c.fail(here.key("client_id"), "is not a client id; use 1 to 128 visible ASCII characters and no colon")
		default:
			c.unique(here.key("client_id"), "client", client.ClientID)
		}
		scopes := c.scopes(here.key("scopes"), client.Scopes)
		c.idle(here.key("scopes"), owner, client.Scopes)
		c.needed(here.key("client_secret"), client.ClientSecret)
		first := FirstCredential{
			Owner: owner, OwnerID: ownerID, Kind: event.CredentialOAuthClient,
			ClientID: client.ClientID, Value: client.ClientSecret, Scopes: scopes,
		}
		c.lacks(here.key("client_secret"), Kept{Credential: &first})
		if c.carried(here.key("client_secret"), client.ClientSecret) {
			c.first(first)
		}
	}
}

func notInClientID(r rune) bool { return r <= ' ' || r > '~' || r == ':' }

func (c *compiler) tokens(at place, owner event.NameKind, ownerID string, tokens []BearerToken) {
	if len(tokens) > 0 && !c.source.Document.Sandbox {
		c.fail(at, "static tokens belong to a sandbox; say sandbox: true, or use oauth_clients")
	}
	for i := range tokens {
		here, token := at.at(i), &tokens[i]
		scopes := c.scopes(here.key("scopes"), token.Scopes)
		c.needed(here.key("token"), token.Token)
		first := FirstCredential{
			Owner: owner, OwnerID: ownerID, Kind: event.CredentialBearer,
			Value: token.Token, Scopes: scopes,
		}
		c.lacks(here.key("token"), Kept{Credential: &first})
		if c.carried(here.key("token"), token.Token) {
			c.unique(here.key("token"), "token", token.Token.Reveal())
			c.first(first)
		}
	}
}

func (c *compiler) needed(at place, s Secret) {
	if !s.IsSet() {
		c.fail(at, "is missing; give the secret, best as ${NAME} from the environment")
	}
}

func (c *compiler) scopes(at place, names []string) (scopes event.Scopes) {
	seen := make(map[string]place, len(names))
	for i, name := range names {
		if c.oneOf(at.at(i), name, ScopePing, ScopePost, ScopeWebhook) {
			c.once(at.at(i), seen, name)
		}
		scope, _ := event.ParseScope(name)
		scopes |= scope
	}
	return scopes
}

// unique reports a credential by which two owners could not be told apart.
func (c *compiler) unique(at place, kind, value string) {
	first, twice := c.credentials[kind+" "+value]
	if twice {
		c.fail(at, "is the same as "+string(first)+"; nobody could tell the two apart")
		return
	}
	c.credentials[kind+" "+value] = at
}

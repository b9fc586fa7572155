package config

import (
	"strings"

	"pingpost/config/schema"
	"pingpost/config/syntax"
	"pingpost/engine/event"
)

const maxClientID = 128

func (c *compiler) compileOAuthClients(at syntax.KeyPath, owner event.ConfigObjectKind, ownerID string, clients []schema.OAuthClient) {
	for i := range clients {
		here, client := at.Index(i), &clients[i]
		switch {
		case client.ClientID == "":
			c.reportMistake(here.Key("client_id"), "is missing; give the client an id")
		case len(client.ClientID) > maxClientID || strings.ContainsFunc(client.ClientID, isNotClientIDCharacter):
			c.reportMistake(here.Key("client_id"), "is not a client id; use 1 to 128 visible ASCII characters and no colon")
		default:
			c.checkCredentialUnique(here.Key("client_id"), "client", client.ClientID)
		}
		scopes := c.compileScopes(here.Key("scopes"), client.Scopes)
		c.warnUselessScopes(here.Key("scopes"), owner, client.Scopes)
		c.requireSecret(here.Key("client_secret"), client.ClientSecret)
		first := InitialCredential{
			Owner: owner, OwnerID: ownerID, Kind: event.CredentialOAuthClient,
			ClientID: client.ClientID, Value: client.ClientSecret, Scopes: scopes,
		}
		c.recordIfUnset(here.Key("client_secret"), UnsetEnvironmentVariable{Credential: &first})
		if c.checkHeaderSecret(here.Key("client_secret"), client.ClientSecret) {
			c.addInitialCredential(first)
		}
	}
}

func isNotClientIDCharacter(r rune) bool { return r <= ' ' || r > '~' || r == ':' }

func (c *compiler) compileBearerTokens(at syntax.KeyPath, owner event.ConfigObjectKind, ownerID string, tokens []schema.BearerToken) {
	if len(tokens) > 0 && !c.source.Document.Sandbox {
		c.reportMistake(at, "static tokens are allowed only in a sandbox; set sandbox: true, or use oauth_clients")
	}
	for i := range tokens {
		here, token := at.Index(i), &tokens[i]
		scopes := c.compileScopes(here.Key("scopes"), token.Scopes)
		c.requireSecret(here.Key("token"), token.Token)
		first := InitialCredential{
			Owner: owner, OwnerID: ownerID, Kind: event.CredentialBearer,
			Value: token.Token, Scopes: scopes,
		}
		c.recordIfUnset(here.Key("token"), UnsetEnvironmentVariable{Credential: &first})
		if c.checkHeaderSecret(here.Key("token"), token.Token) {
			c.checkCredentialUnique(here.Key("token"), "token", token.Token.Reveal())
			c.addInitialCredential(first)
		}
	}
}

// requireSecret reports a mistake if the document neither gives the secret nor declares that
// it exists.
func (c *compiler) requireSecret(at syntax.KeyPath, s schema.Secret) {
	if !s.IsGivenOrDeclared() {
		c.reportMistake(at, "is missing; give the secret, preferably as ${NAME} from the environment")
	}
}

// compileScopes returns the scopes (rights) of an OAuth client or a token. It reports unknown
// and repeated names.
func (c *compiler) compileScopes(at syntax.KeyPath, scopeNames []string) (scopes event.OAuthScopes) {
	seen := make(map[string]syntax.KeyPath, len(scopeNames))
	for i, name := range scopeNames {
		if c.checkOneOf(at.Index(i), name, schema.ScopePing, schema.ScopePost, schema.ScopeWebhook) {
			c.checkUnique(at.Index(i), seen, name)
		}
		scope, _ := event.ParseOAuthScope(name)
		scopes |= scope
	}
	return scopes
}

// checkCredentialUnique reports a credential that another entry of the document has too. The
// exchange could not assign requests with it to one owner.
func (c *compiler) checkCredentialUnique(at syntax.KeyPath, kind, value string) {
	first, twice := c.credentials[kind+" "+value]
	if twice {
		c.reportMistake(at, "is the same as "+string(first)+", so requests could not be told apart; use another one")
		return
	}
	c.credentials[kind+" "+value] = at
}

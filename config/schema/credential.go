package schema

// OAuthClient is a client id and a secret with which a supplier or buyer requests access
// tokens from the exchange.
type OAuthClient struct {
	ClientID     string   `json:"client_id"`
	ClientSecret Secret   `json:"client_secret,omitzero"`
	Scopes       []string `json:"scopes,omitempty"`
}

// BearerToken is a token that does not expire, for access to a sandbox.
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

func fillDefaultClientScopes(clients []OAuthClient, scopes ...string) {
	for i := range clients {
		if len(clients[i].Scopes) == 0 {
			clients[i].Scopes = scopes
		}
	}
}

func fillDefaultTokenScopes(tokens []BearerToken) {
	for i := range tokens {
		if len(tokens[i].Scopes) == 0 {
			tokens[i].Scopes = []string{ScopePing, ScopePost, ScopeWebhook}
		}
	}
}

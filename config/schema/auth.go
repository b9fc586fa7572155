package schema

// BuyerAuth is the credential that the exchange presents to a buyer: exactly one of OAuth, Bearer
// and APIKey must be set.
type BuyerAuth struct {
	OAuth  *BuyerOAuth `json:"oauth,omitempty"`
	Bearer Secret      `json:"bearer,omitzero"`
	APIKey Secret      `json:"api_key,omitzero"`
	Header string      `json:"header,omitempty"` // that carries the API key
}

// BuyerOAuth configures how the exchange requests tokens for a buyer's endpoint.
type BuyerOAuth struct {
	TokenURL     OutboundURL `json:"token_url"`
	ClientID     string      `json:"client_id"`
	ClientSecret Secret      `json:"client_secret,omitzero"`
	Scope        string      `json:"scope,omitempty"` // names separated by spaces
}

const (
	defaultHeader = "x-api-key"
)

func (a *BuyerAuth) fillDefaults() {
	if a != nil && a.APIKey.IsGivenOrDeclared() {
		setDefault(&a.Header, defaultHeader)
	}
}

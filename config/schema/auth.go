package schema

// Auth is how the exchange shows a buyer who it is: exactly one of OAuth,
// Bearer and APIKey.
type Auth struct {
	OAuth  *OAuth `json:"oauth,omitempty"`
	Bearer Secret `json:"bearer,omitzero"`
	APIKey Secret `json:"api_key,omitzero"`
	Header string `json:"header,omitempty"` // of the API key
}

// OAuth is how tokens for a buyer's endpoint are got.
type OAuth struct {
	TokenURL     Address `json:"token_url"`
	ClientID     string  `json:"client_id"`
	ClientSecret Secret  `json:"client_secret,omitzero"`
	Scope        string  `json:"scope,omitempty"` // names with spaces between
}

const (
	defaultHeader = "x-api-key"
)

func (a *Auth) fill() {
	if a != nil && a.APIKey.IsSet() {
		setDefault(&a.Header, defaultHeader)
	}
}

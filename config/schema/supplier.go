package schema

// Supplier is a sender of leads.
type Supplier struct {
	ID                 string           `json:"id"`
	Name               string           `json:"name"`
	APIKey             Secret           `json:"api_key,omitzero"`
	IngestRate         *int             `json:"ingest_rate"` // per second
	PingRate           *int             `json:"ping_rate"`   // per second
	ByteRate           *ByteSize        `json:"byte_rate"`   // of request bodies, a second
	ConcurrentAuctions *int             `json:"concurrent_auctions"`
	OAuthClients       []OAuthClient    `json:"oauth_clients,omitempty"`
	BearerTokens       []BearerToken    `json:"bearer_tokens,omitempty"`
	Webhook            *WebhookEndpoint `json:"webhook,omitempty"`
	Test               bool             `json:"test,omitempty"` // all its leads are test leads
}

const (
	defaultRate     = 100
	defaultAuctions = 1000

	// averageBody is the average body size that the default byte_rate allows at the full
	// request rates.
	averageBody = 8 * KiB
	MaxByteRate = 1024 * MiB
)

func (s *Supplier) fillDefaults() {
	setDefault(&s.Name, s.ID)
	s.IngestRate = orPointerTo(s.IngestRate, defaultRate)
	s.PingRate = orPointerTo(s.PingRate, defaultRate)
	s.ByteRate = orPointerTo(s.ByteRate, defaultByteRate(*s.IngestRate, *s.PingRate))
	s.ConcurrentAuctions = orPointerTo(s.ConcurrentAuctions, defaultAuctions)
	fillDefaultClientScopes(s.OAuthClients, ScopePing, ScopePost)
	fillDefaultTokenScopes(s.BearerTokens)
}

// defaultByteRate returns the default byte_rate of a supplier that may send this many ingests
// and pings a second. It admits at least the largest body that limits.body can allow.
func defaultByteRate(ingestRate, pingRate int) ByteSize {
	requests := min(max(ingestRate, 0), MaxRate) + min(max(pingRate, 0), MaxRate)
	return min(max(ByteSize(requests)*averageBody, MaxBody), MaxByteRate)
}

// MaxRate is the highest allowed rate, per second.
const MaxRate = 1_000_000

// WebhookEndpoint is the address that receives a supplier's webhooks.
type WebhookEndpoint struct {
	URL    OutboundURL `json:"url"`
	Secret Secret      `json:"secret,omitzero"` // whsec_ and base64
}

package schema

// Supplier is who sends leads.
type Supplier struct {
	ID                 string        `json:"id"`
	Name               string        `json:"name"`
	APIKey             Secret        `json:"api_key,omitzero"`
	IngestRate         *int          `json:"ingest_rate"` // a second
	PingRate           *int          `json:"ping_rate"`   // a second
	ByteRate           *Size         `json:"byte_rate"`   // of request bodies, a second
	ConcurrentAuctions *int          `json:"concurrent_auctions"`
	OAuthClients       []OAuthClient `json:"oauth_clients,omitempty"`
	BearerTokens       []BearerToken `json:"bearer_tokens,omitempty"`
	Webhook            *Webhook      `json:"webhook,omitempty"`
	Test               bool          `json:"test,omitempty"` // every lead of it is a test lead
}

const (
	defaultRate     = 100
	defaultAuctions = 1000

	// bytesEach is how long a body may be on average where requests come at their
	// full rates and byte_rate is not set.
	averageBody = 8 * KiB
	MaxByteRate = 1024 * MiB
)

func (s *Supplier) fill() {
	setDefault(&s.Name, s.ID)
	s.IngestRate = valueOr(s.IngestRate, defaultRate)
	s.PingRate = valueOr(s.PingRate, defaultRate)
	s.ByteRate = valueOr(s.ByteRate, defaultByteRate(*s.IngestRate, *s.PingRate))
	s.ConcurrentAuctions = valueOr(s.ConcurrentAuctions, defaultAuctions)
	fillClients(s.OAuthClients, ScopePing, ScopePost)
	fillTokens(s.BearerTokens)
}

// defaultByteRate returns the default byte_rate of a supplier with these rates. It
// admits any body that limits.body can allow.
func defaultByteRate(ingest, ping int) Size {
	requests := min(max(ingest, 0), MaxRate) + min(max(ping, 0), MaxRate)
	return min(max(Size(requests)*averageBody, MaxBody), MaxByteRate)
}

// MaxRate is the highest rate that can be asked for, a second.
const MaxRate = 1_000_000

// Webhook is where a supplier hears of its leads.
type Webhook struct {
	URL    Address `json:"url"`
	Secret Secret  `json:"secret,omitzero"` // whsec_ and base64
}

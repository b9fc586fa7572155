package instructions

import (
	"encoding/json"
	"time"

	"pingpost/engine/market"
	"pingpost/server/testlead"
)

// Document is the posting instructions of one supplier for one campaign.
type Document struct {
	Campaign    CampaignSummary        `json:"campaign"`
	Supplier    SupplierSummary        `json:"supplier"`
	Sandbox     bool                   `json:"sandbox"`
	BaseURL     string                 `json:"base_url"`
	BaseURLSet  bool                   `json:"base_url_configured"` // false: it is the address of the listener
	DocsURL     string                 `json:"documentation_url"`   // the page for suppliers
	APIKeyHints []string               `json:"api_key_hints"`
	Clients     []OAuthClientSummary   `json:"oauth_clients"`
	Selectors   []Field                `json:"selectors"` // members that select the campaign and the supplier
	Fields      []Field                `json:"fields"`
	Unknown     string                 `json:"unknown_members"` // drop, keep or reject
	Consent     ConsentRules           `json:"consent"`
	Duplicates  DuplicateSummary       `json:"duplicates"`
	Requests    []SampleRequest        `json:"requests"`
	Answers     []SampleAnswer         `json:"answers"`
	Codes       []PublicErrorAndRemedy `json:"response_codes"`
	Limits      Limits                 `json:"limits"`
	Retention   map[string]string      `json:"retention"` // by path: how long an answer can be replayed
	SampleFits  bool                   `json:"sample_passes"`
	LinkEnds    time.Time              `json:"-"` // end of the link under which the document is read; zero: no link
}

// CampaignSummary describes the campaign.
type CampaignSummary struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Vertical    string `json:"vertical"`
	SubVertical string `json:"sub_vertical"`
	PingPost    bool   `json:"ping_post"`
}

// SupplierSummary describes the supplier. All leads of a supplier with Test are test leads.
type SupplierSummary struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Test bool   `json:"test"`
}

// OAuthClientSummary is an OAuth client of the supplier, without its secret.
type OAuthClientSummary struct {
	ID     string   `json:"client_id"`
	Hint   string   `json:"secret_hint"`
	Scopes []string `json:"scopes"`
}

// Field is a member of an ingest.
type Field struct {
	Name     string          `json:"name"`
	Type     string          `json:"type"`
	Required bool            `json:"required"`
	Standard bool            `json:"standard"` // every campaign has the field
	InPing   bool            `json:"in_ping"`
	Contact  bool            `json:"contact"`
	Rule     string          `json:"rule"`
	Pattern  string          `json:"pattern,omitempty"`
	Default  json.RawMessage `json:"default"`
	Example  json.RawMessage `json:"example"`
}

// ConsentRules says which leads need a certificate of consent, and from which hosts.
type ConsentRules struct {
	Sources []string `json:"required_for_sources"`
	Hosts   []string `json:"accepted_hosts"` // empty: any
}

// DuplicateSummary says which leads count as duplicates. An empty Window means that no lead does.
type DuplicateSummary struct {
	Fields []string `json:"fields"`
	All    bool     `json:"all_must_match"`
	Window string   `json:"window"` // empty: no check
	Shared bool     `json:"shared"` // leads of other campaigns count too
}

// SampleRequest is a request that the exchange accepts if the supplier puts its values in the
// placeholders.
type SampleRequest struct {
	Title   string   `json:"title"`
	Method  string   `json:"method"`
	Path    string   `json:"path"`
	URL     string   `json:"url"`
	Headers []Header `json:"headers"`
	Body    string   `json:"body"` // indented JSON; empty: none
	Curl    string   `json:"curl"`
}

// Header is a header of a sample request.
type Header struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// SampleAnswer is an answer to an ingest.
type SampleAnswer struct {
	Title   string `json:"title"`
	Status  int    `json:"status"`
	Body    string `json:"body"` // indented JSON
	Meaning string `json:"meaning"`
}

// PublicErrorAndRemedy is an error of the public address, with the remedy.
type PublicErrorAndRemedy struct {
	Status int    `json:"status"`
	Code   string `json:"code"`
	Retry  bool   `json:"retry"`
	Do     string `json:"do"`
}

// Limits are the supplier's limits.
type Limits struct {
	IngestRate         int `json:"ingests_per_second"`
	PingRate           int `json:"pings_per_second"`
	ByteRate           int `json:"body_bytes_per_second"`
	ConcurrentAuctions int `json:"concurrent_auctions"`
	BodyBytes          int `json:"body_bytes"`
}

// ExchangeSettings has the settings of the exchange that instructions mention.
type ExchangeSettings struct {
	BaseURL         string // without a slash at the end
	BaseURLSet      bool   // the configuration has it
	Sandbox         bool
	BodyBytes       int
	Idempotency     time.Duration
	PingIdempotency time.Duration
	FormatDuration  func(time.Duration) string
}

// SupplierCredentialHints are the supplier's live credentials, without secrets.
type SupplierCredentialHints struct {
	APIKeyHints []string
	Clients     []OAuthClientSummary
}

// indexOfAuctions is the index in Requests of the first request of an auction.
const indexOfAuctions = 2

// sampleSeed makes the sample lead of a configuration the same in each document.
const sampleSeed = 1

// Build returns the instructions for the supplier and the campaign of the active catalog.
func Build(env *ExchangeSettings, campaign *market.Campaign, supplier *market.Supplier, credentials SupplierCredentialHints) *Document {
	s := testlead.MakeExample(campaign, sampleSeed)
	d := &Document{
		Campaign: CampaignSummary{string(campaign.ID), campaign.Name, campaign.Vertical, campaign.SubVertical, campaign.Method == market.PingPost},
		Supplier: SupplierSummary{string(supplier.ID), supplier.Name, supplier.Test},
		Sandbox:  env.Sandbox, BaseURL: env.BaseURL, BaseURLSet: env.BaseURLSet, DocsURL: env.BaseURL + pathDocs,
		APIKeyHints: credentials.APIKeyHints, Clients: credentials.Clients,
		Selectors: []Field{
			{Name: unambiguousIDMemberName(campaign, memberCampaign), Type: "string", Required: true, Standard: true, Rule: "the campaign", Example: quoteJSON(string(campaign.ID))},
			{Name: unambiguousIDMemberName(campaign, memberSupplier), Type: "string", Required: true, Standard: true, Rule: "your id", Example: quoteJSON(string(supplier.ID))},
		},
		Fields: describeFields(campaign, s), Unknown: unknownNames[campaign.Mapping.PolicyForUnknownMembers()],
		Consent:    consentRulesOf(campaign),
		Duplicates: summarizeDuplicates(env, campaign),
		Answers:    sampleIngestAnswers(campaign, s), Codes: errorsForSupplier(campaign.Method == market.PingPost),
		Limits:     Limits{supplier.IngestRate, supplier.PingRate, supplier.ByteRate, supplier.ConcurrentAuctions, env.BodyBytes},
		Retention:  map[string]string{pathIngest: env.FormatDuration(env.Idempotency)},
		SampleFits: len(s.Eligible) > 0,
	}
	r := sampleRequestBuilder{env: env, campaign: campaign, supplier: string(supplier.ID), sample: s}
	d.Requests = append(d.Requests, r.ingest(), r.leadStatusQuery())
	if d.Campaign.PingPost {
		d.Retention[pathAvailability], d.Retention[pathPing] = env.FormatDuration(env.PingIdempotency), env.FormatDuration(env.PingIdempotency)
		d.Retention[pathPost] = env.FormatDuration(env.Idempotency)
		d.Requests = append(d.Requests, r.pingForAllBids(), r.ingestAtChosenBid())
		if campaign.Vertical != "" {
			d.Requests = append(d.Requests, r.token(), r.ping(), r.post())
		}
	}
	return d
}

// FindRequest returns the first sample request with this path, or nil.
func (d *Document) FindRequest(path string) *SampleRequest {
	for i := range d.Requests {
		if d.Requests[i].Path == path {
			return &d.Requests[i]
		}
	}
	return nil
}

var unknownNames = map[market.UnknownMemberPolicy]string{market.UnknownDrop: "drop", market.UnknownKeep: "keep", market.UnknownReject: "reject"}

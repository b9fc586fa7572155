package instructions

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"pingpost/engine/market"
	"pingpost/server/testlead"
)

// The paths of the requests.
const (
	pathIngest       = "/api/v1/ingest"
	pathAvailability = "/api/v1/ping"
	pathPing         = "/v1/ping"
	pathPost         = "/v1/post"
	pathToken        = "/oauth/token"
	pathStatus       = "/api/v1/leads/"
	pathDocs         = "/docs/supplier"
)

// The members that select the campaign and the supplier. Each has a second name with a prefix.
const (
	memberCampaign = "campaign_id"
	memberSupplier = "supplier_id"
	prefixOfSecond = "flo_"
)

// unambiguousIDMemberName returns the name of a member that selects the campaign or the supplier. If the
// campaign has its own field of that name, only the second name means the id.
func unambiguousIDMemberName(campaign *market.Campaign, name string) string {
	if _, isField := campaign.Mapping.SlotByNameFromSuppliers(name); isField {
		return prefixOfSecond + name
	}
	return name
}

// Placeholders in sample requests. The supplier replaces them.
const (
	PlaceholderAPIKey = "YOUR_API_KEY"
	PlaceholderToken  = "YOUR_ACCESS_TOKEN"
	PlaceholderBid    = "BID_TOKEN_OF_THE_PING"
	PlaceholderPing   = "PING_ID_OF_THE_PING"
	PlaceholderBuyer  = "BUYER_ID_OF_THE_PING"
	PlaceholderLead   = "LEAD_ID"
	placeholderClient = "YOUR_CLIENT_ID"
	placeholderSecret = "YOUR_CLIENT_SECRET"
	sampleLeadID      = "your-lead-0001"
)

// HeaderTest is the header that makes a lead a test lead.
const HeaderTest = "X-Pingpost-Test"

// sampleRequestBuilder writes the sample requests of one supplier for one campaign.
type sampleRequestBuilder struct {
	env      *ExchangeSettings
	campaign *market.Campaign
	supplier string
	sample   *testlead.Example
}

func (w *sampleRequestBuilder) ingest() SampleRequest {
	return w.requestWithAPIKey("Send a lead", pathIngest, true, append(w.campaignAndSupplierMembers(), w.sample.Members...))
}

// leadStatusQuery returns the request for the present state of a lead.
func (w *sampleRequestBuilder) leadStatusQuery() SampleRequest {
	r := SampleRequest{
		Title: "Get the status of a lead, by the id in the answer", Method: "GET", Path: pathStatus + "{id}",
		URL: w.env.BaseURL + pathStatus + PlaceholderLead, Headers: []Header{{"x-api-key", PlaceholderAPIKey}},
	}
	r.Curl = r.formatCurl()
	return r
}

// pingForAllBids returns a ping with the API key. Its answer lists all bids, with their buyers.
func (w *sampleRequestBuilder) pingForAllBids() SampleRequest {
	return w.requestWithAPIKey("Ask for the bids on a lead", pathAvailability, false, append(w.campaignAndSupplierMembers(), w.pingMembers()...))
}

// ingestAtChosenBid returns an ingest that sells the lead at a bid of an availability request.
func (w *sampleRequestBuilder) ingestAtChosenBid() SampleRequest {
	chosen := append(w.campaignAndSupplierMembers(), textMember("flo_ping_id", PlaceholderPing), textMember("flo_buyer_id", PlaceholderBuyer))
	return w.requestWithAPIKey("Sell the lead at one of the bids", pathIngest, true, append(chosen, w.sample.Members...))
}

func (w *sampleRequestBuilder) token() SampleRequest {
	return w.buildJSONPost("Get an access token", pathToken, nil, []testlead.Member{
		textMember("grant_type", "client_credentials"), textMember("client_id", placeholderClient), textMember("client_secret", placeholderSecret), textMember("scope", "ping post"),
	})
}

func (w *sampleRequestBuilder) ping() SampleRequest {
	members := []testlead.Member{textMember("auction_id", w.auctionID()), textMember("vertical", w.campaign.Vertical)}
	if w.campaign.SubVertical != "" {
		members = append(members, textMember("sub_vertical", w.campaign.SubVertical))
	}
	return w.requestWithAccessToken("Ping with an access token", pathPing, append(members, w.pingMembers()...))
}

func (w *sampleRequestBuilder) post() SampleRequest {
	return w.requestWithAccessToken("Post the lead to the winner", pathPost, []testlead.Member{
		textMember("auction_id", w.auctionID()), textMember("bid_token", PlaceholderBid), {Name: "lead", Value: testlead.AppendObject(nil, w.fullLeadMembersForPost())},
	})
}

func (w *sampleRequestBuilder) campaignAndSupplierMembers() []testlead.Member {
	return []testlead.Member{
		textMember(unambiguousIDMemberName(w.campaign, memberCampaign), string(w.campaign.ID)), textMember(unambiguousIDMemberName(w.campaign, memberSupplier), w.supplier),
	}
}

// pingMembers returns the members of the sample lead that a ping may have. Of the ZIP code these are
// the first three digits.
func (w *sampleRequestBuilder) pingMembers() (members []testlead.Member) {
	for slot := range market.LeadFieldIndex(w.campaign.Mapping.SlotCount()) {
		d := w.campaign.Mapping.DescribeFieldForSuppliers(slot)
		value := w.sample.ValueOf(d.Name)
		switch {
		case !d.InPing || value == nil:
		case slot == market.SlotZip && len(value) > len(`"123`):
			members = append(members, testlead.Member{Name: "zip3", Value: append(bytes.Clone(value[:len(`"123`)]), '"')})
		default:
			members = append(members, testlead.Member{Name: d.Name, Value: value})
		}
	}
	return members
}

// fullLeadMembersForPost returns the sample lead in the form of a post: with the objects address and tcpa.
func (w *sampleRequestBuilder) fullLeadMembersForPost() []testlead.Member {
	members := []testlead.Member{textMember("lead_uuid", sampleLeadID)}
	var address, consent []testlead.Member
	for slot := range market.LeadFieldIndex(w.campaign.Mapping.SlotCount()) {
		name := w.campaign.Mapping.FieldNameFromSuppliers(slot)
		value := w.sample.ValueOf(name)
		if value == nil {
			continue
		}
		switch slot {
		case market.SlotLine1, market.SlotCity, market.SlotState, market.SlotZip:
			address = append(address, testlead.Member{Name: w.campaign.Mapping.FieldNameInLog(slot), Value: value})
		case market.SlotConsentText, market.SlotConsentTimestamp, market.SlotIPAddress, market.SlotConsentCertURL:
			consent = append(consent, testlead.Member{Name: w.campaign.Mapping.FieldNameInLog(slot), Value: value})
		default:
			members = append(members, testlead.Member{Name: name, Value: value})
		}
	}
	return append(members, testlead.Member{Name: "address", Value: testlead.AppendObject(nil, address)}, testlead.Member{Name: "tcpa", Value: testlead.AppendObject(nil, consent)})
}

// auctionID returns an auction id that no other campaign's sample has, because a supplier can use
// an id only once.
func (w *sampleRequestBuilder) auctionID() string { return "your-auction-" + string(w.campaign.ID) }

func (w *sampleRequestBuilder) requestWithAPIKey(title, path string, withIdempotencyKey bool, members []testlead.Member) SampleRequest {
	headers := []Header{{"x-api-key", PlaceholderAPIKey}, {HeaderTest, "1"}}
	if withIdempotencyKey {
		headers = append(headers, idempotencyKeyHeader(members))
	}
	return w.buildJSONPost(title, path, headers, members)
}

func (w *sampleRequestBuilder) requestWithAccessToken(title, path string, members []testlead.Member) SampleRequest {
	return w.buildJSONPost(title, path, []Header{{"Authorization", "Bearer " + PlaceholderToken}, {HeaderTest, "1"}, idempotencyKeyHeader(members)}, members)
}

// idempotencyKeyHeader returns an idempotency key that differs for each body. So a sample of another
// campaign, or of a later configuration, is a new request.
func idempotencyKeyHeader(members []testlead.Member) Header {
	sum := sha256.Sum256(testlead.AppendObject(nil, members))
	return Header{"Idempotency-Key", "sample-" + hex.EncodeToString(sum[:6])}
}

func (w *sampleRequestBuilder) buildJSONPost(title, path string, headers []Header, members []testlead.Member) SampleRequest {
	r := SampleRequest{
		Title: title, Method: "POST", Path: path, URL: w.env.BaseURL + path,
		Headers: append(headers, Header{"Content-Type", "application/json"}), Body: indentJSON(testlead.AppendObject(nil, members)),
	}
	r.Curl = r.formatCurl()
	return r
}

// formatCurl returns the request as a command for a POSIX shell.
func (r *SampleRequest) formatCurl() string {
	var b strings.Builder
	b.WriteString("curl -X " + r.Method + " " + quoteForShell(r.URL))
	for _, h := range r.Headers {
		b.WriteString(" \\\n  -H " + quoteForShell(h.Name+": "+h.Value))
	}
	if r.Body != "" {
		b.WriteString(" \\\n  -d " + quoteForShell(r.Body))
	}
	return b.String()
}

func quoteForShell(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// textMember returns a member with a text.
func textMember(name, text string) testlead.Member {
	return testlead.Member{Name: name, Value: quoteJSON(text)}
}

func indentJSON(document []byte) string {
	var b bytes.Buffer
	if err := json.Indent(&b, document, "", "  "); err != nil {
		panic("BUG: a sample is not JSON: " + err.Error())
	}
	return b.String()
}

package pingpost

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"pingpost/sdk/go/model"
)

// IngestLead sends a lead, by API key. That nobody takes it is no error: see Status.
func (c *Client) IngestLead(ctx context.Context, lead model.IngestRequest, options ...CallOption) (*Answer[model.IngestResponse], error) {
	return invoke[model.IngestResponse](ctx, c, c.post("/api/v1/ingest", byKey), lead, options)
}

// CheckAvailability asks who would buy a lead, by API key.
func (c *Client) CheckAvailability(ctx context.Context, question model.AvailabilityRequest, options ...CallOption) (*Answer[model.AvailabilityResponse], error) {
	return invoke[model.AvailabilityResponse](ctx, c, c.post("/api/v1/ping", byKey), question, options)
}

// GetSuppliedLead shows where a lead of the supplier's stands, by API key.
func (c *Client) GetSuppliedLead(ctx context.Context, id string, options ...CallOption) (*Answer[model.LeadResponse], error) {
	return invoke[model.LeadResponse](ctx, c, c.read("/api/v1/leads/"+url.PathEscape(id), byKey), nil, options)
}

// SendPing asks for a bid. A no-bid is no error: then Bid is nil.
func (c *Client) SendPing(ctx context.Context, ping model.PingRequest, options ...CallOption) (*Answer[model.BidResponse], error) {
	return invoke[model.BidResponse](ctx, c, c.post("/v1/ping", byToken), ping, options)
}

// SendPost sells a lead for the bid that its ping was answered with.
func (c *Client) SendPost(ctx context.Context, post model.PostRequest, options ...CallOption) (*Answer[model.PostResponse], error) {
	return invoke[model.PostResponse](ctx, c, c.post("/v1/post", byToken), post, options)
}

// GetLead shows where a lead stands, to its seller or its buyer.
func (c *Client) GetLead(ctx context.Context, id string, options ...CallOption) (*Answer[model.Lead], error) {
	return invoke[model.Lead](ctx, c, c.read("/v1/leads/"+url.PathEscape(id), byToken), nil, options)
}

// ReportStatus says what became of a lead that one has bought.
func (c *Client) ReportStatus(ctx context.Context, id string, change model.StatusChange, options ...CallOption) (*Answer[model.StatusResponse], error) {
	return invoke[model.StatusResponse](ctx, c, c.post("/v1/leads/"+url.PathEscape(id)+"/status", byToken), change, options)
}

// ReportStatuses says what became of up to a thousand leads. Each result says for itself
// whether its report was taken.
func (c *Client) ReportStatuses(ctx context.Context, batch model.StatusBatch, options ...CallOption) (*Answer[model.StatusBatchResponse], error) {
	return invoke[model.StatusBatchResponse](ctx, c, c.post("/v1/leads/status", byToken), batch, options)
}

// SeedLeads makes up leads of people who do not exist, in a sandbox.
func (c *Client) SeedLeads(ctx context.Context, request model.SeedRequest, options ...CallOption) (*Answer[model.SeedResponse], error) {
	what := c.post("/v1/dev/seed", byToken)
	what.takesKey = false
	return invoke[model.SeedResponse](ctx, c, what, request, options)
}

// CreateToken fetches an access token. A client with a ClientID does so by itself.
func (c *Client) CreateToken(ctx context.Context, request model.TokenRequest, options ...CallOption) (*Answer[model.TokenResponse], error) {
	what := call{method: http.MethodPost, url: c.options.AuthURL + "/oauth/token", as: byNobody}
	return invoke[model.TokenResponse](ctx, c, what, request, options)
}

func (c *Client) fetchToken(ctx context.Context) (*model.TokenResponse, error) {
	request := model.TokenRequest{
		GrantType: model.GrantTypeClientCredentials, ClientID: &c.options.ClientID, ClientSecret: &c.options.ClientSecret,
	}
	if len(c.options.Scopes) > 0 {
		scope := strings.Join(c.options.Scopes, " ")
		request.Scope = &scope
	}
	answer, err := c.CreateToken(ctx, request)
	if err != nil {
		return nil, err
	}
	return &answer.Body, nil
}

func (c *Client) post(path string, as by) call {
	return call{method: http.MethodPost, url: c.options.BaseURL + path, as: as, takesKey: true}
}

func (c *Client) read(path string, as by) call {
	return call{method: http.MethodGet, url: c.options.BaseURL + path, as: as}
}

package pingpost

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"pingpost/sdk/go/model"
)

// IngestLead sends a lead with the API key. An unsold lead is no error: see Status.
func (c *Client) IngestLead(ctx context.Context, lead model.IngestRequest, options ...CallOption) (*Answer[model.IngestResponse], error) {
	return callJSON[model.IngestResponse](ctx, c, c.post("/api/v1/ingest", withAPIKey), lead, options)
}

// CheckAvailability returns the buyers that would buy a lead. It uses the API key.
func (c *Client) CheckAvailability(ctx context.Context, question model.AvailabilityRequest, options ...CallOption) (*Answer[model.AvailabilityResponse], error) {
	return callJSON[model.AvailabilityResponse](ctx, c, c.post("/api/v1/ping", withAPIKey), question, options)
}

// GetSuppliedLead returns the status of one of the supplier's leads. It uses the API key.
func (c *Client) GetSuppliedLead(ctx context.Context, id string, options ...CallOption) (*Answer[model.LeadResponse], error) {
	return callJSON[model.LeadResponse](ctx, c, c.read("/api/v1/leads/"+url.PathEscape(id), withAPIKey), nil, options)
}

// SendPing requests a bid. If no buyer bids, Bid is nil; that is no error.
func (c *Client) SendPing(ctx context.Context, ping model.PingRequest, options ...CallOption) (*Answer[model.BidResponse], error) {
	return callJSON[model.BidResponse](ctx, c, c.post("/v1/ping", withToken), ping, options)
}

// SendPost sells a lead at the bid of its ping.
func (c *Client) SendPost(ctx context.Context, post model.PostRequest, options ...CallOption) (*Answer[model.PostResponse], error) {
	return callJSON[model.PostResponse](ctx, c, c.post("/v1/post", withToken), post, options)
}

// GetLead returns the status of a lead for its seller or its buyer.
func (c *Client) GetLead(ctx context.Context, id string, options ...CallOption) (*Answer[model.Lead], error) {
	return callJSON[model.Lead](ctx, c, c.read("/v1/leads/"+url.PathEscape(id), withToken), nil, options)
}

// ReportStatus reports the status of a bought lead.
func (c *Client) ReportStatus(ctx context.Context, id string, change model.StatusChange, options ...CallOption) (*Answer[model.StatusResponse], error) {
	return callJSON[model.StatusResponse](ctx, c, c.post("/v1/leads/"+url.PathEscape(id)+"/status", withToken), change, options)
}

// ReportStatuses reports the statuses of up to a thousand leads. Each result tells whether its
// report was accepted.
func (c *Client) ReportStatuses(ctx context.Context, batch model.StatusBatch, options ...CallOption) (*Answer[model.StatusBatchResponse], error) {
	return callJSON[model.StatusBatchResponse](ctx, c, c.post("/v1/leads/status", withToken), batch, options)
}

// SeedLeads creates leads about fictitious people in a sandbox.
func (c *Client) SeedLeads(ctx context.Context, request model.SeedRequest, options ...CallOption) (*Answer[model.SeedResponse], error) {
	what := c.post("/v1/dev/seed", withToken)
	what.takesKey = false
	return callJSON[model.SeedResponse](ctx, c, what, request, options)
}

// CreateToken fetches an access token. A client with a ClientID does this automatically.
func (c *Client) CreateToken(ctx context.Context, request model.TokenRequest, options ...CallOption) (*Answer[model.TokenResponse], error) {
	what := call{method: http.MethodPost, url: c.options.AuthURL + "/oauth/token", as: withoutCredential}
	return callJSON[model.TokenResponse](ctx, c, what, request, options)
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

func (c *Client) post(path string, as credentialKind) call {
	return call{method: http.MethodPost, url: c.options.BaseURL + path, as: as, takesKey: true}
}

func (c *Client) read(path string, as credentialKind) call {
	return call{method: http.MethodGet, url: c.options.BaseURL + path, as: as}
}

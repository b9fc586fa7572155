package main

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"time"

	pingpost "pingpost/sdk/go"
	"pingpost/sdk/go/model"
)

func (d *driver) newClient(r *request) error {
	o := pingpost.Options{
		BaseURL: r.BaseURL, AuthURL: r.AuthURL, APIKey: r.APIKey, ClientID: r.ClientID, ClientSecret: r.ClientSecret,
		Scopes: r.Scopes, Token: r.Token, Timeout: seconds(r.Timeout), Sleep: note,
	}
	if r.MaxRetries != nil {
		if o.MaxRetries = *r.MaxRetries; o.MaxRetries == 0 {
			o.MaxRetries = -1
		}
	}
	c, err := pingpost.New(o)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.clients[r.Client] = c
	return nil
}

func seconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }

type method func(ctx context.Context, c *pingpost.Client, r *request, options []pingpost.CallOption) (any, pingpost.Meta, error)

// withBody adapts a method that takes only a request model.
func withBody[In, Out any](send func(*pingpost.Client, context.Context, In, ...pingpost.CallOption) (*pingpost.Answer[Out], error)) method {
	return func(ctx context.Context, c *pingpost.Client, r *request, options []pingpost.CallOption) (any, pingpost.Meta, error) {
		var in In
		if err := json.Unmarshal(r.Body, &in); err != nil {
			return nil, pingpost.Meta{}, &pingpost.UsageError{Message: "the body does not fit its model: " + err.Error()}
		}
		return unpack(send(c, ctx, in, options...))
	}
}

// ofLead adapts a method that takes only a lead id.
func ofLead[Out any](send func(*pingpost.Client, context.Context, string, ...pingpost.CallOption) (*pingpost.Answer[Out], error)) method {
	return func(ctx context.Context, c *pingpost.Client, r *request, options []pingpost.CallOption) (any, pingpost.Meta, error) {
		return unpack(send(c, ctx, r.Lead, options...))
	}
}

func unpack[Out any](answer *pingpost.Answer[Out], err error) (any, pingpost.Meta, error) {
	if err != nil {
		return nil, pingpost.Meta{}, err
	}
	return answer.Body, answer.Meta, nil
}

var methods = map[string]method{
	"ingest_lead":        withBody((*pingpost.Client).IngestLead),
	"check_availability": withBody((*pingpost.Client).CheckAvailability),
	"get_supplied_lead":  ofLead((*pingpost.Client).GetSuppliedLead),
	"send_ping":          withBody((*pingpost.Client).SendPing),
	"send_post":          withBody((*pingpost.Client).SendPost),
	"get_lead":           ofLead((*pingpost.Client).GetLead),
	"report_statuses":    withBody((*pingpost.Client).ReportStatuses),
	"seed_leads":         withBody((*pingpost.Client).SeedLeads),
	"create_token":       withBody((*pingpost.Client).CreateToken),
	"report_status": func(ctx context.Context, c *pingpost.Client, r *request, options []pingpost.CallOption) (any, pingpost.Meta, error) {
		return withBody(func(c *pingpost.Client, ctx context.Context, in model.StatusChange, options ...pingpost.CallOption) (*pingpost.Answer[model.StatusResponse], error) {
			return c.ReportStatus(ctx, r.Lead, in, options...)
		})(ctx, c, r, options)
	},
}

func names() []string { return slices.Sorted(maps.Keys(methods)) }

func (d *driver) call(ctx context.Context, r *request) (any, error) {
	d.mu.Lock()
	c, send := d.clients[r.Client], methods[r.Method]
	d.mu.Unlock()
	if c == nil || send == nil {
		return nil, &pingpost.UsageError{Message: "no such client or method"}
	}
	var options []pingpost.CallOption
	if r.Key != "" {
		options = append(options, pingpost.WithIdempotencyKey(r.Key))
	}
	if r.Test {
		options = append(options, pingpost.AsTest())
	}
	if r.Timeout > 0 {
		options = append(options, pingpost.WithTimeout(seconds(r.Timeout)))
	}
	body, meta, err := send(ctx, c, r, options)
	if err != nil {
		return nil, err
	}
	result := map[string]any{"body": body, "status": meta.Status, "request_id": meta.RequestID, "replayed": meta.Replayed}
	if meta.IdempotencyKey != "" {
		result["idempotency_key"] = meta.IdempotencyKey
	}
	if meta.Limit != nil {
		result["limit"] = map[string]any{"limit": meta.Limit.Limit, "remaining": meta.Limit.Remaining, "reset": meta.Limit.Reset.Unix()}
	}
	return result, nil
}

func verify(r *request) (any, error) {
	header := http.Header{} // keeps header names as sent, which no server would do
	for name, value := range r.Headers {
		header[name] = []string{value}
	}
	event, err := pingpost.Verifier{
		Secrets: r.Secrets, Tolerance: time.Duration(r.Tolerance) * time.Second,
		Now: func() time.Time { return time.Unix(r.Now, 0) },
	}.Verify(r.Payload, header)
	if err != nil {
		return nil, err
	}
	return map[string]any{"event": event}, nil
}

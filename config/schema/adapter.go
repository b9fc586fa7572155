package schema

import (
	"net/http"
)

// Adapter describes the pings, the posts, or both, of a buyer that does not use the
// exchange's own API (the contract). A missing one of the two uses the contract.
type Adapter struct {
	Idempotent bool            `json:"idempotent,omitempty"` // the buyer certifies that it answers a repeated post like the first one
	Ping       *AdapterRequest `json:"ping,omitempty"`
	Post       *AdapterRequest `json:"post,omitempty"`
}

// AdapterRequest describes the pings or the posts to a buyer with an adapter, and the answers.
type AdapterRequest struct {
	Method      string        `json:"method"`
	Format      string        `json:"format"`                 // of the body: json, form or xml
	ContentType string        `json:"content_type,omitempty"` // default: that of the format
	Headers     []FixedHeader `json:"headers,omitempty"`
	KeyHeader   string        `json:"key_header,omitempty"` // carries the idempotency key; empty: not sent
	Body        string        `json:"body"`                 // a template
	Answer      AnswerRules   `json:"answer"`
}

// FixedHeader is a header with a fixed value.
type FixedHeader struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

func (a *Adapter) fillDefaults() {
	if a == nil {
		return
	}
	for _, d := range [...]*AdapterRequest{a.Ping, a.Post} {
		if d != nil {
			setDefault(&d.Method, http.MethodPost)
			setDefault(&d.Answer.Format, d.Format)
		}
	}
}

// AnswerRules says where a buyer's answer contains each value.
type AnswerRules struct {
	Format   string         `json:"format"` // default: that of the request body
	Accepted string         `json:"accepted,omitempty"`
	Yes      []ScalarAsText `json:"yes,omitempty"` // values of accepted
	No       []ScalarAsText `json:"no,omitempty"`
	Price    string         `json:"price,omitempty"`
	Currency string         `json:"currency,omitempty"`
	Token    string         `json:"token,omitempty"`
	ID       string         `json:"id,omitempty"`
	Reason   string         `json:"reason,omitempty"`
}

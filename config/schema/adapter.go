package schema

import (
	"net/http"
)

// Adapter is how a buyer is spoken to whose endpoints do not speak the contract:
// pings, posts, or both. What is absent is spoken by the contract.
type Adapter struct {
	Idempotent bool     `json:"idempotent,omitempty"` // the buyer certifies that it answers a repeat as it answered the first post
	Ping       *Dialect `json:"ping,omitempty"`
	Post       *Dialect `json:"post,omitempty"`
}

// Dialect is one kind of request to such a buyer, and its answer.
type Dialect struct {
	Method      string   `json:"method"`
	Format      string   `json:"format"`                 // of the body: json, form or xml
	ContentType string   `json:"content_type,omitempty"` // absent: the format's
	Headers     []Header `json:"headers,omitempty"`
	KeyHeader   string   `json:"key_header,omitempty"` // carries the idempotency key; absent: nothing does
	Body        string   `json:"body"`                 // a template
	Answer      Answer   `json:"answer"`
}

// Header is a fixed one.
type Header struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

func (a *Adapter) fill() {
	if a == nil {
		return
	}
	for _, d := range [...]*Dialect{a.Ping, a.Post} {
		if d != nil {
			setDefault(&d.Method, http.MethodPost)
			setDefault(&d.Answer.Format, d.Format)
		}
	}
}

// Answer is where in a buyer's answer to find what.
type Answer struct {
	Format   string    `json:"format"` // absent: the body's
	Accepted string    `json:"accepted,omitempty"`
	Yes      []Literal `json:"yes,omitempty"` // values of accepted
	No       []Literal `json:"no,omitempty"`
	Price    string    `json:"price,omitempty"`
	Currency string    `json:"currency,omitempty"`
	Token    string    `json:"token,omitempty"`
	ID       string    `json:"id,omitempty"`
	Reason   string    `json:"reason,omitempty"`
}

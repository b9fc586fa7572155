package refreceiver

import (
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/loadtest/refbuyer"
	"pingpost/loadtest/refserver"
	"pingpost/outbound/webhook/signature"
)

// maxConns is the number of concurrent connections.
const maxConns = 4 << 10

// Receiver is a listening reference receiver.
type Receiver struct {
	options Options
	key     signature.Key
	book    *book
	*refserver.Server
}

// New creates a receiver and opens its address. It answers once Serve is called.
func New(options Options) (*Receiver, error) {
	options.complete()
	key, err := options.check()
	if err != nil {
		return nil, err
	}
	r := &Receiver{options: options, key: key, book: newBook(options.Remember)}
	r.Server, err = refserver.New(options.Listen, &fasthttp.Server{Name: "refreceiver", Handler: r.handle, Concurrency: maxConns})
	if err != nil {
		return nil, err
	}
	return r, nil
}

// Stats returns the current counts. Events returns the accepted events, in the order of
// their first delivery.
func (r *Receiver) Stats() Stats    { return r.book.snapshot() }
func (r *Receiver) Events() []Event { return r.book.all() }

func (r *Receiver) handle(ctx *fasthttp.RequestCtx) {
	switch path := string(ctx.Path()); {
	case path == "/stats" && ctx.IsGet():
		answer(ctx, r.Stats())
	case path == "/events" && ctx.IsGet():
		ctx.SetContentType("application/x-ndjson")
		lines := json.NewEncoder(ctx)
		for _, e := range r.Events() {
			_ = lines.Encode(e) // into memory
		}
	case ctx.IsPost():
		r.receive(ctx)
	default:
		ctx.Error("unknown path; POST webhooks to any path, or GET /stats or /events", fasthttp.StatusNotFound)
	}
}

func answer(ctx *fasthttp.RequestCtx, v any) {
	ctx.SetContentType("application/json")
	_ = json.NewEncoder(ctx).Encode(v) // into memory
}

// receive handles one delivery.
func (r *Receiver) receive(ctx *fasthttp.RequestCtx) {
	head := &ctx.Request.Header
	d := delivery{
		id: string(head.Peek("webhook-id")), timestamp: string(head.Peek("webhook-timestamp")),
		standard: string(head.Peek("webhook-signature")), own: string(head.Peek("X-Pingpost-Signature")),
		body: ctx.PostBody(),
	}
	if err := d.verify(r.key, time.Now()); err != nil {
		r.book.count(func(s *Stats) *int64 { return &s.BadSignatures })
		ctx.Error(err.Error(), fasthttp.StatusUnauthorized)
		return
	}
	attempt := r.book.attempt(d.id)
	event, err := d.parseEvent()
	if err != nil {
		r.book.count(func(s *Stats) *int64 { return &s.Invalid })
		ctx.Error(err.Error(), fasthttp.StatusUnprocessableEntity)
		return
	}
	if latency := r.options.Latency; latency != nil {
		r.Pause(latency.At(r.draw(drawDelay, &d, attempt)))
	}
	r.decide(ctx, &d, attempt, event)
}

// decide accepts an event or not, and answers.
func (r *Receiver) decide(ctx *fasthttp.RequestCtx, d *delivery, attempt int, event *Event) {
	fails := r.draw(drawFail, d, attempt) < r.options.FailRate
	how, malformed := r.drawMalformation(d, attempt)
	if !fails && (!malformed || how.acknowledges()) || r.draw(drawTaken, d, attempt) < 0.5 {
		r.book.accept(event)
	}
	switch {
	case fails:
		r.book.count(func(s *Stats) *int64 { return &s.Failed })
		ctx.Error("random failure by the configured fail rate", fasthttp.StatusInternalServerError)
	case malformed:
		r.book.count(func(s *Stats) *int64 { return &s.Malformed })
		r.answerMalformed(ctx, how)
	default:
		r.book.count(func(s *Stats) *int64 { return &s.Acknowledged })
		ctx.SetStatusCode(fasthttp.StatusNoContent)
	}
}

// These number the random decisions. Each has its own sequence.
const (
	drawFail uint8 = iota + 1
	drawTaken
	drawDelay
	drawMalformed
	drawMalformation // kind of malformed answer
)

func (r *Receiver) draw(what uint8, d *delivery, attempt int) float64 {
	return refbuyer.Draw(r.options.Seed, what, []byte(d.id), attempt)
}

// typeOfAlerts begins the types of the notifications that a channel of alerts sends.
const typeOfAlerts = "alert."

// parseEvent returns the event of a verified delivery: an event of a lead, or a notification of an
// alert, which concerns no lead.
func (d *delivery) parseEvent() (*Event, error) {
	var body struct {
		ID      string `json:"id"`
		Type    string `json:"type"`
		Created string `json:"created_at"`
		At      string `json:"at"` // of an alert
		Data    struct {
			Lead string `json:"lead_id"`
			Test bool   `json:"test"`
		} `json:"data"`
	}
	err := json.Unmarshal(d.body, &body)
	isComplete := body.Created != "" && body.Data.Lead != ""
	if strings.HasPrefix(body.Type, typeOfAlerts) {
		isComplete = body.At != ""
	}
	if err != nil || body.Type == "" || !isComplete {
		return nil, errors.New("the body is not a webhook event")
	}
	if body.ID != d.id {
		return nil, errors.New("the event's id is not webhook-id")
	}
	return &Event{ID: body.ID, Type: body.Type, Lead: body.Data.Lead, Test: body.Data.Test, Body: append(json.RawMessage(nil), d.body...)}, nil
}

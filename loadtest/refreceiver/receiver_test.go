package refreceiver

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"go.uber.org/goleak"

	"pingpost/internal/must"
	"pingpost/loadtest/refbuyer"
	"pingpost/outbound/webhook/signature"
)

const secret = "whsec_c2VjcmV0"

// start serves a receiver until the test ends, and checks that no goroutine remains.
func start(t *testing.T, options Options) (r *Receiver, base string) {
	t.Helper()
	before := goleak.IgnoreCurrent()
	options.Secret = secret
	r = must.Value(New(options))(t)
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- r.Serve(ctx) }()
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		stop()
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
		// The Date clock and the worker pool's sweeper of fasthttp end later.
		goleak.VerifyNone(t, before,
			goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"),
			goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*workerPool).Start.func2"))
	})
	return r, "http://" + r.Addr().String()
}

// parcel is a valid delivery, signed by the standard webhooks library.
func parcel(t *testing.T, id, what string) *http.Request {
	t.Helper()
	body := fmt.Sprintf(`{"id":%q,"type":%q,"created_at":"2026-03-02T12:00:00.000Z","data":{"lead_id":"lead_1"}}`, id, what)
	return parcelOf(t, id, body)
}

func parcelOf(t *testing.T, id, body string) *http.Request {
	t.Helper()
	r := must.Value(http.NewRequest(http.MethodPost, "", strings.NewReader(body)))(t)
	stock := must.Value(standardwebhooks.NewWebhook(secret))(t)
	now := time.Now()
	signed := must.Value(stock.Sign(id, now, []byte(body)))(t)
	key, _ := signature.ParseSecret(secret)
	r.Header.Set("webhook-id", id)
	r.Header.Set("webhook-timestamp", fmt.Sprint(now.Unix()))
	r.Header.Set("webhook-signature", signed)
	r.Header.Set("X-Pingpost-Signature", string(signature.AppendPingpostSignatures(nil, []signature.Key{key}, now.Unix(), []byte(body))))
	return r
}

func deliver(t *testing.T, base string, r *http.Request) (status int, text string) {
	t.Helper()
	u := must.Value(r.URL.Parse(base + "/hooks/acme?x=1"))(t)
	r.URL = u
	response, err := http.DefaultClient.Do(r)
	must.Succeed(t, err)
	defer response.Body.Close()
	all := must.Value(io.ReadAll(response.Body))(t)
	return response.StatusCode, string(all)
}

// TestVerifies: a delivery with a wrong signature is refused with the reason.
func TestVerifies(t *testing.T) {
	r, base := start(t, Options{})
	two := func(r *http.Request, name, before string) {
		r.Header.Set(name, before+r.Header.Get(name))
	}
	for name, row := range map[string]struct {
		change func(*http.Request)
		says   string // empty: accepted
	}{
		"as it should be":         {func(*http.Request) {}, ""},
		"with an unknown form":    {func(r *http.Request) { two(r, "webhook-signature", "v1a,xyz ") }, ""},
		"with another's too":      {func(r *http.Request) { two(r, "webhook-signature", "v1,AAAA ") }, ""},
		"without an id":           {func(r *http.Request) { r.Header.Del("webhook-id") }, "webhook-id or webhook-timestamp is missing"},
		"of another id":           {func(r *http.Request) { r.Header.Set("webhook-id", "evt_2") }, "webhook-signature does not match"},
		"without a time":          {func(r *http.Request) { r.Header.Del("webhook-timestamp") }, "webhook-id or webhook-timestamp is missing"},
		"an hour old":             {func(r *http.Request) { r.Header.Set("webhook-timestamp", fmt.Sprint(time.Now().Unix()-3600)) }, "off"},
		"an hour ahead":           {func(r *http.Request) { r.Header.Set("webhook-timestamp", fmt.Sprint(time.Now().Unix()+3600)) }, "off"},
		"without a signature":     {func(r *http.Request) { r.Header.Del("webhook-signature") }, "webhook-signature does not match"},
		"signed by another":       {func(r *http.Request) { r.Header.Set("webhook-signature", "v1,AAAA") }, "webhook-signature does not match"},
		"without our own":         {func(r *http.Request) { r.Header.Del("X-Pingpost-Signature") }, "another time"},
		"with our own by another": {func(r *http.Request) { two(r, "X-Pingpost-Signature", ""); cut(r) }, "X-Pingpost-Signature does not match"},
		"with a changed byte": {func(r *http.Request) {
			r.Body = io.NopCloser(strings.NewReader(`{"id":"evt_1"}`))
			r.ContentLength = 14
		}, "webhook-signature does not match"},
	} {
		t.Run(name, func(t *testing.T) {
			p := parcel(t, "evt_1", "lead.posted")
			row.change(p)
			want := http.StatusUnauthorized
			if row.says == "" {
				want = http.StatusNoContent
			}
			if status, text := deliver(t, base, p); status != want || !strings.Contains(text, row.says) {
				t.Errorf("%d %s", status, text)
			}
		})
	}
	if s := r.Stats(); s.Deliveries != 13 || s.BadSignatures != 10 || s.Acknowledged != 3 || s.Distinct != 1 || s.Repeats != 2 || s.Changed != 0 {
		t.Errorf("%+v", s)
	}
}

func cut(r *http.Request) {
	own := r.Header.Get("X-Pingpost-Signature")
	r.Header.Set("X-Pingpost-Signature", own[:len(own)-1]+"x")
}

// TestCounts counts by type, distinct events, repeats, and repeats with another body.
func TestCounts(t *testing.T) {
	r, base := start(t, Options{Remember: 3})
	for _, d := range []struct{ id, what string }{
		{"evt_1", "lead.posted"}, {"evt_1", "lead.posted"}, {"evt_2", "lead.unmatched"}, {"evt_1", "lead.sold"}, {"evt_3", "lead.posted"}, {"evt_4", "lead.posted"},
	} {
		if status, text := deliver(t, base, parcel(t, d.id, d.what)); status != http.StatusNoContent {
			t.Fatalf("%d %s", status, text)
		}
	}
	for _, body := range []string{`{`, `[]`, `{"id":"evt_9"}`, `{"id":"evt_8","type":"lead.posted","created_at":"x","data":{"lead_id":"lead_1"}}`} {
		if status, text := deliver(t, base, parcelOf(t, "evt_9", body)); status != http.StatusUnprocessableEntity {
			t.Errorf("%s: %d %s", body, status, text)
		}
	}
	response, err := http.Get(base + "/stats")
	must.Succeed(t, err)
	defer response.Body.Close()
	var s Stats
	must.Succeed(t, json.NewDecoder(response.Body).Decode(&s))
	if s.Deliveries != 10 || s.Acknowledged != 6 || s.Invalid != 4 || s.Distinct != 4 || s.Repeats != 2 || s.Changed != 1 {
		t.Errorf("%+v", s)
	}
	if s.ByType["lead.posted"] != 3 || s.ByType["lead.unmatched"] != 1 || len(s.ByType) != 2 {
		t.Errorf("%v", s.ByType)
	}
	var ids []string
	for _, e := range listed(t, base) {
		ids = append(ids, fmt.Sprint(e.ID, " ", e.Type, " ", e.Lead, " ", e.Attempts))
	}
	if want := []string{"evt_1 lead.posted lead_1 3", "evt_2 lead.unmatched lead_1 1", "evt_3 lead.posted lead_1 1"}; !slices.Equal(ids, want) || len(r.Events()) != 3 {
		t.Errorf("listed %q", ids)
	}
}

func listed(t *testing.T, base string) (all []Event) {
	t.Helper()
	response, err := http.Get(base + "/events")
	must.Succeed(t, err)
	defer response.Body.Close()
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		var e Event
		must.Succeed(t, json.Unmarshal(lines.Bytes(), &e))
		all = append(all, e)
	}
	return all
}

// TestAcceptsAlerts: notifications of alerts have the same signatures, and no lead.
func TestAcceptsAlerts(t *testing.T) {
	r, base := start(t, Options{})
	const fired = `{"type":"alert.fired","id":"alert_1","rule":"disk","at":"2026-11-30T12:00:00Z"}`
	for _, row := range []struct {
		body   string
		status int
	}{{fired, 204}, {fired, 204}, {`{"type":"alert.fired","id":"alert_1"}`, 422}, {`{"type":"lead.posted","id":"alert_1","at":"2026-11-30T12:00:00Z"}`, 422}} {
		if status, text := deliver(t, base, parcelOf(t, "alert_1", row.body)); status != row.status {
			t.Errorf("%s: %d %s", row.body, status, text)
		}
	}
	forged := parcelOf(t, "alert_1", fired)
	forged.Header.Set("webhook-signature", "v1,AAAA")
	if status, _ := deliver(t, base, forged); status != 401 {
		t.Errorf("an alert with a wrong signature: %d", status)
	}
	if s := r.Stats(); s.Distinct != 1 || s.Repeats != 1 || s.ByType["alert.fired"] != 1 || s.Changed != 0 {
		t.Errorf("%+v", s)
	}
	if line := must.Value(json.Marshal(r.Events()[0]))(t); strings.Contains(string(line), "lead_id") {
		t.Errorf("the event of an alert is %s", line)
	}
}

// TestFails: the same seed gives the same share; each attempt draws again. Some failed
// events are accepted.
func TestFails(t *testing.T) {
	fate := func(seed uint64) (text string, s Stats) {
		r, base := start(t, Options{Seed: seed, FailRate: 0.5})
		var b strings.Builder
		for i := range 40 {
			for range 3 {
				status, _ := deliver(t, base, parcel(t, fmt.Sprintf("evt_%d", i), "lead.posted"))
				fmt.Fprint(&b, status, " ")
			}
		}
		return b.String(), r.Stats()
	}
	one, s := fate(1)
	again, _ := fate(1)
	other, _ := fate(2)
	if one != again || one == other {
		t.Error("the fate does not hang on the seed alone")
	}
	if s.Failed+s.Acknowledged != 120 || s.Failed < 40 || s.Failed > 80 || s.Distinct+s.Repeats <= s.Acknowledged {
		t.Errorf("%+v", s)
	}
}

// TestHangs: an answer is delayed as configured, and Close releases it.
func TestHangs(t *testing.T) {
	r, base := start(t, Options{Latency: refbuyer.Uniform{Min: time.Minute, Max: time.Minute}})
	got := make(chan int, 1)
	go func() {
		status, _ := deliver(t, base, parcel(t, "evt_1", "lead.posted"))
		got <- status
	}()
	for !r.knows("evt_1") {
		time.Sleep(time.Millisecond)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if status := <-got; status != http.StatusNoContent {
		t.Errorf("%d", status)
	}
}

func (r *Receiver) knows(id string) bool {
	r.book.mu.Lock()
	defer r.book.mu.Unlock()
	return r.book.attempts[id] > 0
}

func TestOptionsAtFault(t *testing.T) {
	for says, o := range map[string]Options{
		"whsec_ followed by base64": {Secret: "s3cret"},
		"fail rate":                 {Secret: secret, FailRate: 1.5},
		"malformed rate":            {Secret: secret, MalformedRate: -1},
		"cannot listen":             {Secret: secret, Listen: "nowhere"},
	} {
		if _, err := New(o); err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", says, err)
		}
	}
}

func TestNoSuchPage(t *testing.T) {
	_, base := start(t, Options{})
	response, err := http.Get(base + "/hooks")
	must.Succeed(t, err)
	defer response.Body.Close()
	if response.StatusCode != http.StatusNotFound {
		t.Errorf("%d", response.StatusCode)
	}
}

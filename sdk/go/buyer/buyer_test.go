package buyer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pingpost/sdk/go/model"
)

const lead = `{"auction_id": "a", "lead": {"lead_uuid": "u", "first_name": "Ann", "last_name": "Lee", "email": "ann@example.com", "phone": "+14155550123"}}`

func newBuyer(t *testing.T, o Options) *Buyer {
	t.Helper()
	if o.Bid == nil {
		o.Bid = func(context.Context, *model.PingRequest) (Bid, error) { return Bid{Amount: 1}, nil }
	}
	if o.Post == nil {
		o.Post = func(context.Context, *model.LeadDelivery) (string, error) { return "B-1", nil }
	}
	b, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func send(b *Buyer, path, body string) (Response, map[string]any) {
	answer := b.Answer(context.Background(), Request{Method: "POST", Path: path, ContentType: "application/json", Key: "k", Body: []byte(body)})
	var members map[string]any
	if json.Unmarshal(answer.Body, &members) != nil {
		panic("not JSON: " + string(answer.Body))
	}
	return answer, members
}

// Each invalid member is named by its path, with its error code.
func TestErrorsNameMembers(t *testing.T) {
	const good = `"auction_id": "a", "vertical": "v", "state": "CA", "tcpa_consent": true`
	for _, c := range []struct{ path, body, want string }{
		{"/v1/ping", `{` + good + `}`, ""},
		{"/v1/ping", `{` + good + `, "zip3": " ", "expires_at": "", "vehicle_count": null}`, ""},
		{"/v1/ping", `{}`, "auction_id missing_required, vertical missing_required, state missing_required, tcpa_consent missing_required"},
		{"/v1/ping", `{` + good + `, "expires_at": "soon"}`, "expires_at invalid_format"},
		{"/v1/ping", `{` + good + `, "expires_at": 5}`, "expires_at wrong_type"},
		{"/v1/ping", `{` + good + `, "vehicle_count": 1.5, "ai_quality_score": "x"}`, "vehicle_count wrong_type, ai_quality_score wrong_type"},
		{"/v1/post", lead, ""},
		{"/v1/post", `{"auction_id": "a", "lead": {}}`, "lead.lead_uuid missing_required, lead.first_name missing_required, lead.last_name missing_required, lead.email missing_required, lead.phone missing_required"},
		{"/v1/post", `{"auction_id": "a", "lead": []}`, "lead wrong_type"},
		{"/v1/post", strings.Replace(lead, `"Ann"`, `7, "address": "x", "tcpa": {"consent_timestamp": "x"}`, 1), "lead.first_name wrong_type, lead.address wrong_type, lead.tcpa.consent_timestamp invalid_format"},
		{"/v1/post", strings.Replace(lead, `"Ann"`, `"Ann", "address": {"zip": null}, "tcpa": {"consent_timestamp": " "}`, 1), ""},
	} {
		_, members := send(newBuyer(t, Options{}), c.path, c.body)
		var found []string
		list, _ := members["field_errors"].([]any)
		for _, one := range list {
			f := one.(map[string]any)
			found = append(found, fmt.Sprint(f["field"], " ", f["code"]))
		}
		if got := strings.Join(found, ", "); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.body, got, c.want)
		}
	}
}

// Each failure of the functions or the store has the same answer, without the error's text.
func TestFailuresAreInternalErrors(t *testing.T) {
	secret := errors.New("cannot reach db for ann@example.com")
	for name, o := range map[string]Options{
		"a bid that fails":      {Bid: func(context.Context, *model.PingRequest) (Bid, error) { return Bid{}, secret }},
		"a bid that panics":     {Bid: func(context.Context, *model.PingRequest) (Bid, error) { panic(secret) }},
		"a negative bid":        {Bid: func(context.Context, *model.PingRequest) (Bid, error) { return Bid{Amount: -1}, nil }},
		"a bid of zero":         {Bid: func(context.Context, *model.PingRequest) (Bid, error) { return Bid{}, nil }},
		"a bid that is too low": {Bid: func(context.Context, *model.PingRequest) (Bid, error) { return Bid{Amount: 9e-7}, nil }},
		"a bid that is too big": {Bid: func(context.Context, *model.PingRequest) (Bid, error) { return Bid{Amount: 1e6 + 1}, nil }},
		"a bid of NaN":          {Bid: func(context.Context, *model.PingRequest) (Bid, error) { return Bid{Amount: math.NaN()}, nil }},
		"a post that fails":     {Post: func(context.Context, *model.LeadDelivery) (string, error) { return "", secret }},
		"a post that panics":    {Post: func(context.Context, *model.LeadDelivery) (string, error) { panic(secret) }},
		"a store that fails":    {Store: brokenStore{}},
	} {
		path, body := "/v1/ping", `{"auction_id": "a", "vertical": "v", "state": "CA", "tcpa_consent": true}`
		if o.Bid == nil {
			path, body = "/v1/post", lead
		}
		answer, members := send(newBuyer(t, o), path, body)
		if answer.Status != 500 || members["error"] != "internal" || strings.Contains(string(answer.Body), "example.com") || members["request_id"] != answer.RequestID {
			t.Errorf("%s: %d %s", name, answer.Status, answer.Body)
		}
	}
}

type brokenStore struct{}

func (brokenStore) Get(context.Context, string) (Stored, bool, error) {
	return Stored{}, false, errors.New("down")
}
func (brokenStore) Put(context.Context, string, Stored) error { return errors.New("down") }

// A bid may take as long as the ping allows, and at most five seconds.
func TestBidTimeout(t *testing.T) {
	for _, c := range []struct{ expires, takes, waited time.Duration }{
		{2 * time.Second, time.Second, time.Second},
		{2 * time.Second, 3 * time.Second, 2 * time.Second},
		{time.Minute, time.Minute, 5 * time.Second},
		{-time.Second, 0, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := newBuyer(t, Options{Bid: func(ctx context.Context, _ *model.PingRequest) (Bid, error) {
				select {
				case <-time.After(c.takes):
					return Bid{Amount: 1}, nil
				case <-ctx.Done():
					return Bid{}, ctx.Err()
				}
			}})
			began := time.Now()
			text := began.Add(c.expires).Format(time.RFC3339Nano)
			answer, members := send(b, "/v1/ping", `{"auction_id": "a", "vertical": "v", "state": "CA", "tcpa_consent": true, "expires_at": "`+text+`"}`)
			late := c.takes > c.waited || c.expires < 0
			if (members["reject_reason"] == "timeout") != late || (members["bid"] == nil) != late || answer.Status != 200 || time.Since(began) != c.waited {
				t.Errorf("%v: %s after %v", c, answer.Body, time.Since(began))
			}
			synctest.Wait()
		})
	}
}

// The oldest answers are removed first, and all after a day.
func TestMemoryEviction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewMemory(2)
		wantKeys := func(want string) {
			t.Helper()
			var got string
			for _, key := range []string{"a", "b", "c"} {
				if _, known, _ := m.Get(t.Context(), key); known {
					got += key
				}
			}
			if got != want {
				t.Errorf("the store has %q, want %q", got, want)
			}
		}
		for _, key := range []string{"a", "b", "b", "c"} {
			_ = m.Put(t.Context(), key, Stored{Status: 201})
		}
		wantKeys("bc")
		time.Sleep(Remembered - time.Second)
		wantKeys("bc")
		_ = m.Put(t.Context(), "b", Stored{Status: 201})
		time.Sleep(time.Second)
		wantKeys("b")
	})
}

// A buyer needs both functions.
func TestOptionsNeedBothFunctions(t *testing.T) {
	bid := func(context.Context, *model.PingRequest) (Bid, error) { return Bid{}, nil }
	post := func(context.Context, *model.LeadDelivery) (string, error) { return "", nil }
	for _, o := range []Options{{}, {Bid: bid}, {Post: post}, {Bid: bid, Post: post, Bearer: "a", APIKey: "b"}} {
		if b, err := New(o); err == nil {
			t.Errorf("invalid options gave the buyer %v", b)
		}
	}
}

package refbuyer

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"pingpost/engine/market"
	"pingpost/internal/must"
	"pingpost/loadtest/refserver"
)

// start serves a buyer until the test ends, and checks that no goroutine remains.
func start(t *testing.T, options Options) (b *Buyer, base string) {
	t.Helper()
	before := goleak.IgnoreCurrent()
	b = must.Value(New(options))(t)
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- b.Serve(ctx) }()
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
	return b, "http://" + b.Addr().String()
}

// send makes one request and returns the whole answer.
func send(t *testing.T, method, url, body string, headers ...string) (status int, answer string, header http.Header) {
	t.Helper()
	r := must.Value(http.NewRequest(method, url, strings.NewReader(body)))(t)
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(r)
	must.Succeed(t, err)
	defer response.Body.Close()
	text := must.Value(io.ReadAll(response.Body))(t)
	return response.StatusCode, string(text), response.Header
}

func lead(uuid string) string {
	return `{"auction_id":"auc_1","lead":{"lead_uuid":"` + uuid + `","first_name":"Ann","last_name":"Lee","email":"ann@example.com","phone":"+12125550123"}}`
}

func TestPost(t *testing.T) {
	b, base := start(t, Options{Bid: Fixed(1_000_000)})
	begun := time.Now()
	status, first, header := send(t, "POST", base+"/v1/post", lead("l1"), "Idempotency-Key", "k1")
	if status != 201 || !strings.Contains(first, `"status":"accepted"`) || header.Get("Idempotent-Replayed") != "" {
		t.Fatalf("%d %s", status, first)
	}
	status, again, header := send(t, "POST", base+"/v1/post", lead("l1"), "Idempotency-Key", `"k1"`)
	if status != 201 || again != first || header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("again: %d %s, want %s", status, again, first)
	}
	if status, text, _ := send(t, "POST", base+"/v1/post", lead("l2"), "Idempotency-Key", "k1"); status != 422 || !strings.Contains(text, "idempotency_key_reused") {
		t.Errorf("another body: %d %s", status, text)
	}
	if status, text, _ := send(t, "POST", base+"/v1/post", lead("l1"), "Idempotency-Key", "k2"); status != 201 || text == first {
		t.Errorf("the lead under another key: %d %s", status, text)
	}

	_, text, _ := send(t, "GET", base+"/stats", "")
	want := `{"pings":0,"bids":0,"no_bids":0,"pings_replayed":0,"peak_pings_per_second":0,"limited":0,"late":0,"contact_seen":0,"malformed":0,"tokens":0,"unauthorized":0,"tests":0,` +
		`"posts":4,"accepted":2,"won":0,"rejected":0,"expired":0,"failed":0,"replayed":1,"invalid":1,"double_sold":1,"forgotten":0,"revenue":2}`
	if text != want {
		t.Errorf("stats\n got %s\nwant %s", text, want)
	}
	_, text, _ = send(t, "GET", base+"/leads", "")
	if at := b.Leads()[0].AnsweredAt; at.Before(begun) || at.After(time.Now()) {
		t.Errorf("the lead was answered at %v", at)
	}
	lines := strings.Split(strings.TrimSpace(text), "\n")
	var one Lead
	if err := json.Unmarshal([]byte(lines[0]), &one); err != nil || len(lines) != 2 || one != b.Leads()[0] || one.Key != "k1" || one.LeadUUID != "l1" || !strings.Contains(first, one.LeadID) {
		t.Errorf("leads: %s", text)
	}
}

// TestRefusals has the requests that are refused for their content.
func TestRefusals(t *testing.T) {
	b, base := start(t, Options{Token: "s3cret"})
	good := lead("l1")
	without := func(old, replacement string) string { return strings.Replace(good, old, replacement, 1) }
	rows := []struct {
		name                      string
		method, path, token, body string
		key                       string
		status                    int
		code, field, fieldCode    string
	}{
		{"no token", "POST", "/v1/post", "", good, "k", 401, "unauthorized", "", ""},
		{"another token", "POST", "/v1/ping", "Bearer s3cre", good, "k", 401, "unauthorized", "", ""},
		{"another scheme", "POST", "/v1/ping", "Basic s3cret", good, "k", 401, "unauthorized", "", ""},
		{"no key", "POST", "/v1/post", "Bearer s3cret", good, "", 422, "invalid_payload", "Idempotency-Key", "missing_required"},
		{"a key too long", "POST", "/v1/post", "Bearer s3cret", good, strings.Repeat("k", 256), 422, "invalid_payload", "Idempotency-Key", "missing_required"},
		{"a key with a space", "POST", "/v1/post", "Bearer s3cret", good, "k 1", 422, "invalid_payload", "Idempotency-Key", "missing_required"},
		{"no JSON", "POST", "/v1/post", "Bearer s3cret", good[1:], "k", 400, "malformed_json", "", ""},
		{"no lead", "POST", "/v1/post", "Bearer s3cret", `{"auction_id":"a"}`, "k", 422, "invalid_payload", "lead", "missing_required"},
		{"no auction", "POST", "/v1/post", "Bearer s3cret", without(`"auc_1"`, `null`), "k", 422, "invalid_payload", "auction_id", "missing_required"},
		{"no uuid", "POST", "/v1/post", "Bearer s3cret", without("lead_uuid", "uuid"), "k", 422, "invalid_payload", "lead.lead_uuid", "missing_required"},
		{"uuid too long", "POST", "/v1/post", "Bearer s3cret", without("l1", strings.Repeat("l", 65)), "k", 422, "invalid_payload", "lead.lead_uuid", "too_long"},
		{"blank first name", "POST", "/v1/post", "Bearer s3cret", without("Ann", " "), "k", 422, "invalid_payload", "lead.first_name", "missing_required"},
		{"no last name", "POST", "/v1/post", "Bearer s3cret", without("last_name", "x"), "k", 422, "invalid_payload", "lead.last_name", "missing_required"},
		{"no e-mail address", "POST", "/v1/post", "Bearer s3cret", without("ann@", "ann"), "k", 422, "invalid_payload", "lead.email", "invalid_format"},
		{"a national number", "POST", "/v1/post", "Bearer s3cret", without("+1", ""), "k", 422, "invalid_payload", "lead.phone", "invalid_format"},
		{"letters in a number", "POST", "/v1/post", "Bearer s3cret", without("0123", "CALL"), "k", 422, "invalid_payload", "lead.phone", "invalid_format"},
		{"a lead in a list", "POST", "/v1/post", "Bearer s3cret", `{"auction_id":"a","lead":[]}`, "k", 400, "malformed_json", "", ""},
		{"a member twice", "POST", "/v1/post", "Bearer s3cret", without(`"lead"`, `"auction_id":"auc_1","lead"`), "k", 400, "malformed_json", "", ""},
		{"a token of nobody", "POST", "/v1/post", "Bearer s3cret", without(`"lead"`, `"bid_token":"","lead"`), "k", 422, "invalid_bid_token", "", ""},
		{"a ping of no auction", "POST", "/v1/ping", "Bearer s3cret", `{"vertical":"auto","state":"CA","tcpa_consent":true}`, "k", 422, "invalid_payload", "auction_id", "missing_required"},
		{"a ping without a key", "POST", "/v1/ping", "Bearer s3cret", good, "", 422, "invalid_payload", "Idempotency-Key", "missing_required"},
		{"a ping of no JSON", "POST", "/v1/ping", "Bearer s3cret", `[]`, "k", 400, "malformed_json", "", ""},
		{"another method", "GET", "/v1/post", "Bearer s3cret", "", "k", 405, "method_not_allowed", "", ""},
		{"another method", "POST", "/stats", "", "", "k", 405, "method_not_allowed", "", ""},
		{"another path", "POST", "/v1/posts", "Bearer s3cret", "", "k", 404, "not_found", "", ""},
		{"no clients", "POST", "/oauth/token", "", "{}", "k", 404, "not_found", "", ""},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			status, text, header := send(t, row.method, base+row.path, row.body, "Authorization", row.token, "Idempotency-Key", row.key, "X-Request-Id", "req_7")
			var got refusal
			if err := json.Unmarshal([]byte(text), &got); err != nil {
				t.Fatalf("%d %s", status, text)
			}
			if status != row.status || got.Error != row.code || got.Message == "" || got.RequestID == "" || header.Get("X-Request-Id") != got.RequestID {
				t.Errorf("%d %s %v", status, text, header)
			}
			field := fieldError{}
			if len(got.FieldErrors) > 0 {
				field = got.FieldErrors[0]
			}
			if field.Field != row.field || field.Code != row.fieldCode || len(got.FieldErrors) > 1 {
				t.Errorf("fields: %s", text)
			}
		})
	}
	if s := b.Stats(); s.Invalid != int64(len(rows)) || s.Unauthorized != 3 || s.Posts != 0 || s.Pings != 0 {
		t.Errorf("stats %+v", s)
	}
	if status, text, _ := send(t, "POST", base+"/v1/post", good, "Authorization", "bearer s3cret", "Idempotency-Key", "k"); status != 201 {
		t.Errorf("the token: %d %s", status, text)
	}
}

// A body over the limit gets a 413. The test sends the head alone: the server closes the connection
// without reading the body, and a reset could reach the client before the answer.
func TestTooLargeBodyIsRefused(t *testing.T) {
	b, _ := start(t, Options{})
	conn := must.Value(net.Dial("tcp", b.Addr().String()))(t)
	defer conn.Close()
	must.Value(fmt.Fprintf(conn, "POST /v1/post HTTP/1.1\r\nHost: x\r\nIdempotency-Key: k\r\nContent-Length: %d\r\n\r\n", refserver.MaxBody+1))(t)
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	must.Succeed(t, err)
	defer answer.Body.Close()
	text := must.Value(io.ReadAll(answer.Body))(t)
	if answer.StatusCode != http.StatusRequestEntityTooLarge || !strings.Contains(string(text), `"payload_too_large"`) || b.Stats().Invalid != 1 {
		t.Errorf("%d %s, stats %+v", answer.StatusCode, text, b.Stats())
	}
}

// TestSeed: under one seed the same requests get the same results in any order and
// concurrently, and under another seed different ones.
func TestSeed(t *testing.T) {
	const requests = 200
	spread := must.Value(ParsePricing("8-20"))(t)
	run := func(seed uint64, order func(i int) int) (fates string, s Stats) {
		b, base := start(t, Options{Seed: seed, RejectRate: 0.3, FailRate: 0.4, NoBidRate: 0.3, Bid: spread})
		b.now = func() time.Time { return noon }
		var answers [requests]string
		var sending sync.WaitGroup
		for lane := range 4 {
			sending.Go(func() {
				for i := lane; i < requests; i += 4 {
					n := order(i)
					_, answers[n], _ = send(t, "POST", base+"/v1/ping", pingOf(fmt.Sprint("auc_", n)), "Idempotency-Key", fmt.Sprint("k", n))
					for range 3 {
						status, text, _ := send(t, "POST", base+"/v1/post", lead(fmt.Sprint("l", n)), "Idempotency-Key", fmt.Sprint("k", n))
						answers[n] += fmt.Sprint(status, " ")
						if status == 201 {
							answers[n] += text
						}
					}
				}
			})
		}
		sending.Wait()
		return fmt.Sprint(answers), b.Stats()
	}
	forth, s := run(1, func(i int) int { return i })
	back, sBack := run(1, func(i int) int { return requests - 1 - i })
	if forth != back || s != sBack {
		t.Errorf("one seed, two outcomes:\n%s %+v\n%s %+v", forth, s, back, sBack)
	}
	if other, _ := run(2, func(i int) int { return i }); other == forth {
		t.Error("two seeds, one outcome")
	}
	// The limits are far outside of the expected random variation.
	if s.Rejected < requests/5 || s.Rejected > requests/2 || s.Failed < requests/5 || s.DoubleSold != 0 || s.Posts != 3*requests {
		t.Errorf("stats %+v", s)
	}
	if s.NoBids < requests/5 || s.NoBids > requests*2/5 || s.Bids+s.NoBids != requests {
		t.Errorf("stats %+v", s)
	}
	amounts := map[string]bool{}
	for _, found := range regexp.MustCompile(`"amount":([0-9.]+)`).FindAllStringSubmatch(forth, -1) {
		amounts[found[1]] = true
	}
	if len(amounts) < 70 || s.Revenue < 8_000_000*market.Money(s.Accepted) || s.Revenue > 20_000_000*market.Money(s.Accepted) {
		t.Errorf("%d amounts, revenue %v of %d leads", len(amounts), s.Revenue, s.Accepted)
	}
}

// TestAmbiguity: about half of the failures accept the lead, and the retry of each gets
// the receipt.
func TestAmbiguity(t *testing.T) {
	b, base := start(t, Options{FailRate: 1})
	const posts = 100
	taken := 0
	for i := range posts {
		key := fmt.Sprint("k", i)
		if status, text, _ := send(t, "POST", base+"/v1/post", lead(key), "Idempotency-Key", key); status != 500 || !strings.Contains(text, `"internal"`) {
			t.Fatalf("%d %s", status, text)
		}
		before := b.Stats().Accepted
		if int(before) > taken {
			taken++
			if status, _, header := send(t, "POST", base+"/v1/post", lead(key), "Idempotency-Key", key); status != 201 || header.Get("Idempotent-Replayed") != "true" {
				t.Errorf("a lead that was taken: %d", status)
			}
		}
	}
	if taken < posts/4 || taken > posts*3/4 {
		t.Errorf("%d of %d failed posts were taken", taken, posts)
	}
}

// TestCountsTests: test requests are handled like others, and counted.
func TestCountsTests(t *testing.T) {
	b, base := start(t, Options{Bid: Fixed(1_000_000)})
	for i, headers := range [][]string{{"X-Pingpost-Test", "1"}, {}, {"X-Pingpost-Test", "1"}} {
		name := fmt.Sprint("k", i)
		if status, text, _ := send(t, "POST", base+"/v1/post", lead(name), append(headers, "Idempotency-Key", name)...); status != 201 {
			t.Errorf("%v: %d %s", headers, status, text)
		}
	}
	if s := b.Stats(); s.Tests != 2 || s.Posts != 3 || s.Accepted != 3 {
		t.Errorf("%+v", s)
	}
}

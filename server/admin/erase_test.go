package admin

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"pingpost/engine"
	"pingpost/engine/market"
	"pingpost/server/servertest"
)

// serveErasure serves an exchange with this erase function, and returns a function that
// sends an erasure request.
func serveErasure(t *testing.T, erase func(*ErasureRequest) (ErasureResult, error)) (send func(body string) (status int, answer string)) {
	t.Helper()
	address := serveAdmin(t, stubOperator{engine: servertest.NewEngineFixture(t).Engine, erase: erase})
	return func(body string) (int, string) {
		status, header, text := servertest.Dial(t, address).Send(servertest.FormatRequest("POST /admin/v1/erase", asOperator, body))
		if status == http.StatusServiceUnavailable && header.Get("Retry-After") == "" {
			t.Error("503 without Retry-After")
		}
		return status, text
	}
}

const testLeadID = "lead_01jd0000000000000000000000"

// A request names a person by lead, phone or email, in the form that the log has.
func TestErasureRequestIsNormalized(t *testing.T) {
	var got *ErasureRequest
	send := serveErasure(t, func(request *ErasureRequest) (ErasureResult, error) {
		got = request
		return ErasureResult{Leads: 2}, nil
	})
	lead, _ := market.ParseLeadID(testLeadID)
	for body, want := range map[string]ErasureRequest{
		`{"lead":"` + testLeadID + `"}`:                    {Lead: lead},
		`{"phone":"(415) 555-0132"}`:                       {Phone: "+14155550132"},
		`{"phone":"+49 30 901820","lead":"","email":null}`: {Phone: "+4930901820"},
		`{"email":"Ann.Lee@Example.COM"}`:                  {Email: "Ann.Lee@example.com"},
	} {
		got, want.By = nil, "operator"
		if status, answer := send(body); status != 200 || answer != `{"erased":2,"left":0,"left_leads":[]}`+"\n" || got == nil || *got != want {
			t.Errorf("%s: %d %s, request %+v", body, status, answer, got)
		}
	}
}

// Errors of an invalid request do not quote its values, because they are personal data.
func TestErasureErrorsQuoteNoValues(t *testing.T) {
	send := serveErasure(t, func(*ErasureRequest) (ErasureResult, error) {
		t.Error("an invalid request erased data")
		return ErasureResult{}, nil
	})
	for body, want := range map[string]string{
		`{}`: `422 "field":"lead"`, `{"lead":"` + testLeadID + `","phone":"4155550132"}`: `422 "field":"lead"`,
		`{"lead":"lead_canary"}`: `422 "field":"lead"`, `{"phone":"canary"}`: `422 "field":"phone"`,
		`{"email":"canary"}`: `422 "field":"email"`, `{"email":7}`: `422 `, `canary`: `400 `, `[]`: `400 `, ``: `400 `,
	} {
		status, answer := send(body)
		code, field, _ := strings.Cut(want, " ")
		if fmt.Sprint(status) != code || !strings.Contains(answer, field) || strings.Contains(answer, "canary") {
			t.Errorf("%s: %d %s, want %s", body, status, answer, want)
		}
	}
}

// The answer has the number of erased leads, the first leads that were not erased, and the
// reasons.
func TestErasureAnswer(t *testing.T) {
	lead, _ := market.ParseLeadID(testLeadID)
	var result ErasureResult
	var err error
	send := serveErasure(t, func(*ErasureRequest) (ErasureResult, error) { return result, err })
	result.Leads = 3
	result.AddUnerasedLead(lead, NotErasedUnderWay)
	result.AddUnerasedLead(lead, NotErasedUnsealed)
	want := `{"erased":3,"left":2,"left_leads":[{"lead_id":"` + testLeadID + `","reason":"under_way"},{"lead_id":"` + testLeadID + `","reason":"unsealed"}]}` + "\n"
	if status, answer := send(`{"phone":"4155550132"}`); status != 200 || answer != want {
		t.Errorf("%d %s", status, answer)
	}
	for range 2 * maxNotErased {
		result.AddUnerasedLead(lead, NotErasedUnreadable)
	}
	if _, answer := send(`{"phone":"4155550132"}`); !strings.Contains(answer, fmt.Sprintf(`"left":%d,`, 2*maxNotErased+2)) || strings.Count(answer, testLeadID) != maxNotErased {
		t.Errorf("the answer names %d leads", strings.Count(answer, testLeadID))
	}
	for _, row := range []struct {
		err  error
		want int
	}{{fmt.Errorf("%w: no such lead", engine.ErrNotFound), 404}, {errors.New("input/output error"), 503}} {
		err = row.err
		if status, answer := send(`{"lead":"` + testLeadID + `"}`); status != row.want || !strings.Contains(answer, row.err.Error()) {
			t.Errorf("%d %s, want %d", status, answer, row.want)
		}
	}
}

// A second erasure is rejected until the first has ended.
func TestConcurrentErasureIsRejected(t *testing.T) {
	started, finish := make(chan struct{}), make(chan struct{})
	send := serveErasure(t, func(*ErasureRequest) (ErasureResult, error) {
		started <- struct{}{}
		<-finish
		return ErasureResult{}, nil
	})
	first := make(chan int)
	go func() {
		status, _ := send(`{"phone":"4155550132"}`)
		first <- status
	}()
	<-started
	if status, answer := send(`{"phone":"4155550132"}`); status != 503 {
		t.Errorf("%d %s", status, answer)
	}
	close(finish)
	if status := <-first; status != 200 {
		t.Errorf("first erasure: got %d, want 200", status)
	}
	go func() { <-started }()
	if status, answer := send(`{"phone":"4155550132"}`); status != 200 {
		t.Errorf("%d %s", status, answer)
	}
}

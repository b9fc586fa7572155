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

func erasing(t *testing.T, erase func(*ErasureRequest) (ErasureResult, error)) (ask func(body string) (status int, said string)) {
	t.Helper()
	address := serveAdmin(t, stubOperator{engine: servertest.OpenEngine(t).Engine, erase: erase})
	return func(body string) (int, string) {
		status, header, text := servertest.Dial(t, address).Send(servertest.FormatRequest("POST /admin/v1/erase", asOperator, body))
		if status == http.StatusServiceUnavailable && header.Get("Retry-After") == "" {
			t.Error("503 without Retry-After")
		}
		return status, text
	}
}

const someLead = "lead_01jd0000000000000000000000"

// TestErasureIsRead: one of the three names a person, in the form that the log has.
func TestErasureIsRead(t *testing.T) {
	var got *ErasureRequest
	ask := erasing(t, func(who *ErasureRequest) (ErasureResult, error) {
		got = who
		return ErasureResult{Leads: 2}, nil
	})
	lead, _ := market.ParseLeadID(someLead)
	for body, want := range map[string]ErasureRequest{
		`{"lead":"` + someLead + `"}`:                      {Lead: lead},
		`{"phone":"(415) 555-0132"}`:                       {Phone: "+14155550132"},
		`{"phone":"+49 30 901820","lead":"","email":null}`: {Phone: "+4930901820"},
		`{"email":"Ann.Lee@Example.COM"}`:                  {Email: "Ann.Lee@example.com"},
	} {
		got, want.By = nil, "operator"
		if status, said := ask(body); status != 200 || said != `{"erased":2,"left":0,"left_leads":[]}`+"\n" || got == nil || *got != want {
			t.Errorf("%s: %d %s, read as %+v", body, status, said, got)
		}
	}
}

// TestErasureThatIsNone checks that errors of an invalid request do not quote its values,
// which are personal.
func TestErasureThatIsNone(t *testing.T) {
	ask := erasing(t, func(*ErasureRequest) (ErasureResult, error) {
		t.Error("it was asked for")
		return ErasureResult{}, nil
	})
	for body, want := range map[string]string{
		`{}`: `422 "field":"lead"`, `{"lead":"` + someLead + `","phone":"4155550132"}`: `422 "field":"lead"`,
		`{"lead":"lead_canary"}`: `422 "field":"lead"`, `{"phone":"canary"}`: `422 "field":"phone"`,
		`{"email":"canary"}`: `422 "field":"email"`, `{"email":7}`: `422 `, `canary`: `400 `, `[]`: `400 `, ``: `400 `,
	} {
		status, said := ask(body)
		code, field, _ := strings.Cut(want, " ")
		if fmt.Sprint(status) != code || !strings.Contains(said, field) || strings.Contains(said, "canary") {
			t.Errorf("%s: %d %s, want %s", body, status, said, want)
		}
	}
}

// TestErasureIsTold: how many were, and which were not and why; of many of those the
// first.
func TestErasureIsTold(t *testing.T) {
	lead, _ := market.ParseLeadID(someLead)
	var came ErasureResult
	var err error
	ask := erasing(t, func(*ErasureRequest) (ErasureResult, error) { return came, err })
	came.Leads = 3
	came.AddUnerasedLead(lead, NotErasedUnderWay)
	came.AddUnerasedLead(lead, NotErasedUnsealed)
	want := `{"erased":3,"left":2,"left_leads":[{"lead_id":"` + someLead + `","reason":"under_way"},{"lead_id":"` + someLead + `","reason":"unsealed"}]}` + "\n"
	if status, said := ask(`{"phone":"4155550132"}`); status != 200 || said != want {
		t.Errorf("%d %s", status, said)
	}
	for range 2 * maxNotErased {
		came.AddUnerasedLead(lead, NotErasedUnreadable)
	}
	if _, said := ask(`{"phone":"4155550132"}`); !strings.Contains(said, fmt.Sprintf(`"left":%d,`, 2*maxNotErased+2)) || strings.Count(said, someLead) != maxNotErased {
		t.Errorf("%d of them are named", strings.Count(said, someLead))
	}
	for _, row := range []struct {
		err  error
		want int
	}{{fmt.Errorf("%w: no such lead", engine.ErrNotFound), 404}, {errors.New("input/output error"), 503}} {
		err = row.err
		if status, said := ask(`{"lead":"` + someLead + `"}`); status != row.want || !strings.Contains(said, row.err.Error()) {
			t.Errorf("%d %s, want %d", status, said, row.want)
		}
	}
}

// TestOneErasureAtATime checks that a second erasure is rejected until the first has ended.
func TestOneErasureAtATime(t *testing.T) {
	begun, end := make(chan struct{}), make(chan struct{})
	ask := erasing(t, func(*ErasureRequest) (ErasureResult, error) {
		begun <- struct{}{}
		<-end
		return ErasureResult{}, nil
	})
	first := make(chan int)
	go func() {
		status, _ := ask(`{"phone":"4155550132"}`)
		first <- status
	}()
	<-begun
	if status, said := ask(`{"phone":"4155550132"}`); status != 503 {
		t.Errorf("%d %s", status, said)
	}
	close(end)
	if status := <-first; status != 200 {
		t.Errorf("the first one got %d", status)
	}
	go func() { <-begun }()
	if status, said := ask(`{"phone":"4155550132"}`); status != 200 {
		t.Errorf("%d %s", status, said)
	}
}

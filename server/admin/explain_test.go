package admin

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pingpost/engine"
	"pingpost/server/servertest"
)

// getExplanation requests an explanation, whose path and query begin with /admin/v1/explain. The
// answer is not compared with the OpenAPI document, because the tests' explanations are made up.
func getExplanation(t *testing.T, address, rest string) (status int, retryAfter, body string) {
	t.Helper()
	conn := servertest.Dial(t, address)
	fmt.Fprint(conn, servertest.FormatRequest("GET /admin/v1/explain"+rest, asOperator, ""))
	status, header, body := conn.ReadAnswer()
	return status, header.Get("Retry-After"), body
}

// TestExplainIDs checks that each form of id is looked up as its kind, and other ids as a
// seller's own.
func TestExplainIDs(t *testing.T) {
	const digits = "01jd0000000000000000000000"
	address := serveAdmin(t, stubOperator{explain: func(what string) ([]byte, error) {
		if !strings.HasSuffix(what, digits) {
			return nil, fmt.Errorf("%w: nowhere", engine.ErrNotFound)
		}
		return []byte(`{"found":"` + what + `"}`), nil
	}})
	for id, want := range map[string]string{
		"lead_" + digits:                     `200 {"found":"lead_` + digits + `"}`,
		"auc_" + digits:                      `200 {"found":"auc_` + digits + `"}`,
		"ping_" + digits:                     `200 {"found":"auc_` + digits + `"}`,
		"req_" + digits:                      `200 {"found":"req_` + digits + `"}`,
		"bid_" + digits:                      `200 {"found":" of bid_` + digits + `"}`,
		digits:                               `200 {"found":" of ` + digits + `"}`,
		"a%20b-" + digits:                    `200 {"found":" of a b-` + digits + `"}`,
		digits + "?supplier=sup_x":           `200 {"found":"sup_x of ` + digits + `"}`,
		"lead_" + digits + "?supplier=sup_x": `200 {"found":"sup_x of lead_` + digits + `"}`,
		"lead_01jd0000000000000000000001":    `404 {"error":"not_found"`,
		"auc_01jd0000000000000000000001":     `404 {"error":"not_found"`,
		"lead_00000000000000000000000000":    `404 {"error":"not_found"`,
		"LEAD_" + strings.ToUpper(digits):    `404 {"error":"not_found"`,
		strings.Repeat("x", maxSellersID):    `404 {"error":"not_found"`,
		strings.Repeat("x", maxSellersID+1):  `422 {"error":"invalid_payload"`,
		"":                                   `404 {"error":"not_found"`,
		"?id=" + digits:                      `404 {"error":"not_found"`,
	} {
		status, _, body := getExplanation(t, address, "/"+id)
		if got := fmt.Sprint(status, " ", body); !strings.HasPrefix(got, want) {
			t.Errorf("%q: %s, want %s", id, got, want)
		}
		if status >= 400 && !strings.Contains(body, `"request_id":"req_`) {
			t.Errorf("%q: %s", id, body)
		}
	}
	for query, want := range map[string]string{
		"?id=a%2Fb-" + digits:              `200 {"found":" of a/b-` + digits + `"}`,
		"?supplier=sup_x&id=a%3F" + digits: `200 {"found":"sup_x of a?` + digits + `"}`,
		"?id=req_" + digits:                `200 {"found":"req_` + digits + `"}`,
		"?supplier=sup_x":                  `422 {"error":"invalid_payload"`,
		"?id=":                             `422 {"error":"invalid_payload"`,
		"":                                 `422 {"error":"invalid_payload"`,
		"?id=" + strings.Repeat("x", 2*maxSellersID): `422 {"error":"invalid_payload"`,
	} {
		if status, _, body := getExplanation(t, address, query); !strings.HasPrefix(fmt.Sprint(status, " ", body), want) {
			t.Errorf("%q: %d %s, want %s", query, status, body, want)
		}
	}
	if status, _, _ := servertest.SendOverNewConn(t, address, "GET", "/admin/v1/explain/lead_"+digits); status != 401 {
		t.Errorf("without the password: %d", status)
	}
}

// TestExplainAnothersID checks that an unknown id in our form is also looked up as a
// seller's own, because a selling pingpost exchange uses our form.
func TestExplainAnothersID(t *testing.T) {
	const ours, theirs, nobodys = "auc_01jd0000000000000000000001", "auc_01jd0000000000000000000002", "auc_01jd0000000000000000000003"
	address := serveAdmin(t, stubOperator{explain: func(what string) ([]byte, error) {
		switch what {
		case ours, " of " + ours, " of " + theirs:
			return []byte(`{"found":"` + what + `"}`), nil
		}
		return nil, fmt.Errorf("%w: no %s", engine.ErrNotFound, what)
	}})
	for id, want := range map[string]string{
		ours: `{"found":"` + ours + `"}`, theirs: `{"found":" of ` + theirs + `"}`, nobodys: `no ` + nobodys,
	} {
		if _, _, body := getExplanation(t, address, "/"+id); !strings.Contains(body, want) {
			t.Errorf("%s: %s", id, body)
		}
	}
}

// TestExplainOfSeveral checks that an ambiguous id is answered with the possible suppliers.
func TestExplainOfSeveral(t *testing.T) {
	address := serveAdmin(t, stubOperator{explain: func(string) ([]byte, error) { return nil, &AmbiguousSupplierError{[]string{"sup_a", "sup_b"}} }})
	status, _, body := getExplanation(t, address, "/a-1")
	if status != 422 || !strings.Contains(body, `[{"field":"supplier","code":"missing_required","expected":"whose auction is meant: sup_a, sup_b"}]`) {
		t.Errorf("%d %s", status, body)
	}
}

// TestExplainFails checks that an error of the log is a 503.
func TestExplainFails(t *testing.T) {
	address := serveAdmin(t, stubOperator{explain: func(string) ([]byte, error) { return nil, errors.New("the disk says no") }})
	status, later, body := getExplanation(t, address, "/lead_01jd0000000000000000000000")
	if status != 503 || later == "" || !strings.Contains(body, "the disk says no") {
		t.Errorf("%d, Retry-After %q, %s", status, later, body)
	}
}

// TestExplainSomeAtOnce checks the limit of concurrent lookups.
func TestExplainSomeAtOnce(t *testing.T) {
	begun, end := make(chan struct{}), make(chan struct{})
	address := serveAdmin(t, stubOperator{explain: func(string) ([]byte, error) {
		begun <- struct{}{}
		<-end
		return []byte("{}"), nil
	}})
	const id = "/auc_01jd0000000000000000000000"
	statuses := make(chan int, maxExplained)
	ask := func() {
		status, _, _ := getExplanation(t, address, id)
		statuses <- status
	}
	for range maxExplained {
		go ask()
		<-begun
	}
	status, later, body := getExplanation(t, address, id)
	if status != 503 || later == "" || !strings.Contains(body, `"error":"unavailable"`) {
		t.Errorf("one too many: %d, Retry-After %q, %s", status, later, body)
	}
	if status, _, _ := getExplanation(t, address, ""); status != 422 {
		t.Errorf("what is no id while others are looked up: %d", status)
	}
	close(end)
	for range maxExplained {
		if status := <-statuses; status != 200 {
			t.Errorf("one that was looked up: %d", status)
		}
	}
	go func() {
		for range begun {
			continue
		}
	}()
	defer close(begun)
	ask()
	if status := <-statuses; status != 200 {
		t.Errorf("after the others: %d", status)
	}
}

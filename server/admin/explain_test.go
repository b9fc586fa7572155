package admin

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pingpost/engine"
	"pingpost/server/servertest"
)

// getExplanation requests an explanation; rest is the end of the path and the query. The
// answer is not compared with the OpenAPI document, because the explanations are invented.
func getExplanation(t *testing.T, address, rest string) (status int, retryAfter, body string) {
	t.Helper()
	conn := servertest.Dial(t, address)
	fmt.Fprint(conn, servertest.FormatRequest("GET /admin/v1/explain"+rest, asOperator, ""))
	status, header, body := conn.ReadAnswer()
	return status, header.Get("Retry-After"), body
}

// Each form of id is looked up as its kind. Other ids are looked up as ids of a seller.
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
		t.Errorf("without the password: got %d, want 401", status)
	}
}

// An unknown id in our form is also looked up as a seller's id, because another pingpost
// exchange may be the seller.
func TestExplainFindsOtherExchangesID(t *testing.T) {
	const own, sellers, unknown = "auc_01jd0000000000000000000001", "auc_01jd0000000000000000000002", "auc_01jd0000000000000000000003"
	address := serveAdmin(t, stubOperator{explain: func(what string) ([]byte, error) {
		switch what {
		case own, " of " + own, " of " + sellers:
			return []byte(`{"found":"` + what + `"}`), nil
		}
		return nil, fmt.Errorf("%w: no %s", engine.ErrNotFound, what)
	}})
	for id, want := range map[string]string{
		own: `{"found":"` + own + `"}`, sellers: `{"found":" of ` + sellers + `"}`, unknown: `no ` + unknown,
	} {
		if _, _, body := getExplanation(t, address, "/"+id); !strings.Contains(body, want) {
			t.Errorf("%s: %s", id, body)
		}
	}
}

// An ambiguous id is answered with the possible suppliers.
func TestExplainAmbiguousID(t *testing.T) {
	address := serveAdmin(t, stubOperator{explain: func(string) ([]byte, error) { return nil, &AmbiguousAuctionSupplierError{[]string{"sup_a", "sup_b"}} }})
	status, _, body := getExplanation(t, address, "/a-1")
	if status != 422 || !strings.Contains(body, `[{"field":"supplier","code":"missing_required","expected":"whose auction is meant: sup_a, sup_b"}]`) {
		t.Errorf("%d %s", status, body)
	}
}

// An error of the log is answered with 503.
func TestExplainLogErrorIs503(t *testing.T) {
	address := serveAdmin(t, stubOperator{explain: func(string) ([]byte, error) { return nil, errors.New("the disk says no") }})
	status, retryAfter, body := getExplanation(t, address, "/lead_01jd0000000000000000000000")
	if status != 503 || retryAfter == "" || !strings.Contains(body, "the disk says no") {
		t.Errorf("%d, Retry-After %q, %s", status, retryAfter, body)
	}
}

// The number of concurrent lookups is limited.
func TestConcurrentExplainLimit(t *testing.T) {
	started, finish := make(chan struct{}), make(chan struct{})
	address := serveAdmin(t, stubOperator{explain: func(string) ([]byte, error) {
		started <- struct{}{}
		<-finish
		return []byte("{}"), nil
	}})
	const id = "/auc_01jd0000000000000000000000"
	statuses := make(chan int, maxExplained)
	explain := func() {
		status, _, _ := getExplanation(t, address, id)
		statuses <- status
	}
	for range maxExplained {
		go explain()
		<-started
	}
	status, retryAfter, body := getExplanation(t, address, id)
	if status != 503 || retryAfter == "" || !strings.Contains(body, `"error":"unavailable"`) {
		t.Errorf("over the limit: got %d, Retry-After %q, %s", status, retryAfter, body)
	}
	if status, _, _ := getExplanation(t, address, ""); status != 422 {
		t.Errorf("invalid request at the limit: got %d, want 422", status)
	}
	close(finish)
	for range maxExplained {
		if status := <-statuses; status != 200 {
			t.Errorf("lookup: got %d, want 200", status)
		}
	}
	go func() {
		for range started {
			continue
		}
	}()
	defer close(started)
	explain()
	if status := <-statuses; status != 200 {
		t.Errorf("after the others: got %d, want 200", status)
	}
}

package main

import (
	"encoding/json"
	"net/http"
	"regexp"
	"testing"

	"pingpost/cmd/pingpost/timeline"
	"pingpost/exchange/explain"
)

// sendOne sends a lead to an exchange and returns its id.
func sendOne(t *testing.T, public string) string {
	t.Helper()
	status, text := request(t, http.MethodPost, public+"/api/v1/ingest", soldLead, "X-Api-Key", apiKey)
	var said struct {
		Data struct{ ID, Status string }
	}
	if err := json.Unmarshal([]byte(text), &said); err != nil || said.Data.Status != "ACCEPTED" {
		t.Fatalf("%d %+v %v", status, said, err)
	}
	return said.Data.ID
}

// TestExplainCommand: the whole way, from a lead that a running exchange took to
// what a person reads of it; run looks that the person who the lead is about is
// not in it.
func TestExplainCommand(t *testing.T) {
	s := serve(t, "-c", configuration(t, served))
	public, admin := s.addresses("production")
	id := sendOne(t, public)
	text := mustRun(t, "explain", id, "--admin", admin)
	for _, pattern := range []string{
		`^` + id + `\n`, `status +ACCEPTED\n`, `kind +ingest for cmp, waterfall, configuration 1`, `money +price 12\.05 USD, payout 12\.05 USD, margin 0 USD`,
		`Sold to buy for 12\.05 USD\. The buyer has no endpoint, so the sale is only recorded\.`,
		`\n +0\.0 +arrived +20\d\d-`, `\n +\d+\.0  buy  won`, `\n +\d+\.0 +decided +sold to buy\n`, `\n +\d+\.0  sup  is answered +HTTP 201, ACCEPTED\n`,
	} {
		if !regexp.MustCompile(pattern).MatchString(text) {
			t.Errorf("no %s in\n%s", pattern, text)
		}
	}
	var told explain.Explanation
	if err := json.Unmarshal([]byte(mustRun(t, "explain", "--json", id, "--admin", admin)), &told); err != nil || told.ID != id || timeline.FormatExplanation(&told) != text {
		t.Errorf("%v, and of the document\n%s\nof the text\n%s", err, timeline.FormatExplanation(&told), text)
	}
	mustPrint(t, text, "explain", told.RequestID, "--admin", admin)
	for _, row := range []struct {
		args []string
		want string
	}{
		{[]string{"explain", "lead_01jd0000000000000000000000", "--admin", admin}, "not found"},
		{[]string{"explain", "auc_01jd0000000000000000000000", "--admin", admin}, "not found"},
		{[]string{"explain", "no id/at all?", "--admin", admin}, "to which a seller gave this id"},
		{[]string{"explain", "lead_cut", "--admin", admin}, "no lead, auction, ping or request with this id"},
		{[]string{"explain", "a-1", "--supplier", "sup_nobody", "--admin", admin}, `no supplier "sup_nobody"`},
		{[]string{"explain", "", "--admin", admin}, "id: expected the id of a lead"},
		{[]string{"explain", "req_01jd0000000000000000000000", "--admin", admin}, "no request that it rejected before a decision"},
		{[]string{"explain", id, "--admin", admin, "--password", "wrong"}, "password"},
		{[]string{"explain", id, "--admin", public}, "There is no such path"},
	} {
		mustFail(t, row.want, row.args...)
	}
}

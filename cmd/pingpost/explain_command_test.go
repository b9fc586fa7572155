package main

import (
	"encoding/json"
	"net/http"
	"regexp"
	"testing"

	"pingpost/cmd/pingpost/timeline"
	"pingpost/exchange/explain"
)

// sellLead sells a lead and returns its id.
func sellLead(t *testing.T, public string) string {
	t.Helper()
	status, text := request(t, http.MethodPost, public+"/api/v1/ingest", testLead, "X-Api-Key", apiKey)
	var answer struct {
		Data struct{ ID, Status string }
	}
	if err := json.Unmarshal([]byte(text), &answer); err != nil || answer.Data.Status != "ACCEPTED" {
		t.Fatalf("%d %+v %v", status, answer, err)
	}
	return answer.Data.ID
}

// TestExplainCommand explains a lead of a running exchange. The output must not contain the
// lead's contact data, which run checks.
func TestExplainCommand(t *testing.T) {
	t.Parallel()
	s := startServe(t, "-c", writeConfig(t, testConfig))
	public, admin := s.addresses("production")
	id := sellLead(t, public)
	text := mustRun(t, "explain", id, "--admin", admin)
	for _, pattern := range []string{
		`^` + id + `\n`, `status +ACCEPTED\n`, `kind +ingest for cmp, waterfall, configuration 1`, `money +price 12\.05 USD, payout 12\.05 USD, margin 0 USD`,
		`Sold to buy for 12\.05 USD\. The buyer has no endpoint, so the sale is only recorded\.`,
		`\n +0\.0 +arrived +20\d\d-`, `\n +\d+\.0  buy  won`, `\n +\d+\.0 +decided +sold to buy\n`, `\n +\d+\.0  sup  is answered +HTTP 201, ACCEPTED\n`,
	} {
		if !regexp.MustCompile(pattern).MatchString(text) {
			t.Errorf("no match for %s in\n%s", pattern, text)
		}
	}
	var explanation explain.Explanation
	if err := json.Unmarshal([]byte(mustRun(t, "explain", "--json", id, "--admin", admin)), &explanation); err != nil || explanation.ID != id || timeline.FormatExplanation(&explanation) != text {
		t.Errorf("%v; from the JSON\n%s\nand as text\n%s", err, timeline.FormatExplanation(&explanation), text)
	}
	mustPrint(t, text, "explain", explanation.RequestID, "--admin", admin)
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

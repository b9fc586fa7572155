package exchange

import (
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pingpost/internal/must"
)

// Contact data of the person whom operators search for.
const (
	janePhone   = "(415) 555-0142"
	janeDigits  = "4155550142"
	janeEmail   = "Jane.Roe@Quux.Example"
	janeSurname = "Roethlisbergerova"
)

// janeLead returns a lead of the person.
func janeLead(changes ...string) string {
	return leadBody(0, append([]string{"first_name", `"Jane"`, "last_name", `"` + janeSurname + `"`, "phone", `"` + janePhone + `"`, "email", `"` + janeEmail + `"`}, changes...)...)
}

// personPage is a page of a person's leads.
type personPage struct {
	Leads []struct {
		ID, Status, Campaign, Supplier string
		Buyer                          *string
		Contact                        map[string]string
	}
	Next     *string
	Complete bool
}

func (r *testExchange) findPerson(body string) personPage {
	r.t.Helper()
	r.waitForAllLogEntries()
	return decode[personPage](r.t, r.mustAdmin(200, "POST", "/admin/v1/leads/find", body))
}

// as sends an admin request with an account's name and password.
func (r *testExchange) as(name, password, method, path, body string) (status int, text string) {
	r.t.Helper()
	credential := "Basic " + base64.StdEncoding.EncodeToString([]byte(name+":"+password))
	a := request(r.t, method, "http://"+r.AdminAddress()+path, body, "Authorization", credential)
	return a.status, a.body
}

// TestFindPerson: a person is found by phone number and address in any form, inside and outside the
// window of the duplicate check, also after a restart and a rebuild of the report. Contact data is
// masked.
func TestFindPerson(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, reportConfig(strings.Replace(baseConfig, "duplicates: {window: 0s}", "duplicates: {window: 720h}", 1)+`  - id: cmp_free
    method: waterfall
    duplicates: {window: 0s}
    buyers: [{buyer: buy_blue, price: 1}]
`)))
	first := x.mustSell(janeLead()).leadID()                                                                // inside the window of cmp
	time.Sleep(2 * time.Millisecond)                                                                        // ids of one millisecond have no order
	outside := x.mustSell(janeLead("flo_campaign_id", `"cmp_free"`, "phone", `"+1 415 555 0199"`)).leadID() // without a window
	duplicate := x.ingest(janeLead("phone", `"+1 415 555 0177"`, "email", `"jane@roe.example"`)).leadID()   // a duplicate
	x.mustSell(leadBody(1))
	check := func() {
		t.Helper()
		for body, want := range map[string]string{
			`{"phone":"` + janePhone + `"}`: first, `{"phone":"+1` + janeDigits + `"}`: first, `{"phone":"415.555.0142"}`: first,
			`{"email":"jane.roe@quux.example"}`: outside + first, `{"email":"JANE.ROE@QUUX.EXAMPLE"}`: outside + first, `{"email":" jane.roe@quux.example "}`: outside + first, `{"phone":"4155550177"}`: duplicate,
			`{"phone":"4155550199"}`: outside, `{"phone":"4155550143"}`: "", `{"email":"jane@quux.example"}`: "",
		} {
			page := x.findPerson(body)
			got := ""
			for _, l := range page.Leads {
				got += l.ID
			}
			if got != want || !page.Complete || page.Next != nil {
				t.Errorf("%s: found %q, want %q: %+v", body, got, want, page)
			}
		}
	}
	check()
	l := x.findPerson(`{"phone":"` + janeDigits + `"}`).Leads[0]
	if l.Contact["first_name"] != "J***" || l.Contact["last_name"] != "R***" || l.Contact["phone"] != "***-***-0142" || l.Contact["email"] != "J***@quux.example" ||
		l.Status != "ACCEPTED" || l.Campaign != "cmp" || l.Supplier != "sup_acme" || l.Buyer == nil || *l.Buyer != "buy_blue" {
		t.Errorf("found %+v", l)
	}
	page := x.findPerson(`{"email":"` + janeEmail + `","limit":1}`)
	if len(page.Leads) != 1 || page.Leads[0].ID != outside || page.Next == nil {
		t.Fatalf("the first page is %+v", page)
	}
	if page = x.findPerson(`{"email":"` + janeEmail + `","limit":1,"after":"` + *page.Next + `"}`); len(page.Leads) != 1 || page.Leads[0].ID != first {
		t.Errorf("the second page is %+v", page)
	}
	x.mustAdmin(202, "POST", "/admin/v1/report/rebuild", "")
	eventually(t, "the report was rebuilt", func() bool {
		return x.Report().ProgressStatus().Rebuilds == 1 && x.Report().ProgressStatus().LagEntries == 0
	})
	check()
	x = x.restart()
	check()
	for _, body := range []string{`{}`, `{"phone":"canary"}`, `{"email":"canary"}`, `{"phone":"4155550142","email":"a@b.example"}`, `{"phone":"4155550142","limit":0}`, `{"phone":"4155550142","after":"canary"}`} {
		x.adminRequest("POST", "/admin/v1/leads/find", body).mustFail(t, 422, "invalid_payload")
	}
	if a := x.adminRequest("GET", "/admin/v1/leads/find?phone=4155550142", ""); a.status != 405 {
		t.Errorf("GET: got %d, want 405", a.status)
	}
}

// TestFindPersonByEachValue: a lead with many phone numbers and addresses, in configured fields and in
// members that the campaign keeps, is found by each of them. A repeated value has one hash.
func TestFindPersonByEachValue(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, reportConfig(strings.Replace(baseConfig, "id: cmp\n", "id: cmp\n    unknown: keep\n    fields: [{name: work_phone, type: phone, contact: true}]\n", 1))))
	changes := []string{"work_phone", `"4155550100"`, "repeated", `"4155550100"`}
	values := []string{`"phone":"4155550100"`, `"phone":"` + janePhone + `"`, `"email":"` + janeEmail + `"`}
	for i := range 10 {
		changes = append(changes, fmt.Sprint("phone", i), fmt.Sprintf(`"415555%04d"`, 101+i), fmt.Sprint("mail", i), fmt.Sprintf(`"jane%d@quux.example"`, i))
		values = append(values, fmt.Sprintf(`"phone":"415555%04d"`, 101+i), fmt.Sprintf(`"email":"jane%d@quux.example"`, i))
	}
	lead := x.mustSell(janeLead(changes...)).leadID()
	x.waitForAllLogEntries()
	if n := x.countPersonHashes(); n != len(values) {
		t.Errorf("the report has %d hashes, want %d", n, len(values))
	}
	for _, value := range values {
		if page := x.findPerson("{" + value + "}"); len(page.Leads) != 1 || page.Leads[0].ID != lead {
			t.Errorf("%s: found %+v", value, page.Leads)
		}
	}
}

// TestFindPersonLeavesNoTrace: the searched values, and the contact data of the leads, are in no log
// line, metric or file. An erased person is not found, and the report has no hash of the person.
func TestFindPersonLeavesNoTrace(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, reportConfig(baseConfig)))
	lead := x.mustSell(janeLead()).leadID()
	x.findPerson(`{"phone":"` + janePhone + `"}`)
	x.findPerson(`{"email":"` + janeEmail + `"}`)
	words := []string{janeDigits, janePhone, "555-0142\"", "quux.example", janeSurname}
	checkTraces := func() {
		t.Helper()
		x.waitForAllLogEntries()
		checkNoFileContains(t, x.dataDir(), words...)
		logged := strings.ToLower(x.logged.String()) + strings.ToLower(request(t, "GET", "http://"+x.AdminAddress()+"/metrics", "").body)
		for _, word := range words {
			if strings.Contains(logged, strings.ToLower(word)) {
				t.Errorf("the log or a metric contains %q", word)
			}
		}
	}
	entries, _ := x.audit("?operation=POST%20/admin/v1/leads/find")
	if len(entries) != 2 || string(entries[0].Request) != `{"email":"J***@***"}` || string(entries[1].Request) != `{"phone":"***-***-0142"}` {
		t.Errorf("the audit log has %v", entries)
	}
	checkTraces()
	if x.erase(`{"phone":"`+janeDigits+`"}`).Erased != 1 {
		t.Error("the person was not erased")
	}
	for range 2 {
		for _, body := range []string{`{"phone":"` + janePhone + `"}`, `{"email":"` + janeEmail + `"}`} {
			if page := x.findPerson(body); len(page.Leads) != 0 {
				t.Errorf("an erased person was found: %+v", page)
			}
		}
		x.adminRequest("POST", "/admin/v1/leads/"+lead+"/reveal", `{"reason":"test"}`).mustFail(t, 404, "not_found")
		checkTraces()
		x.waitForAllLogEntries()
		if n := x.countPersonHashes(); n != 0 {
			t.Errorf("the report has %d hashes of erased persons", n)
		}
		x = x.restart()
	}
}

// countPersonHashes counts the hashes in the report's database.
func (r *testExchange) countPersonHashes() (n int) {
	r.t.Helper()
	files, err := filepath.Glob(filepath.Join(r.dataDir(), "report", "*.db"))
	if err != nil || len(files) != 1 {
		r.t.Fatalf("the report has the databases %v, %v", files, err)
	}
	db := must.Value(sql.Open("sqlite", "file:"+files[0]+"?mode=ro"))(r.t)
	defer db.Close()
	must.Succeed(r.t, db.QueryRow("SELECT count(*) FROM persons").Scan(&n))
	return n
}

// TestRevealContact: an operator gets the contact data for a reason, which the audit log has. A viewer
// may search but not reveal. The number of reveals is limited.
func TestRevealContact(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, reportConfig(baseConfig)))
	lead := x.mustSell(janeLead()).leadID()
	const password = "a long password of an account"
	for name, role := range map[string]string{"vic": "viewer", "olga": "operator"} {
		x.mustAdmin(201, "PUT", "/admin/v1/users/"+name, `{"role":"`+role+`","password":"`+password+`"}`)
	}
	at := "/admin/v1/leads/" + lead + "/reveal"
	if status, body := x.as("vic", password, "POST", "/admin/v1/leads/find", `{"phone":"`+janePhone+`"}`); status != 200 || !strings.Contains(body, lead) {
		t.Errorf("a viewer's search: %d %s", status, body)
	}
	if status, body := x.as("vic", password, "POST", at, `{"reason":"curious"}`); status != 403 {
		t.Errorf("a viewer's reveal: %d %s, want 403", status, body)
	}
	for _, body := range []string{`{}`, `{"reason":" "}`, `{"reason":"` + strings.Repeat("x", 501) + `"}`} {
		if status, text := x.as("olga", password, "POST", at, body); status != 422 {
			t.Errorf("%s: %d %s, want 422", body, status, text)
		}
	}
	status, body := x.as("olga", password, "POST", at, `{"reason":"Complaint 4711"}`)
	var revealed struct {
		Lead    string `json:"lead_id"`
		Contact map[string]string
	}
	if err := json.Unmarshal([]byte(body), &revealed); err != nil || status != 200 || revealed.Lead != lead || revealed.Contact["last_name"] != janeSurname || !strings.HasSuffix(revealed.Contact["phone"], janeDigits) {
		t.Errorf("got %d %s", status, body)
	}
	x.adminRequest("POST", "/admin/v1/leads/lead_01jd0000000000000000000000/reveal", `{"reason":"x"}`).mustFail(t, 404, "not_found")
	limited := 0
	for range 30 {
		if status, _ := x.as("olga", password, "POST", at, `{"reason":"again"}`); status == 429 {
			limited++
		}
	}
	if limited == 0 {
		t.Error("30 reveals at once are not limited")
	}
	limited = 0
	for i := range 30 { // the names are not verified, so that all have one limit
		switch status, body := x.as(fmt.Sprint("name", i), adminPassword, "POST", at, `{"reason":"again"}`); status {
		case 429:
			limited++
		case 200:
		default:
			t.Errorf("got %d %s", status, body)
		}
	}
	if limited == 0 {
		t.Error("30 reveals with the shared password under 30 names are not limited")
	}
	entries, _ := x.audit("?actor=olga&q=Complaint%204711")
	if len(entries) != 1 || *entries[0].Target != lead || string(entries[0].Request) != `{"reason":"Complaint 4711"}` || entries[0].Outcome != "done" {
		t.Errorf("the audit log has %v", entries)
	}
	if refused, _ := x.audit("?actor=vic&outcome=failed"); len(refused) != 1 || *refused[0].Status != 403 {
		t.Errorf("the audit log has %v", refused)
	}
	checkNoFileContains(t, x.dataDir(), janeDigits, janeSurname, "quux.example")
}

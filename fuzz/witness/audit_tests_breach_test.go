package witness

import (
	"strings"
	"testing"
)

const toRecInTest = `{"buyer":2,"seat":1,"price":5,"payout":4,"currency":"USD","test":true}`

// rehearsed is the honest world, which was tried out too: with a person who came before,
// though the caps and the money are used up, and with one whom nobody took.
func rehearsed() *forged {
	f := honest()
	f.decided("trial", `"sale":`+toRecInTest)
	t := f.told("trial", "ACCEPTED", "rec", 4*unit, "")
	t.test, t.phone = true, "one"
	f.decided("failed", `"reason":"filtered","test":true`)
	f.told("failed", "UNMATCHED", "", 0, "filtered").test = true
	f.changed("trial", `"result":"done","to":"returned"`)
	return f
}

func TestAuditOfTestsHonest(t *testing.T) {
	if found := rehearsed().findings(); len(found) > 0 {
		t.Errorf("an honest world has findings: %q", found)
	}
}

func TestAuditOfTestsSees(t *testing.T) {
	foundOut(t, rehearsed, []lie{
		{"a test in earnest", "lead three was sent as a test: true, and is one: false", func(f *forged) { f.answers[2].test = true }},
		{"a lead as a test", "lead trial was sent as a test: false, and is one: true", func(f *forged) { f.answers[3].test = false }},
		{"it cost money", "rec has 0", func(f *forged) { f.funds["rec"] = account{} }},
		{"its return paid", "5 and 4 are given back", func(f *forged) {
			f.decided("again", `"sale":`+toRecInTest)
			f.told("again", "ACCEPTED", "rec", 4*unit, "").test = true
			f.changed("again", `"result":"done","to":"returned","credit":5,"reverse":4`)
		}},
	})
}

// TestAuditOfPausesSees: the lead two, of entry 6, was sold to rec.
func TestAuditOfPausesSees(t *testing.T) {
	for _, c := range []struct {
		pause
		want string
	}{
		{pause{"rec", 6, 99}, ""},
		{pause{"rec", 0, 5}, ""},
		{pause{"blue", 5, 6}, ""},
		{pause{"rec", 5, 6}, "rec was paused, acknowledged, and entry 6 sells it a lead"},
	} {
		f := honest()
		f.pauses = []pause{c.pause}
		if found := strings.Join(f.findings(), ""); found != c.want {
			t.Errorf("%+v: %q", c.pause, found)
		}
	}
}

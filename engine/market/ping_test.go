package market_test

import (
	"slices"
	"strings"
	"testing"

	"pingpost/engine/market"
)

func fillPing(m *market.FieldMapping, unknown market.UnknownMemberPolicy, lines ...string) (*market.Lead, []string) {
	var l market.Lead
	l.Reset(m.SlotCount())
	return &l, codes(m.FillLeadFromPing(&l, members(lines...), unknown, nil))
}

func TestPingRequiresOnlyPingFields(t *testing.T) {
	m := mapping(
		t,
		market.FieldSpec{Name: "vehicles", NameForBuyers: "vehicle_count", Type: market.TypeInteger, Ping: true, Required: true},
		market.FieldSpec{Name: "notes", Type: market.TypeString, Required: true},
		market.FieldSpec{Name: "ssn", Type: market.TypeString, Contact: true, Default: text("none")},
	)
	l, failed := fillPing(m, 0, `auction_id="a"`, `vertical="auto"`, `flo_campaign_id="c"`, `state="CA"`, `zip="94107"`, `vehicles=2`)
	if failed != nil || fieldText(m, l, "vehicle_count") != "2 2" || fieldText(m, l, "zip") != "1 94107" || fieldText(m, l, "ssn") != "0 " {
		t.Errorf("%q %+v", failed, l.Values)
	}
	if _, failed := fillPing(m, 0, `state="zz"`, `notes=3`); !slices.Equal(failed, []string{"state invalid_format", "vehicles missing_required", "notes wrong_type"}) {
		t.Errorf("%q", failed)
	}
}

func TestPingZIP3(t *testing.T) {
	m := mapping(t, market.FieldSpec{Name: "zip", Required: true})
	tests := []struct{ lines, want string }{
		{`zip3="941"`, "1 941"},
		{`zip3="941" zip="90210"`, "1 90210"},
		{`zip3="941" zip=null`, "1 941"},
		{`zip3=null`, "zip missing_required"},
		{`zip3=941`, "zip3 wrong_type"},
		{`zip3="94"`, "zip3 invalid_format"},
		{`zip3="9410"`, "zip3 invalid_format"},
		{`zip="941"`, "zip invalid_format"},
	}
	for _, test := range tests {
		l, failed := fillPing(m, 0, strings.Fields(test.lines)...)
		got := strings.Join(failed, "; ")
		if got == "" {
			got = fieldText(m, l, "zip")
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", test.lines, got, test.want)
		}
	}
}

func TestPingRejectsContactFields(t *testing.T) {
	m := mapping(t, market.FieldSpec{Name: "mother", NameForBuyers: "maiden_name", Type: market.TypeString, Contact: true}, market.FieldSpec{Name: "street", Type: market.TypeString, Ping: true})
	tests := []struct {
		line string
		want string // path of the rejected field; empty: accepted
	}{
		{`email="a@x.y"`, "email"},
		{`email=3`, "email"},
		{`phone={"a":1}`, "phone"},
		{`first_name="A"`, "first_name"},
		{`line1="1 Main St"`, "line1"},
		{`mother="B"`, "mother"},
		{`maiden_name="B"`, "maiden_name"},
		{`Email="a@x.y"`, "Email"},
		{`phone_number="1"`, "phone_number"},
		{`lead={"email":"a@x.y"}`, "lead.email"},
		{`address={"city":"x","line1":"y"}`, "address.line1"},
		{`list=[1, "email", {"x": [ {} , {"deep":{"PHONE":1}} ] }]`, "list.2.x.1.deep.PHONE"},
		{`x={"a\"}":"}{","last\u005fname":1}`, "x.last_name"},
		{`x={"a":"\\","email":1}`, "x.email"},
		{`phoneNumber="1"`, "phoneNumber"},
		{`first-name="A"`, "first-name"},
		{`LastName="B"`, "LastName"},
		{`x={"E-Mail":1}`, "x.E-Mail"},
		{`phone ="1"`, "phone "},
		{`x={"\nphone":1}`, "x.\nphone"},
		{`x={"p.h.o.n.e":1}`, "x.p.h.o.n.e"},
		{`maidenName="B"`, "maidenName"},
		{`surname="B"`, "surname"},
		{`Home Phone="1"`, "Home Phone"},
		{`fname="A"`, "fname"},
		{`L-Name="B"`, "L-Name"},
		{`customer_name="A B"`, "customer_name"},
		{`contactName="A B"`, "contactName"},
		{`mobile_number="1"`, "mobile_number"},
		{`cellphone="1"`, "cellphone"},
		{`x=[{"Telephone":"1"}]`, "x.0.Telephone"},
		{`street_2="1"`, "street_2"},
		{"\uff45\uff4d\uff41\uff49\uff4c=1", "\uff45\uff4d\uff41\uff49\uff4c"},
		{"\u0440h\u043ene=1", "\u0440h\u043ene"},
		{"\u0420\u041d\u041eN\u0415=1", "\u0420\u041d\u041eN\u0415"},
		{"ema\u0131l=1", "ema\u0131l"},
		{"pho\u200bne=1", "pho\u200bne"},
		{"\U0001d4b8ity={\"\U0001d4c5hone\":1}", "\U0001d4b8ity.\U0001d4c5hone"},
		{`x={"\ud835\udcc5hone":1}`, "x.\U0001d4c5hone"},
		{strings.Repeat(" ", 300) + `phone=1`, strings.Repeat(" ", 64) + "…"},
		{`phones=1`, ""},
		{`microphone=1`, ""},
		{`name="may be the name of a form"`, ""},
		{`extra={"name":"A B","phones":[{"number":"1"}]}`, ""},
		{`addr={"zip":"94105"}`, ""},
		{`ssn="1"`, ""},
		{`dob="1990-01-01"`, ""},
		{`x={"mobile":true,"mail":true}`, ""},
		{`-=1`, ""},
		{`=1`, ""},
		{`x={ }`, ""},
		{`x=[ ]`, ""},
		{`x={"a":"email","b":["phone"],"c":"\"email\":1","d":-1.5e3,"e":null}`, ""},
		{`x={"email_opt_in":true}`, ""},
		{`street="known to the campaign"`, ""},
		{`x={"Street":"so it is accepted at any depth"}`, ""},
		{`email=null`, ""},
		{`email=" "`, ""},
		{`x="email"`, ""},
	}
	for _, test := range tests {
		for _, unknown := range []market.UnknownMemberPolicy{market.UnknownDrop, market.UnknownKeep} {
			l, failed := fillPing(m, unknown, `state="CA"`, test.line)
			var want []string
			if test.want != "" {
				want = []string{test.want + " contact_field_not_allowed"}
			}
			if !slices.Equal(failed, want) {
				t.Errorf("%s: %q, want %q", test.line, failed, want)
			}
			if test.want != "" && len(l.Extras) != 0 {
				t.Errorf("%s: rejected, but the lead contains it", test.line)
			}
		}
	}
}

// TestContactSearchSurvivesTruncatedJSON: callers pass only valid JSON, but other text must not
// panic either.
func TestContactSearchSurvivesTruncatedJSON(t *testing.T) {
	m := mapping(t)
	whole := `{"a":[1,{"b":"\u0065\n","c":{}}],"email":1}`
	for cut := range whole {
		fillPing(m, market.UnknownKeep, `x=`+whole[:cut])
		fillPing(m, market.UnknownKeep, `x={`+whole[cut:])
	}
}

func TestPingUnknownMembers(t *testing.T) {
	m := mappingOf(t, market.UnknownReject)
	lines := []string{`state="CA"`, `vertical="v"`, `expires_at="t"`, `extra=1`}
	if _, failed := fillPing(m, 0, lines...); !slices.Equal(failed, []string{"extra unknown_field"}) {
		t.Errorf("%q", failed)
	}
	l, failed := fillPing(m, market.UnknownKeep, lines...)
	if failed != nil || len(l.Extras) != 1 || string(l.Extras[0].Name) != "extra" {
		t.Errorf("%q %v", failed, l.Extras)
	}
}

func TestFillLeadFromPostUsesPingValues(t *testing.T) {
	m := mapping(
		t,
		market.FieldSpec{Name: "vehicles", Type: market.TypeInteger, Ping: true, Required: true},
		market.FieldSpec{Name: "band", Type: market.TypeString, Ping: true, Default: text("any")},
	)
	ping, failed := fillPing(m, 0, `state="CA"`, `zip3="941"`, `vehicles=2`, `band="25-34"`, `source="facebook"`)
	if failed != nil {
		t.Fatal(failed)
	}
	var l market.Lead
	l.Reset(m.SlotCount())
	if failed := m.FillLeadFromPost(&l, person(`source="search"`), ping, nil); failed != nil {
		t.Fatal(failed)
	}
	for to, want := range map[string]string{"state": "1 CA", "vehicles": "2 2", "band": "1 25-34", "source": "1 search", "zip": "0 "} {
		if got := fieldText(m, &l, to); got != want {
			t.Errorf("%s: %q, want %q", to, got, want)
		}
	}
	l.Reset(m.SlotCount())
	if failed := codes(m.FillLeadFromPost(&l, person(), nil, nil)); !slices.Equal(failed, []string{"vehicles missing_required"}) {
		t.Errorf("without a ping: %q", failed)
	}
}

func TestAppendMissingFieldErrors(t *testing.T) {
	m := mapping(t)
	var l market.Lead
	l.Reset(m.SlotCount())
	failed := m.FillLeadFromPing(&l, members(`state="zz"`, `zip="94107"`), 0, nil)
	failed = m.AppendMissingFieldErrors(&l, failed, market.SlotState, market.SlotTCPAConsent, market.SlotZip)
	if got := codes(failed); !slices.Equal(got, []string{"state invalid_format", "tcpa_consent missing_required"}) {
		t.Errorf("%q", got)
	}
}

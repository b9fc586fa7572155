package event

import (
	"bytes"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pingpost/engine/market"
)

var update = flag.Bool("update", false, "write the golden files")

const frozenFile = "testdata/frozen.golden"

// frozenLines returns a line for every event, filled, with its name and its bytes, and a line
// for every number of an enum in events.
func frozenLines() (lines []string) {
	for _, e := range emptyEvents() {
		lines = append(lines, fmt.Sprintf("fact %d %s %s", e.Kind(), e.Kind(), hex.EncodeToString(AppendRecord(nil, fill(e)))))
	}
	contact := LeadPersonalData{Fields: []LeadField{{"phone", 1, []byte("+14155550123")}}, Body: []byte("{}")}
	lines = append(lines, "contact "+hex.EncodeToString(contact.AppendEncoded(nil)))
	for s := SettledDelivered; s.String() != "invalid"; s++ {
		lines = append(lines, fmt.Sprintf("settlement %d %s", s, s))
	}
	for r := ChangeDone; r < changeResultEnd; r++ {
		lines = append(lines, fmt.Sprintf("change %d %s", r, r))
	}
	for c := SecondFactorEnrolled; c < secondFactorChangeEnd; c++ {
		lines = append(lines, fmt.Sprintf("second_factor %d %s", c, c))
	}
	for o := WebhookDelivered; o < webhookOutcomeEnd; o++ {
		lines = append(lines, fmt.Sprintf("hook_outcome %d %s", o, o))
	}
	return append(
		lines,
		fmt.Sprintf("name %d supplier", ObjectSupplier), fmt.Sprintf("name %d buyer", ObjectBuyer),
		fmt.Sprintf("name %d campaign", ObjectCampaign), fmt.Sprintf("name %d list", ObjectList),
		fmt.Sprintf("credential %d %s", CredentialAPIKey, CredentialAPIKey),
		fmt.Sprintf("credential %d %s", CredentialOAuthClient, CredentialOAuthClient),
		fmt.Sprintf("credential %d %s", CredentialBearer, CredentialBearer),
		fmt.Sprintf("scope %d %s", ScopePing, ScopePing), fmt.Sprintf("scope %d %s", ScopePost, ScopePost),
		fmt.Sprintf("scope %d %s", ScopeWebhook, ScopeWebhook),
		fmt.Sprintf("role %d %s", market.RoleViewer, market.RoleViewer), fmt.Sprintf("role %d %s", market.RoleOperator, market.RoleOperator),
		fmt.Sprintf("role %d %s", market.RoleAdmin, market.RoleAdmin),
	)
}

// An old log must stay readable, so a golden line never changes. An event with a new field has
// an additional line.
func TestEncodingIsFrozen(t *testing.T) {
	golden, err := os.ReadFile(frozenFile)
	if err != nil {
		t.Fatal(err)
	}
	lines, want := frozenLines(), strings.Split(strings.TrimSpace(string(golden)), "\n")
	for _, line := range lines {
		switch {
		case slices.Contains(want, line):
		case *update:
			want = append(want, line)
		default:
			t.Errorf("missing in the golden file, run with -update: %s", line)
		}
	}
	for _, line := range want {
		if !strings.HasPrefix(line, "fact ") && !slices.Contains(lines, line) {
			t.Errorf("the golden line is no longer produced: %s", line)
		}
	}
	if *update {
		if err := os.WriteFile(frozenFile, []byte(strings.Join(want, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// A frozen line decodes to the values of fill in all fields that existed then, and encodes to
// the same bytes, except for the version.
func TestFrozenEventsDecode(t *testing.T) {
	golden, err := os.ReadFile(frozenFile)
	if err != nil {
		t.Fatal(err)
	}
	var d Decoder
	complete := map[Kind]bool{}
	for line := range strings.Lines(string(golden)) {
		words := strings.Fields(line)
		if words[0] != "fact" {
			continue
		}
		data, err := hex.DecodeString(words[3])
		if err != nil {
			t.Fatal(err)
		}
		e, err := d.Decode(data)
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		want := fill(reflect.New(reflect.TypeOf(e).Elem()).Interface().(Event))
		if data[2] != envelopeVersion<<3 {
			t.Fatalf("%s: no version after the kind", line)
		}
		data[3] = version // an earlier one is written again as the present one
		if !equalOrZero(reflect.ValueOf(e).Elem(), reflect.ValueOf(want).Elem()) || !bytes.Equal(AppendRecord(nil, e), data) {
			t.Errorf("%s: %+v", words[2], e)
		}
		complete[e.Kind()] = equalEvents(e, want)
	}
	for _, e := range emptyEvents() {
		if !complete[e.Kind()] {
			t.Errorf("the golden file has no line for %s with all fields", e.Kind())
		}
	}
}

// equalOrZero reports whether each field of a is zero or equals b's, also in the elements of slices.
func equalOrZero(a, b reflect.Value) bool {
	if a.Kind() == reflect.Slice && a.Type().Elem().Kind() == reflect.Struct && a.Len() == b.Len() {
		for i := range a.Len() {
			if !equalOrZero(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	}
	if a.Kind() != reflect.Struct {
		return a.IsZero() || equalValues(a, b)
	}
	for i := range a.NumField() {
		if !equalOrZero(a.Field(i), b.Field(i)) {
			return false
		}
	}
	return true
}

func TestUnknownEnumNames(t *testing.T) {
	if got := Kind(99).String(); got != "kind_99" {
		t.Errorf("kind 99 has the name %q", got)
	}
	for _, s := range []PostSettlement{8, 255} {
		if s.String() != "invalid" {
			t.Errorf("settlement %d has the name %q", s, s)
		}
	}
	for _, number := range []uint8{8, 255} {
		if got := LeadStatusChangeResult(number).String(); got != "invalid_result" {
			t.Errorf("change result %d has the name %q", number, got)
		}
		if got := WebhookOutcomeOrDecision(number).String(); got != "invalid" {
			t.Errorf("webhook outcome %d has the name %q", number, got)
		}
	}
}

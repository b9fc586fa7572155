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

var update = flag.Bool("update", false, "write the golden files anew")

const frozen = "testdata/frozen.golden"

// frozenFacts is a line for every fact, filled: its name and its bytes; and a
// line for every number that facts carry and this package gives.
func frozenFacts() (lines []string) {
	for _, e := range everyKind() {
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

// What was written once is written the same for ever: an old log must stay
// readable. A line may be added here, never changed. A fact that has got another
// field has a line more.
func TestNumbersAreFrozen(t *testing.T) {
	golden, err := os.ReadFile(frozen)
	if err != nil {
		t.Fatal(err)
	}
	lines, want := frozenFacts(), strings.Split(strings.TrimSpace(string(golden)), "\n")
	for _, line := range lines {
		switch {
		case slices.Contains(want, line):
		case *update:
			want = append(want, line)
		default:
			t.Errorf("new, run with -update: %s", line)
		}
	}
	for _, line := range want {
		if !strings.HasPrefix(line, "fact ") && !slices.Contains(lines, line) {
			t.Errorf("gone: %s", line)
		}
	}
	if *update {
		if err := os.WriteFile(frozen, []byte(strings.Join(want, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// The bytes of the golden file are read as what they were written from: all of
// the fact's fields, or all that there were then. Written again they are the
// same bytes.
func TestFrozenFactsAreReadable(t *testing.T) {
	golden, err := os.ReadFile(frozen)
	if err != nil {
		t.Fatal(err)
	}
	var d Decoder
	whole := map[Kind]bool{}
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
		if !partOf(reflect.ValueOf(e).Elem(), reflect.ValueOf(want).Elem()) || !bytes.Equal(AppendRecord(nil, e), data) {
			t.Errorf("%s: %+v", words[2], e)
		}
		whole[e.Kind()] = same(e, want)
	}
	for _, e := range everyKind() {
		if !whole[e.Kind()] {
			t.Errorf("the golden file lacks %s as it is now", e.Kind())
		}
	}
}

// partOf tells whether each of a's fields has what b's has, or nothing.
func partOf(a, b reflect.Value) bool {
	if a.Kind() != reflect.Struct {
		return a.IsZero() || sameValue(a, b)
	}
	for i := range a.NumField() {
		if !partOf(a.Field(i), b.Field(i)) {
			return false
		}
	}
	return true
}

func TestNumbersWithoutANameSaySo(t *testing.T) {
	if got := Kind(99).String(); got != "kind_99" {
		t.Errorf("kind 99 is called %q", got)
	}
	for _, s := range []PostSettlement{8, 255} {
		if s.String() != "invalid" {
			t.Errorf("settlement %d is called %q", s, s)
		}
	}
	for _, number := range []uint8{8, 255} {
		if got := LeadStatusChangeResult(number).String(); got != "invalid_result" {
			t.Errorf("result %d of a change is called %q", number, got)
		}
		if got := WebhookOutcome(number).String(); got != "invalid" {
			t.Errorf("outcome %d of a hook is called %q", number, got)
		}
	}
}

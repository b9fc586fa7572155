package event

import (
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

const frozen = "testdata/frozen.golden"

// frozenFacts is a line for every fact, filled: its name and its bytes; and a
// line for every number that facts carry and this package gives.
func frozenFacts() (lines []string) {
	for _, e := range everyKind() {
		lines = append(lines, fmt.Sprintf("fact %d %s %s", e.Kind(), e.Kind(), hex.EncodeToString(Append(nil, fill(e)))))
	}
	contact := Contact{Fields: []Field{{"phone", 1, []byte("+14155550123")}}, Body: []byte("{}")}
	lines = append(lines, "contact "+hex.EncodeToString(contact.AppendTo(nil)))
	for s := SettledDelivered; s.String() != "invalid"; s++ {
		lines = append(lines, fmt.Sprintf("settlement %d %s", s, s))
	}
	return append(
		lines,
		fmt.Sprintf("name %d supplier", NameSupplier), fmt.Sprintf("name %d buyer", NameBuyer),
		fmt.Sprintf("name %d campaign", NameCampaign), fmt.Sprintf("name %d list", NameList),
		fmt.Sprintf("credential %d api_key", CredentialAPIKey),
	)
}

// What was written once is written the same for ever: an old log must stay
// readable. A line may be added here, never changed.
func TestNumbersAreFrozen(t *testing.T) {
	lines := frozenFacts()
	if *update {
		if err := os.WriteFile(frozen, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	golden, err := os.ReadFile(frozen)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(strings.TrimSpace(string(golden)), "\n")
	for i := range max(len(want), len(lines)) {
		switch {
		case i >= len(want):
			t.Errorf("new, run with -update: %s", lines[i])
		case i >= len(lines):
			t.Errorf("gone: %s", want[i])
		case lines[i] != want[i]:
			t.Errorf("was %s\nis  %s", want[i], lines[i])
		}
	}
}

// The bytes of the golden file are read as what they were written from.
func TestFrozenFactsAreReadable(t *testing.T) {
	golden, err := os.ReadFile(frozen)
	if err != nil {
		t.Fatal(err)
	}
	var d Decoder
	facts := everyKind()
	for line := range strings.Lines(string(golden)) {
		words := strings.Fields(line)
		if words[0] != "fact" {
			continue
		}
		data, err := hex.DecodeString(words[3])
		if err != nil {
			t.Fatal(err)
		}
		want := fill(facts[0])
		facts = facts[1:]
		if e, err := d.Decode(data); err != nil || !same(e, want) {
			t.Errorf("%s: %+v, %v", words[2], e, err)
		}
	}
	if len(facts) > 0 {
		t.Errorf("the golden file lacks %s", facts[0].Kind())
	}
}

func TestNumbersWithoutANameSaySo(t *testing.T) {
	if got := Kind(99).String(); got != "kind_99" {
		t.Errorf("kind 99 is called %q", got)
	}
	for _, s := range []Settlement{8, 255} {
		if s.String() != "invalid" {
			t.Errorf("settlement %d is called %q", s, s)
		}
	}
}

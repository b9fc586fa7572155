package market

import (
	"encoding/hex"
	"slices"
	"testing"
	"time"
)

const (
	janesPhone = "+12025550143"
	janesEmail = "Jane@example.com"
)

func TestDuplicates(t *testing.T) {
	var (
		either    = DuplicateRule{Phone: true, Email: true, Window: int64(time.Hour)}
		both      = DuplicateRule{Phone: true, Email: true, All: true, Window: int64(time.Hour)}
		phoneOnly = DuplicateRule{Phone: true, Window: int64(time.Hour)}
		emailOnly = DuplicateRule{Email: true, All: true, Window: int64(time.Hour)}
		off       = DuplicateRule{Phone: true, Email: true}
		nothing   = DuplicateRule{All: true, Window: int64(time.Hour)}
	)
	jane := personWith(janesPhone, janesEmail)
	cases := []struct {
		name  string
		rule  DuplicateRule
		first *Lead
		then  *Lead
		want  bool
	}{
		{"the same person", either, jane, personWith(janesPhone, janesEmail), true},
		{"the same phone", either, jane, personWith(janesPhone, "other@example.com"), true},
		{"the same email", either, jane, personWith("+12025550144", janesEmail), true},
		{"the same email in another case", either, jane, personWith("+12025550144", "jANE@example.com"), true},
		{"somebody else", either, jane, personWith("+12025550144", "other@example.com"), false},
		{"the same phone, no email", either, jane, personWith(janesPhone, ""), true},
		{"no email twice", either, personWith(janesPhone, ""), personWith("+12025550144", ""), false},
		{"nothing twice", either, personWith("", ""), personWith("", ""), false},
		{"a phone that is another's email", either, personWith("x", ""), personWith("", "x"), false},

		{"both", both, jane, personWith(janesPhone, "jane@example.com"), true},
		{"only the phone of both", both, jane, personWith(janesPhone, "other@example.com"), false},
		{"only the email of both", both, jane, personWith("+12025550144", janesEmail), false},
		{"both, where one is empty", both, personWith(janesPhone, ""), personWith(janesPhone, ""), false},
		{"both, cut elsewhere", both, personWith("ab", "c"), personWith("a", "bc"), false},

		{"phone alone counts", phoneOnly, jane, personWith(janesPhone, "other@example.com"), true},
		{"email does not count", phoneOnly, jane, personWith("+12025550144", janesEmail), false},
		{"email alone counts", emailOnly, jane, personWith("", janesEmail), true},
		{"phone does not count", emailOnly, jane, personWith(janesPhone, "other@example.com"), false},

		{"turned off", off, jane, jane, false},
		{"no fields", nothing, jane, jane, false},
	}
	const campaign = uint64(7) << 32
	for _, c := range cases {
		remembered := c.rule.AppendDuplicateKeys(c.first, campaign, &testKey, nil)
		asked := c.rule.AppendDuplicateKeys(c.then, campaign, &testKey, nil)
		if got := slices.ContainsFunc(asked, func(k DuplicateKey) bool { return slices.Contains(remembered, k) }); got != c.want {
			t.Errorf("%s: duplicate %t", c.name, got)
		}
	}
}

func TestDuplicateKeysOfOtherScopesAndSecretsDiffer(t *testing.T) {
	rule := DuplicateRule{Phone: true, Email: true, Window: 1}
	jane := personWith(janesPhone, janesEmail)
	other := testKey
	other[0]++
	seen := map[DuplicateKey]string{}
	for name, keys := range map[string][]DuplicateKey{
		"campaign":          rule.AppendDuplicateKeys(jane, 7<<32, &testKey, nil),
		"another campaign":  rule.AppendDuplicateKeys(jane, 8<<32, &testKey, nil),
		"buyer in it":       rule.AppendDuplicateKeys(jane, 7<<32|7, &testKey, nil),
		"another buyer":     rule.AppendDuplicateKeys(jane, 7<<32|8, &testKey, nil),
		"under another key": rule.AppendDuplicateKeys(jane, 7<<32, &other, nil),
	} {
		if len(keys) != 2 {
			t.Errorf("%s: %d keys", name, len(keys))
		}
		for _, key := range keys {
			if whose, taken := seen[key]; taken {
				t.Errorf("%s and %s share %x", name, whose, key)
			}
			seen[key] = name
		}
	}
}

func TestDuplicateKeysAreAppended(t *testing.T) {
	before := DuplicateKey{1}
	keys := DuplicateRule{Phone: true, Window: 1}.AppendDuplicateKeys(personWith(janesPhone, ""), 0, &testKey, []DuplicateKey{before})
	if len(keys) != 2 || keys[0] != before {
		t.Errorf("%x", keys)
	}
}

// Keys are in the log and in snapshots: they must not change under a campaign.
func TestDuplicateKeysAreFrozen(t *testing.T) {
	keys := DuplicateRule{Phone: true, Email: true, Window: 1}.AppendDuplicateKeys(personWith(janesPhone, janesEmail), 7<<32, &testKey, nil)
	keys = DuplicateRule{Phone: true, Email: true, All: true, Window: 1}.AppendDuplicateKeys(personWith(janesPhone, janesEmail), 7<<32, &testKey, keys)
	want := []string{
		"624ef1fff52cbf534a216b4a53536be0", // the phone
		"c5d2bf188cc5f4fadc381f4c8f1f9a3c", // the email
		"5d3fedeed828e85211d623c36eca0b5b", // the two together
	}
	for i, key := range keys {
		if got := hex.EncodeToString(key[:]); got != want[i] {
			t.Errorf("key %d is %s, was %s", i, got, want[i])
		}
	}
}

var testKey = [32]byte{1, 2, 3, 31: 32}

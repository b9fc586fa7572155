package market

import (
	"encoding/hex"
	"slices"
	"testing"
	"time"
)

const (
	janePhone = "+12025550143"
	janeEmail = "Jane@example.com"
)

func TestDuplicateRule(t *testing.T) {
	var (
		either    = DuplicateRule{Phone: true, Email: true, Window: int64(time.Hour)}
		both      = DuplicateRule{Phone: true, Email: true, All: true, Window: int64(time.Hour)}
		phoneOnly = DuplicateRule{Phone: true, Window: int64(time.Hour)}
		emailOnly = DuplicateRule{Email: true, All: true, Window: int64(time.Hour)}
		off       = DuplicateRule{Phone: true, Email: true}
		noFields  = DuplicateRule{All: true, Window: int64(time.Hour)}
	)
	jane := personWith(janePhone, janeEmail)
	cases := []struct {
		name   string
		rule   DuplicateRule
		first  *Lead
		second *Lead
		want   bool
	}{
		{"same person", either, jane, personWith(janePhone, janeEmail), true},
		{"same phone", either, jane, personWith(janePhone, "other@example.com"), true},
		{"same email", either, jane, personWith("+12025550144", janeEmail), true},
		{"same email in another case", either, jane, personWith("+12025550144", "jANE@example.com"), true},
		{"another person", either, jane, personWith("+12025550144", "other@example.com"), false},
		{"same phone, no email", either, jane, personWith(janePhone, ""), true},
		{"two phones, no email", either, personWith(janePhone, ""), personWith("+12025550144", ""), false},
		{"no contact data", either, personWith("", ""), personWith("", ""), false},
		{"phone equal to the other's email", either, personWith("x", ""), personWith("", "x"), false},

		{"both equal", both, jane, personWith(janePhone, "jane@example.com"), true},
		{"both required, only phone equal", both, jane, personWith(janePhone, "other@example.com"), false},
		{"both required, only email equal", both, jane, personWith("+12025550144", janeEmail), false},
		{"both required, email empty", both, personWith(janePhone, ""), personWith(janePhone, ""), false},
		{"both required, same concatenation", both, personWith("ab", "c"), personWith("a", "bc"), false},

		{"phone rule, same phone", phoneOnly, jane, personWith(janePhone, "other@example.com"), true},
		{"phone rule, same email", phoneOnly, jane, personWith("+12025550144", janeEmail), false},
		{"email rule, same email", emailOnly, jane, personWith("", janeEmail), true},
		{"email rule, same phone", emailOnly, jane, personWith(janePhone, "other@example.com"), false},

		{"rule without a window", off, jane, jane, false},
		{"no fields", noFields, jane, jane, false},
	}
	campaign := DuplicateScope{number: 7 << 32}
	for _, c := range cases {
		firstKeys := c.rule.AppendDuplicateKeys(c.first, campaign, &testKey, nil)
		secondKeys := c.rule.AppendDuplicateKeys(c.second, campaign, &testKey, nil)
		if got := slices.ContainsFunc(secondKeys, func(k DuplicateKey) bool { return slices.Contains(firstKeys, k) }); got != c.want {
			t.Errorf("%s: duplicate %t, want %t", c.name, got, c.want)
		}
	}
}

func TestDuplicateKeysDifferByScopeAndSecret(t *testing.T) {
	rule := DuplicateRule{Phone: true, Email: true, Window: 1}
	jane := personWith(janePhone, janeEmail)
	other := testKey
	other[0]++
	seen := map[DuplicateKey]string{}
	for name, keys := range map[string][]DuplicateKey{
		"campaign":         rule.AppendDuplicateKeys(jane, DuplicateScope{number: 7 << 32}, &testKey, nil),
		"another campaign": rule.AppendDuplicateKeys(jane, DuplicateScope{number: 8 << 32}, &testKey, nil),
		"buyer":            rule.AppendDuplicateKeys(jane, DuplicateScope{number: 7<<32 | 7}, &testKey, nil),
		"another buyer":    rule.AppendDuplicateKeys(jane, DuplicateScope{number: 7<<32 | 8}, &testKey, nil),
		"exchange":         rule.AppendDuplicateKeys(jane, DuplicateScope{shared: true}, &testKey, nil),
		"group":            rule.AppendDuplicateKeys(jane, DuplicateScope{shared: true, group: "auto"}, &testKey, nil),
		"another group":    rule.AppendDuplicateKeys(jane, DuplicateScope{shared: true, group: "home"}, &testKey, nil),
		"another key":      rule.AppendDuplicateKeys(jane, DuplicateScope{number: 7 << 32}, &other, nil),
	} {
		if len(keys) != 2 {
			t.Errorf("%s: %d keys", name, len(keys))
		}
		for _, key := range keys {
			if other, found := seen[key]; found {
				t.Errorf("%s and %s share key %x", name, other, key)
			}
			seen[key] = name
		}
	}
}

func TestAppendDuplicateKeysKeepsPrefix(t *testing.T) {
	before := DuplicateKey{1}
	keys := DuplicateRule{Phone: true, Window: 1}.AppendDuplicateKeys(personWith(janePhone, ""), DuplicateScope{}, &testKey, []DuplicateKey{before})
	if len(keys) != 2 || keys[0] != before {
		t.Errorf("%x", keys)
	}
}

// TestDuplicateKeysAreFrozen protects existing logs and snapshots, which contain these keys.
func TestDuplicateKeysAreFrozen(t *testing.T) {
	keys := DuplicateRule{Phone: true, Email: true, Window: 1}.AppendDuplicateKeys(personWith(janePhone, janeEmail), DuplicateScope{number: 7 << 32}, &testKey, nil)
	keys = DuplicateRule{Phone: true, Email: true, All: true, Window: 1}.AppendDuplicateKeys(personWith(janePhone, janeEmail), DuplicateScope{number: 7 << 32}, &testKey, keys)
	want := []string{
		"624ef1fff52cbf534a216b4a53536be0", // phone
		"c5d2bf188cc5f4fadc381f4c8f1f9a3c", // email
		"5d3fedeed828e85211d623c36eca0b5b", // both
	}
	for i, key := range keys {
		if got := hex.EncodeToString(key[:]); got != want[i] {
			t.Errorf("key %d is %s, want %s", i, got, want[i])
		}
	}
}

var testKey = [32]byte{1, 2, 3, 31: 32}

package market

import (
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"pingpost/engine/market/fingerprint"
)

// personWith returns a mapped lead with the given contact data.
func personWith(phone, email string) *Lead {
	l := &Lead{Values: make([]FieldValue, FirstCustomSlot)}
	if phone != "" {
		l.Values[SlotPhone] = text(phone)
	}
	if email != "" {
		l.Values[SlotEmail] = text(email)
	}
	return l
}

func md5Hex(s string) string    { sum := md5.Sum([]byte(s)); return hex.EncodeToString(sum[:]) }
func sha256Hex(s string) string { sum := sha256.Sum256([]byte(s)); return hex.EncodeToString(sum[:]) }

// suppressed reports whether a list of one line contains the lead.
func suppressed(t interface{ Fatalf(string, ...any) }, list SuppressionListDefinition, line string, l *Lead) bool {
	entry, err := list.FingerprintLine([]byte(line), &testKey)
	if err != nil {
		t.Fatalf("%s %s list, line %q: %v", list.Hash, list.Field, line, err)
	}
	table := fingerprint.NewFingerprintTable([]uint64{entry})
	return slices.ContainsFunc(list.AppendLeadFingerprints(l, &testKey, nil), table.Has)
}

func TestSuppressedPhones(t *testing.T) {
	const usPhone, ukPhone = "+12025550143", "+442071838750"
	cases := []struct {
		hash  SuppressionHashKind
		line  string
		phone string
		want  bool
	}{
		{HashPlain, "+12025550143", usPhone, true},
		{HashPlain, "12025550143", usPhone, true},
		{HashPlain, "2025550143", usPhone, true},
		{HashPlain, "(202) 555-0143", usPhone, true},
		{HashPlain, "+1 202.555.0143", usPhone, true},
		{HashPlain, " 1-202-555-0143\r\n", usPhone, true},
		{HashPlain, "2025550144", usPhone, false},
		{HashPlain, "+442071838750", ukPhone, true},
		{HashPlain, "442071838750", ukPhone, true},
		{HashPlain, "44 20 7183 8750", ukPhone, true},
		{HashPlain, "2025550143", "+442025550143", false}, // ten digits mean +1
		{HashPlain, "+4582123456", "+4582123456", true},
		{HashPlain, "+4582123456", "+14582123456", false},
		{HashPlain, "4582123456", "+4582123456", true}, // ambiguous: matches both
		{HashPlain, "4582123456", "+14582123456", true},

		{HashMD5, md5Hex("+12025550143"), usPhone, true},
		{HashMD5, md5Hex("12025550143"), usPhone, true},
		{HashMD5, md5Hex("2025550143"), usPhone, true},
		{HashMD5, strings.ToUpper(md5Hex("2025550143")), usPhone, true},
		{HashMD5, md5Hex("(202) 555-0143"), usPhone, false},
		{HashMD5, md5Hex("442071838750"), ukPhone, true},
		{HashMD5, md5Hex("2071838750"), ukPhone, false},

		{HashSHA256, sha256Hex("+12025550143"), usPhone, true},
		{HashSHA256, sha256Hex("12025550143"), usPhone, true},
		{HashSHA256, sha256Hex("2025550143") + "\r", usPhone, true},
		{HashSHA256, strings.ToUpper(sha256Hex("2025550143")), usPhone, true},
		{HashSHA256, sha256Hex("2025550144"), usPhone, false},
		{HashSHA256, sha256Hex("2025550143"), "", false},
		{HashPlain, "2025550143", "", false},
	}
	for _, c := range cases {
		list := SuppressionListDefinition{Field: ListPhone, Hash: c.hash}
		// A phone list ignores the lead's email.
		if got := suppressed(t, list, c.line, personWith(c.phone, "2025550143@example.com")); got != c.want {
			t.Errorf("%s %q, lead %s: suppressed %t", c.hash, c.line, c.phone, got)
		}
	}
}

func TestSuppressedEmails(t *testing.T) {
	cases := []struct {
		hash  SuppressionHashKind
		line  string
		email string
		want  bool
	}{
		{HashPlain, "jane@example.com", "jane@example.com", true},
		{HashPlain, "Jane@Example.COM", "jane@example.com", true},
		{HashPlain, "jane@example.com", "JANE@example.com", true},
		{HashPlain, "jane@example.com ", "jane@example.com", true},
		{HashPlain, "jane@example.com", "joan@example.com", false},
		{HashPlain, "jane@example.com", "", false},
		{HashMD5, md5Hex("jane@example.com"), "Jane@example.com", true},
		{HashMD5, md5Hex("Jane@example.com"), "Jane@example.com", false}, // lists contain hashes of lowercase text
		{HashSHA256, sha256Hex("jane@example.com"), "Jane@example.com", true},
		{HashSHA256, strings.ToUpper(sha256Hex("jane@example.com")), "jane@example.com", true},
		{HashSHA256, sha256Hex(""), "", false},
	}
	for _, c := range cases {
		list := SuppressionListDefinition{Field: ListEmail, Hash: c.hash}
		if got := suppressed(t, list, c.line, personWith("+12025550143", c.email)); got != c.want {
			t.Errorf("%s %q, lead %s: suppressed %t", c.hash, c.line, c.email, got)
		}
	}
}

func TestInvalidListLineErrorOmitsValue(t *testing.T) {
	cases := []struct {
		list SuppressionListDefinition
		line string
		want string
	}{
		{SuppressionListDefinition{Field: ListPhone, Hash: HashPlain}, "", "the line is empty"},
		{SuppressionListDefinition{Field: ListPhone, Hash: HashPlain}, " \t\r\n", "the line is empty"},
		{SuppressionListDefinition{Field: ListPhone, Hash: HashPlain}, "202555014", "not a phone number"},
		{SuppressionListDefinition{Field: ListPhone, Hash: HashPlain}, "0000000000", "not a phone number"},
		{SuppressionListDefinition{Field: ListPhone, Hash: HashPlain}, "+0000000000", "not a phone number"},
		{SuppressionListDefinition{Field: ListPhone, Hash: HashPlain}, "++12025550143", "not a phone number"},
		{SuppressionListDefinition{Field: ListPhone, Hash: HashPlain}, "202555CALL", "not a phone number"},
		{SuppressionListDefinition{Field: ListPhone, Hash: HashPlain}, "jane@example.com", "not a phone number"},
		{SuppressionListDefinition{Field: ListEmail, Hash: HashPlain}, "2025550143", "not an email address"},
		{SuppressionListDefinition{Field: ListEmail, Hash: HashPlain}, "Jane <jane@example.com>", "not an email address"},
		{SuppressionListDefinition{Field: ListEmail, Hash: HashMD5}, "jane@example.com", "a md5 hash has 32 hexadecimal digits, the line has 16 bytes"},
		{SuppressionListDefinition{Field: ListEmail, Hash: HashMD5}, sha256Hex("jane@example.com"), "a md5 hash has 32 hexadecimal digits, the line has 64 bytes"},
		{SuppressionListDefinition{Field: ListPhone, Hash: HashSHA256}, md5Hex("2025550143"), "a sha256 hash has 64 hexadecimal digits, the line has 32 bytes"},
		{SuppressionListDefinition{Field: ListPhone, Hash: HashSHA256}, strings.Repeat("g", 64), "something other than hexadecimal digits"},
		{SuppressionListDefinition{Field: ListPhone, Hash: HashPlain}, strings.Repeat("2", 100_000), "not a phone number"},
		{SuppressionListDefinition{Field: ListEmail, Hash: HashPlain}, strings.Repeat("j", 300) + "@example.com", "not an email address"},
	}
	for _, c := range cases {
		_, err := c.list.FingerprintLine([]byte(c.line), &testKey)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s, %.40q: %v; want …%s…", c.list.Hash, c.list.Field, c.line, err, c.want)
		}
		if value := strings.TrimSpace(c.line); err != nil && value != "" && strings.Contains(err.Error(), value) {
			t.Errorf("the error repeats the value: %v", err)
		}
	}
}

func TestFingerprintsDependOnKey(t *testing.T) {
	other := testKey
	other[31]++
	list := SuppressionListDefinition{Field: ListPhone, Hash: HashPlain}
	l := personWith("+12025550143", "")
	fingerprints, others := list.AppendLeadFingerprints(l, &testKey, nil), list.AppendLeadFingerprints(l, &other, nil)
	for _, probe := range fingerprints {
		if slices.Contains(others, probe) {
			t.Errorf("fingerprint %x is the same for another key", probe)
		}
	}
}

func TestAppendLeadFingerprints(t *testing.T) {
	l := personWith("+12025550143", "jane@example.com")
	for _, c := range []struct {
		list SuppressionListDefinition
		l    *Lead
		want int
	}{
		{SuppressionListDefinition{Field: ListPhone, Hash: HashPlain}, l, 3},
		{SuppressionListDefinition{Field: ListPhone, Hash: HashSHA256}, l, 3},
		{SuppressionListDefinition{Field: ListPhone, Hash: HashPlain}, personWith("+442071838750", ""), 2},
		{SuppressionListDefinition{Field: ListEmail, Hash: HashMD5}, l, 1},
		{SuppressionListDefinition{Field: ListEmail, Hash: HashMD5}, personWith("", ""), 0},
		{SuppressionListDefinition{Field: ListPhone, Hash: HashMD5}, personWith("", ""), 0},
	} {
		probes := c.list.AppendLeadFingerprints(c.l, &testKey, []uint64{42})
		if len(probes) != c.want+1 || probes[0] != 42 {
			t.Errorf("%s %s: %d fingerprints after the prefix %d", c.list.Hash, c.list.Field, len(probes)-1, probes[0])
		}
	}
}

func TestParseListKinds(t *testing.T) {
	for name, h := range map[string]SuppressionHashKind{"plain": HashPlain, "md5": HashMD5, "sha256": HashSHA256} {
		if got, ok := ParseSuppressionHashKind(name); got != h || !ok || h.String() != name {
			t.Errorf("%s: %s, %t", name, got, ok)
		}
	}
	for name, f := range map[string]SuppressionListField{"phone": ListPhone, "email": ListEmail} {
		if got, ok := ParseSuppressedField(name); got != f || !ok || f.String() != name {
			t.Errorf("%s: %s, %t", name, got, ok)
		}
	}
	for _, wrong := range []string{"", "sha1", "MD5", "zip"} {
		if _, ok := ParseSuppressionHashKind(wrong); ok {
			t.Errorf("%q is parsed as a hash kind", wrong)
		}
		if _, ok := ParseSuppressedField(wrong); ok {
			t.Errorf("%q is parsed as a list field", wrong)
		}
	}
}

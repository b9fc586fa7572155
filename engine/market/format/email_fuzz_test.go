package format_test

import (
	"net/mail"
	"regexp"
	"strings"
	"testing"

	"pingpost/engine/market/format"
)

var (
	emailAtoms   = regexp.MustCompile("\\A[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*\\z")
	emailLabel   = regexp.MustCompile(`\A[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\z`)
	emailSpecial = regexp.MustCompile(`[\s"<>(),:;@\\\[\]]`) // characters of quotes, literals, names, comments and lists
)

// isEmailModel implements the contract's rule: a dot-atom of at most 64 bytes, @, two or more
// DNS labels, 254 bytes in all.
func isEmailModel(text string) bool {
	local, domain, found := strings.Cut(text, "@")
	if !found || len(text) > 254 || len(local) > 64 || !emailAtoms.MatchString(local) {
		return false
	}
	labels := strings.Split(domain, ".")
	for _, label := range labels {
		if !emailLabel.MatchString(label) {
			return false
		}
	}
	return len(labels) >= 2
}

// emailDifferences are the reasons to reject an address that net/mail accepts.
var emailDifferences = map[string]func(text, address string) bool{
	"quotes, literals, names, comments, spaces": func(text, _ string) bool { return emailSpecial.MatchString(strings.Replace(text, "@", "", 1)) },
	"letters beyond ASCII": func(text, _ string) bool {
		return strings.ContainsFunc(text, func(r rune) bool { return r > '~' })
	},
	"longer than mail allows": func(text, _ string) bool { return len(text) > 254 || strings.Index(text, "@") > 64 },
	"not a DNS domain, or only one label": func(_, address string) bool {
		domain := address[strings.LastIndexByte(address, '@')+1:]
		for label := range strings.SplitSeq(domain, ".") {
			if !emailLabel.MatchString(label) {
				return true
			}
		}
		return !strings.Contains(domain, ".")
	},
}

// FuzzParseEmail compares AppendEmailWithLowerDomain with the model and with net/mail. net/mail must
// parse accepted addresses as the same bare address, and rejected ones need a listed reason.
func FuzzParseEmail(f *testing.F) {
	for _, text := range []string{
		"ann@example.com", "Ann.O'Neil+x@Mail.EXAMPLE.com", `"a b"@x.y`, "a@[127.0.0.1]", "Ann <a@x.y>", "a@b@x.y", "a@x..y", ".a@x.y", "a..b@x.y",
		"a@-x.y", "a@x-.y", "a@localhost", "ä@x.y", "a@bücher.example", "a(comment)@x.y", "a@x_y.com", "a@x.y\x00", "", "@", strings.Repeat("l", 64) + "@x.y",
		"a@" + strings.Repeat("d", 63) + ".c", "a@" + strings.Repeat("d.", 125) + "c", "a@x.y,b@x.y", "=?utf-8?q?a?= <a@x.y>", "a@x.y.",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, ok := format.AppendEmailWithLowerDomain([]byte("x"), []byte(text))
		if want := isEmailModel(text); ok != want {
			t.Fatalf("%q: accepted %t, want %t", text, ok, want)
		}
		parsed, err := mail.ParseAddress(text)
		if !ok {
			if string(got) != "x" {
				t.Fatalf("rejected %q changed the buffer to %q", text, got)
			}
			isExplained := err != nil
			for _, applies := range emailDifferences {
				isExplained = isExplained || applies(text, parsed.Address)
			}
			if !isExplained {
				t.Fatalf("net/mail parses %q as %v, and no listed reason rejects it", text, parsed)
			}
			return
		}
		local, domain, _ := strings.Cut(text, "@")
		if want := "x" + local + "@" + strings.ToLower(domain); string(got) != want {
			t.Fatalf("%q is normalized to %q", text, got)
		}
		if err != nil || parsed.Name != "" || parsed.Address != text {
			t.Fatalf("net/mail parses %q as %v, %v", text, parsed, err)
		}
	})
}

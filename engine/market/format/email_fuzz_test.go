package format_test

import (
	"net/mail"
	"regexp"
	"strings"
	"testing"

	"pingpost/engine/market/format"
)

var (
	emailAtoms  = regexp.MustCompile("\\A[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*\\z")
	emailLabel  = regexp.MustCompile(`\A[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\z`)
	emailPerson = regexp.MustCompile(`[\s"<>(),:;@\\\[\]]`) // what only quotes, literals, names, comments and lists need
)

// emailByTheBook is the contract's sentence: a dot-atom of at most 64 bytes, @, two
// or more DNS labels, 254 bytes in all.
func emailByTheBook(text string) bool {
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

// emailDifferences are why an address that net/mail reads is none to us.
var emailDifferences = map[string]func(text, address string) bool{
	"quotes, literals, names, comments, spaces": func(text, _ string) bool { return emailPerson.MatchString(strings.Replace(text, "@", "", 1)) },
	"letters beyond ASCII": func(text, _ string) bool {
		return strings.ContainsFunc(text, func(r rune) bool { return r > '~' })
	},
	"longer than mail takes": func(text, _ string) bool { return len(text) > 254 || strings.Index(text, "@") > 64 },
	"a domain that is none of DNS's, or of one label": func(_, address string) bool {
		domain := address[strings.LastIndexByte(address, '@')+1:]
		for label := range strings.SplitSeq(domain, ".") {
			if !emailLabel.MatchString(label) {
				return true
			}
		}
		return !strings.Contains(domain, ".")
	},
}

// FuzzParseEmail holds AppendNormalizedEmail against the contract written down naively, and
// both against net/mail: what we take it reads as the same bare address, and what
// it takes beyond that has a reason.
func FuzzParseEmail(f *testing.F) {
	for _, text := range []string{
		"ann@example.com", "Ann.O'Neil+x@Mail.EXAMPLE.com", `"a b"@x.y`, "a@[127.0.0.1]", "Ann <a@x.y>", "a@b@x.y", "a@x..y", ".a@x.y", "a..b@x.y",
		"a@-x.y", "a@x-.y", "a@localhost", "ä@x.y", "a@bücher.example", "a(comment)@x.y", "a@x_y.com", "a@x.y\x00", "", "@", strings.Repeat("l", 64) + "@x.y",
		"a@" + strings.Repeat("d", 63) + ".c", "a@" + strings.Repeat("d.", 125) + "c", "a@x.y,b@x.y", "=?utf-8?q?a?= <a@x.y>", "a@x.y.",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, ok := format.AppendNormalizedEmail([]byte("x"), []byte(text))
		if want := emailByTheBook(text); ok != want {
			t.Fatalf("%q: %v, by the contract %v", text, ok, want)
		}
		parsed, err := mail.ParseAddress(text)
		if !ok {
			if string(got) != "x" {
				t.Fatalf("%q leaves %q behind", text, got)
			}
			explained := err != nil
			for _, holds := range emailDifferences {
				explained = explained || holds(text, parsed.Address)
			}
			if !explained {
				t.Fatalf("%q is %v to net/mail, and nothing says why not to us", text, parsed)
			}
			return
		}
		local, domain, _ := strings.Cut(text, "@")
		if want := "x" + local + "@" + strings.ToLower(domain); string(got) != want {
			t.Fatalf("%q is stored as %q", text, got)
		}
		if err != nil || parsed.Name != "" || parsed.Address != text {
			t.Fatalf("%q is %v %v to net/mail", text, parsed, err)
		}
	})
}

package alerts

import (
	"strings"
	"testing"

	"pingpost/engine/alert"
)

func TestPrintableText(t *testing.T) {
	for text, want := range map[string]string{
		"550 no\r\nsuch user": "550 no  such user", "\x1b[31mred": "[31mred", "a\xffb": "ab", "": "",
		strings.Repeat("ä", 20): strings.Repeat("ä", 15), "tab\there": "tab here",
	} {
		if got := RemoveUnprintableAndCut(text, 31); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestIDs(t *testing.T) {
	for id, want := range map[string]bool{
		"a": true, "buyer_cap": true, "a.b-c_9": true, "9": true, strings.Repeat("a", 64): true,
		"": false, "A": false, "_a": false, "a b": false, "ä": false, "a/b": false, strings.Repeat("a", 65): false,
	} {
		if got := isRuleOrChannelID(id); got != want {
			t.Errorf("%q: %t", id, got)
		}
	}
}

func TestHosts(t *testing.T) {
	for host, want := range map[string]bool{
		"smtp.example.com": true, "localhost": true, "127.0.0.1": true, "2001:db8::1": true,
		"": false, "a b": false, "a:25": false, "user@host": false, "host/path": false, "[::1]": false, strings.Repeat("a", 254): false,
	} {
		if got := isHostWithoutPort(host); got != want {
			t.Errorf("%q: %t", host, got)
		}
	}
}

func TestMaskURL(t *testing.T) {
	for address, want := range map[string]string{
		"": "", "https://example.com/hook/canary?key=canary": "https://example.com/…", "http://127.0.0.1:80/canary": "http://127.0.0.1:80/…",
		"https://canary:canary@example.com/": "https://example.com/…", "canary": "…", "://canary": "…",
	} {
		if got := MaskURL(address); got != want {
			t.Errorf("%q: %q, want %q", address, got, want)
		}
	}
}

// A channel keeps the secret of its earlier version only while the secret goes to the same place.
func TestSecretIsKept(t *testing.T) {
	mail := alert.Channel{Kind: alert.ChannelEmail, Host: "h", Port: 587, Security: "starttls", Username: "u", Sealed: []byte{1}}
	for name, test := range map[string]struct {
		change func(*alert.Channel)
		keeps  bool
	}{
		"another recipient":   {func(c *alert.Channel) { c.To = []string{"a@example.com"} }, true},
		"TLS":                 {func(c *alert.Channel) { c.Security = "tls" }, true},
		"no TLS any more":     {func(c *alert.Channel) { c.Security = "none" }, false},
		"another host":        {func(c *alert.Channel) { c.Host = "other" }, false},
		"another port":        {func(c *alert.Channel) { c.Port = 25 }, false},
		"another user":        {func(c *alert.Channel) { c.Username = "other" }, false},
		"no user":             {func(c *alert.Channel) { c.Username = "" }, false},
		"another kind":        {func(c *alert.Channel) { c.Kind = alert.ChannelWebhook }, false},
		"no change whatever":  {func(*alert.Channel) {}, true},
		"a new name":          {func(c *alert.Channel) { c.Name = "n" }, true},
		"off for the present": {func(c *alert.Channel) { c.Off = true }, true},
	} {
		next := parsedChannel{mail}
		test.change(&next.Channel)
		if got := next.mayKeepSecretOf(&mail); got != test.keeps {
			t.Errorf("%s: %t", name, got)
		}
	}
	if next := (parsedChannel{mail}); next.mayKeepSecretOf(nil) {
		t.Error("a new channel keeps a secret")
	}
}

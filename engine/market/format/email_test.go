package format_test

import (
	"strings"
	"testing"

	"pingpost/engine/market/format"
)

func TestParseEmail(t *testing.T) {
	local64, label63 := strings.Repeat("l", 64), strings.Repeat("d", 63)
	longest := local64 + "@" + label63 + "." + label63 + "." + strings.Repeat("d", 61)
	for in, want := range map[string]string{
		"ann@example.com":               "ann@example.com",
		"Ann.O'Neil+x@Mail.EXAMPLE.com": "Ann.O'Neil+x@mail.example.com",
		"a@b.co":                        "a@b.co",
		"!#$%&'*+-/=?^_`{|}~@x.y":       "!#$%&'*+-/=?^_`{|}~@x.y",
		"a@1.2":                         "a@1.2",
		"a@xn--bcher-kva.example":       "a@xn--bcher-kva.example",
		"a@a-b.c":                       "a@a-b.c",
		local64 + "@x.y":                local64 + "@x.y",
		longest:                         longest,
		longest + "d":                   "",
		local64 + "l@x.y":               "",
		"a@" + label63 + "d.com":        "",
		"":                              "",
		"@":                             "",
		"a":                             "",
		"@x.y":                          "",
		"a@":                            "",
		"a@localhost":                   "",
		"a@x.":                          "",
		"a@.x.y":                        "",
		"a@x..y":                        "",
		"a@-x.y":                        "",
		"a@x-.y":                        "",
		"a@x.-y":                        "",
		"a@x_y.com":                     "",
		".a@x.y":                        "",
		"a.@x.y":                        "",
		"a..b@x.y":                      "",
		"a@b@x.y":                       "",
		`"a b"@x.y`:                     "",
		"a@[127.0.0.1]":                 "",
		"Ann <a@x.y>":                   "",
		"<a@x.y>":                       "",
		"a(comment)@x.y":                "",
		"a b@x.y":                       "",
		" a@x.y":                        "",
		"a@x.y ":                        "",
		"a@x.y\n":                       "",
		"a\x00@x.y":                     "",
		"a@x.y\x00":                     "",
		"ä@x.y":                         "",
		"a@bücher.example":              "",
		"a\u200b@x.y":                   "",
		"a@x.y,b@x.y":                   "",
		"a\\@x.y":                       "",
	} {
		got, ok := format.AppendEmailWithLowerDomain([]byte("x"), []byte(in))
		if ok != (want != "") || string(got) != "x"+want {
			t.Errorf("%q: %q %v, want %q", in, got[1:], ok, want)
		}
	}
	for _, c := range "\"(),:;<>@[\\] \t\x7f" {
		if got, ok := format.AppendEmailWithLowerDomain(nil, []byte("a"+string(c)+"b@x.y")); ok {
			t.Errorf("%q was accepted", got)
		}
	}
}

func TestAppendLowerChangesOnlyASCIILetters(t *testing.T) {
	in := "AZaz09@[`{ÄÉ\x00\xff"
	if got := string(format.AppendLowerASCII([]byte("K"), []byte(in))); got != "Kazaz09@[`{ÄÉ\x00\xff" {
		t.Errorf("%q", got)
	}
}

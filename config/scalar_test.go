package config

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
	"pingpost/config/schema"
	"pingpost/engine/market"
)

func TestDurations(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"0": 0, "0s": 0, "2s": 2 * time.Second, "1h30m": 90 * time.Minute, "14d": 14 * schema.Day,
		"1d12h": 36 * time.Hour, "0d1s": time.Second, "1.5h": 90 * time.Minute, "250ms": 250 * time.Millisecond,
	} {
		if got, err := schema.ParseDuration(text); err != nil || time.Duration(got) != want {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", "d", "1", "1.5d", "-1d", "1d-1h", "2d-1h", "1d+1h", "1d-0s", "+1d", "1h1d", "1d2d", "65536d", "-1s", "1w", " 1s", "99999999h",
	} {
		if got, err := schema.ParseDuration(text); err == nil {
			t.Errorf("%q is parsed as %v", text, got)
		}
	}
}

func TestDurationTextRoundTrips(t *testing.T) {
	for span, want := range map[time.Duration]string{
		0: "0s", schema.Day: "1d", 36 * time.Hour: "1d12h", 90 * time.Minute: "1h30m", time.Minute: "1m",
		schema.Day + time.Second: "1d1s", time.Hour + time.Second: "1h0m1s", 10 * time.Minute: "10m", 20 * time.Hour: "20h",
	} {
		if got := schema.Duration(span).String(); got != want {
			t.Errorf("String of %d is %q, want %q", span, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		span := schema.Duration(rapid.Int64Range(0, int64(60000*schema.Day)).Draw(t, "span"))
		back, err := schema.ParseDuration(span.String())
		if err != nil || back != span {
			t.Fatalf("%d has the text %q, which is parsed as %d, %v", span, span, back, err)
		}
	})
}

func TestByteSizes(t *testing.T) {
	for text, want := range map[string]schema.ByteSize{
		"65536": 65536, "64KiB": 65536, "1MiB": schema.MiB, "\"64 KiB\"": 65536, "2047MiB": 2047 * schema.MiB,
	} {
		source, err := Parse("x", []byte("limits: {body: "+text+"}\n"), nil)
		if err != nil || *source.Document.Limits.Body != want {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{"64KB", "1.5MiB", "-1", "2048MiB", "99999999999999999999", "KiB", "[]"} {
		if _, err := Parse("x", []byte("limits: {body: "+text+"}\n"), nil); err == nil {
			t.Errorf("%s is accepted", text)
		}
	}
	for size, want := range map[schema.ByteSize]string{0: "0", 1: "1", 65536: "64KiB", schema.MiB: "1MiB", schema.MiB + 1: "1048577"} {
		if size.String() != want {
			t.Errorf("String of %d is %s, want %s", size, size, want)
		}
	}
}

// TestAmountsAreExact covers YAML, variables and JSON.
func TestAmountsAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		millionths := rapid.Int64Range(0, int64(market.MaxMoney)).Draw(t, "millionths")
		digits := fmt.Sprintf("%d.%06d", millionths/1e6, millionths%1e6)
		for _, text := range []string{
			"campaigns:\n  - floor: " + digits + "\n",
			"campaigns: [{floor: " + digits + "}]\n",
			"campaigns:\n  - floor: ${D}\n",
			`{"campaigns":[{"floor":` + digits + `}]}`,
		} {
			source, err := Parse("x", []byte(text), lookup(map[string]string{"D": digits}))
			if err != nil {
				t.Fatal(err)
			}
			if got := source.Document.Campaigns[0].Floor; int64(got) != millionths {
				t.Fatalf("%s is parsed as %s", digits, got)
			}
		}
	})
}

func TestNumbersKeepTheirDigits(t *testing.T) {
	for _, digits := range []string{"0", "-3", "1.50", "0.1", "123456789012345678901234567890.5", "1e3", "1E-2"} {
		for _, text := range []string{
			"buyers:\n  - filters: [{field: x, min: " + digits + "}]\n",
			`{"buyers":[{"filters":[{"field":"x","min":` + digits + `}]}]}`,
		} {
			source, err := Parse("x", []byte(text), nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := *source.Document.Buyers[0].Filters[0].Min; string(got) != digits {
				t.Errorf("%s is parsed as %s", digits, got)
			}
		}
	}
}

func TestFilterValuesMayBeNumbers(t *testing.T) {
	source, err := Parse("x", []byte("campaigns:\n  - filters: [{field: x, in: [a, 2, 2.50, true, \"3\", 08]}]\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(source.Document.Campaigns[0].Filters[0].In); got != "[a 2 2.50 true 3 08]" {
		t.Error(got)
	}
}

func TestSecretsDoNotPrint(t *testing.T) {
	s := schema.NewSecret("hunter2")
	holder := struct {
		S schema.Secret
		P *schema.Secret
		F InitialCredential
	}{s, &s, InitialCredential{Value: s}}
	asJSON, err := json.Marshal(holder)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		fmt.Sprint(s), fmt.Sprintf("%v %+v %#v %s %q %x", s, s, s, s, s, s), fmt.Sprintf("%+v", holder), fmt.Sprintf("%#v", holder), string(asJSON),
	} {
		if strings.Contains(text, "hunter2") || strings.Contains(text, fmt.Sprintf("%x", "hunter2")) {
			t.Errorf("a secret is printed: %s", text)
		}
	}
	if s.Reveal() != "hunter2" || !s.IsGivenOrDeclared() || s.IsZero() || new(schema.Secret).String() != "[none]" {
		t.Error("Reveal, IsSet, IsZero or String is wrong")
	}
}

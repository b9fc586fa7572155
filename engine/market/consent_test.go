package market_test

import (
	"slices"
	"strings"
	"testing"

	"pingpost/engine/market"
)

func TestCheckConsent(t *testing.T) {
	m := mapping(t)
	campaign := &market.Campaign{Mapping: m, ConsentSources: map[string]struct{}{"facebook": {}, "Tik Tok": {}}}
	const path = "lead.tcpa.consent_cert_url"
	cert := `consent_cert_url="https://cert.example/1"`
	tests := []struct {
		lines []string
		want  string
	}{
		{nil, ""},
		{[]string{`source="search"`}, ""},
		{[]string{`source="facebook"`}, path + " missing_required"},
		{[]string{`source="FaceBook"`}, path + " missing_required"},
		{[]string{`source=" facebook "`}, path + " missing_required"},
		{[]string{`source="tik tok"`}, path + " missing_required"},
		{[]string{`source="facebook"`, `consent_cert_url=" "`}, path + " missing_required"},
		{[]string{`source="facebook"`, cert}, ""},
		{[]string{`source="facebook"`, `consent_cert_url="http://cert.example/1"`}, "consent_cert_url invalid_format"},
		{[]string{`source="facebook"`, `consent_cert_url=1`}, "consent_cert_url wrong_type"},
	}
	for _, test := range tests {
		var l market.Lead
		l.Reset(m.Slots())
		failed := m.Fill(&l, person(test.lines...), nil)
		failed = l.CheckConsent(campaign, failed, path)
		if got := strings.Join(codes(failed), "; "); got != test.want {
			t.Errorf("%v: %q, want %q", test.lines, got, test.want)
		}
		again := l.CheckConsent(campaign, slices.Clone(failed), path)
		if len(again) != len(failed) {
			t.Errorf("%v: reported twice", test.lines)
		}
	}
}

func TestNoConsentWhereNoSourceRequiresIt(t *testing.T) {
	m := mapping(t)
	var l market.Lead
	l.Reset(m.Slots())
	m.Fill(&l, person(`source="facebook"`), nil)
	if failed := l.CheckConsent(&market.Campaign{}, nil, "consent_cert_url"); failed != nil {
		t.Errorf("%v", failed)
	}
}

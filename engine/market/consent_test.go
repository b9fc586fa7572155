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
		l.Reset(m.SlotCount())
		failed := m.FillLeadFromIngest(&l, person(test.lines...), nil)
		failed = l.AppendConsentCertificateError(campaign, failed, path)
		if got := strings.Join(codes(failed), "; "); got != test.want {
			t.Errorf("%v: %q, want %q", test.lines, got, test.want)
		}
		again := l.AppendConsentCertificateError(campaign, slices.Clone(failed), path)
		if len(again) != len(failed) {
			t.Errorf("%v: the error is reported twice", test.lines)
		}
	}
}

func TestConsentIsOptionalWithoutConsentSources(t *testing.T) {
	m := mapping(t)
	var l market.Lead
	l.Reset(m.SlotCount())
	m.FillLeadFromIngest(&l, person(`source="facebook"`), nil)
	if failed := l.AppendConsentCertificateError(&market.Campaign{}, nil, "consent_cert_url"); failed != nil {
		t.Errorf("%v", failed)
	}
}

// TestConsentCertificateHosts checks that a campaign with ConsentHosts accepts certificates of
// those hosts only, for every source.
func TestConsentCertificateHosts(t *testing.T) {
	m := mapping(t)
	campaign := &market.Campaign{Mapping: m, ConsentHosts: []string{"*.proof.example", "cert.example"}}
	const path = "consent_cert_url"
	for address, accepted := range map[string]bool{
		"https://cert.example/1":                       true,
		"https://CERT.example/1":                       true,
		"HTTPS://cert.example:8443/1":                  true,
		"https://cert.example?id=1":                    true,
		"https://a.proof.example/1":                    true,
		"https://a.b.proof.example/1":                  true,
		"https://proof.example/1":                      false,
		"https://aproof.example/1":                     false,
		"https://sub.cert.example/1":                   false,
		"https://cert.example.evil.example/1":          false,
		"https://evil.example/cert.example":            false,
		"https://evil.example/?https://cert.example/1": false,
		"https://evil.example/#.proof.example":         false,
		"https://evilcert.example/1":                   false,
		"https://203.0.113.7/1":                        false,
		"https://[2001:db8::1]:443/1":                  false,
	} {
		var l market.Lead
		l.Reset(m.SlotCount())
		failed := m.FillLeadFromIngest(&l, person(`consent_cert_url="`+address+`"`), nil)
		if failed != nil {
			t.Fatalf("%s: %v", address, failed)
		}
		failed = l.AppendConsentCertificateError(campaign, nil, path)
		if got := strings.Join(codes(failed), "; "); (got == "") != accepted || !accepted && got != path+" not_allowed_value" {
			t.Errorf("%s: error %q, want accepted %t", address, got, accepted)
		}
		if failed = l.AppendConsentCertificateError(&market.Campaign{}, nil, path); failed != nil {
			t.Errorf("%s, campaign without ConsentHosts: %v", address, failed)
		}
	}
	var l market.Lead
	l.Reset(m.SlotCount())
	if failed := l.AppendConsentCertificateError(campaign, nil, path); failed != nil {
		t.Errorf("missing optional certificate: %v", failed)
	}
}

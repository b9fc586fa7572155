package market

import (
	"bytes"
	"strings"

	"pingpost/api/errcode"
	"pingpost/engine/market/format"
)

// CheckConsent reports a missing certificate of consent if the campaign requires one for
// the lead's source. path is the certificate's place in the request. Sources are compared
// without regard to case and surrounding spaces, so that spelling does not bypass the
// rule.
//
// Fill has checked that a present certificate is an https address, and CheckConsent does
// not report a field again. It reports a certificate at a host that the campaign does not
// list, for every source, because a certificate from another host is no proof.
func (l *Lead) CheckConsent(c *Campaign, dst []FieldError, path string) []FieldError {
	var failed FieldError
	switch certificate := &l.Values[SlotConsentCertURL]; {
	case certificate.Kind == KindAbsent && c.requiresConsent(l.Values[SlotSource].Text):
		failed = FieldError{Field: path, Code: errcode.FieldMissingRequired, Expected: "an https address, which this source requires"}
	case certificate.Kind != KindAbsent && !c.isConsentHost(certificate.Text):
		failed = FieldError{Field: path, Code: errcode.FieldNotAllowedValue, Expected: "an https address at " + describeHosts(c.ConsentHosts)}
	default:
		return dst
	}
	for i := range dst {
		if dst[i].Field == path || dst[i].Field == knownFields[SlotConsentCertURL].Name {
			return dst
		}
	}
	return append(dst, failed)
}

// isConsentHost reports whether an address that Fill has accepted is at one of the
// campaign's hosts. It ignores the port.
func (c *Campaign) isConsentHost(address []byte) bool {
	if len(c.ConsentHosts) == 0 {
		return true
	}
	rest, ok := format.CutScheme(address, true)
	if !ok {
		return false
	}
	if end := bytes.IndexAny(rest, "/?#"); end >= 0 {
		rest = rest[:end]
	}
	if port := bytes.LastIndexByte(rest, ':'); port >= 0 && !bytes.HasSuffix(rest, []byte("]")) {
		rest = rest[:port]
	}
	host := lowerASCII(string(bytes.TrimSuffix(rest, []byte("."))))
	for _, known := range c.ConsentHosts {
		if host == known {
			return true
		}
		if parent, ok := strings.CutPrefix(known, "*"); ok && len(host) > len(parent) && strings.HasSuffix(host, parent) {
			return true
		}
	}
	return false
}

func describeHosts(hosts []string) string {
	if len(hosts) > 5 {
		return "a host that the campaign lists"
	}
	return strings.Join(hosts, " or ")
}

func (c *Campaign) requiresConsent(source []byte) bool {
	if len(source) == 0 || len(c.ConsentSources) == 0 {
		return false
	}
	if _, ok := c.ConsentSources[string(source)]; ok {
		return true
	}
	source = trimInvisible(source)
	for required := range c.ConsentSources {
		if bytes.EqualFold(source, []byte(strings.TrimSpace(required))) {
			return true
		}
	}
	return false
}

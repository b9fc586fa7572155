package market

import (
	"bytes"
	"strings"

	"pingpost/api/errcode"
	"pingpost/engine/market/format"
)

// AppendConsentCertificateError checks the lead's certificate of consent, and appends an error to fieldErrors
// if it is missing or at a wrong host. certificatePath is the certificate's path in the request,
// for the error.
//
// A certificate is required if the campaign lists the lead's source. Sources are compared without
// regard to case and surrounding spaces, so that spelling does not bypass the rule. A certificate
// at a host that the campaign does not list is an error for every source, because it proves
// nothing.
//
// FillLeadFromIngest, FillLeadFromPing or FillLeadFromPost has checked before that a certificate is an
// https address. If fieldErrors has an error for the certificate already, AppendConsentCertificateError
// adds none.
func (l *Lead) AppendConsentCertificateError(c *Campaign, fieldErrors []FieldError, certificatePath string) []FieldError {
	var failed FieldError
	switch certificate := &l.Values[SlotConsentCertURL]; {
	case certificate.Kind == KindAbsent && hasLeadSource(c.ConsentSources, l.Values[SlotSource].Text):
		failed = FieldError{Field: certificatePath, Code: errcode.FieldMissingRequired, Expected: "an https address, which this source requires"}
	case certificate.Kind != KindAbsent && !c.acceptsCertificateURL(certificate.Text):
		failed = FieldError{Field: certificatePath, Code: errcode.FieldNotAllowedValue, Expected: "an https address at " + describeConsentHosts(c.ConsentHosts)}
	default:
		return fieldErrors
	}
	for i := range fieldErrors {
		if fieldErrors[i].Field == certificatePath || fieldErrors[i].Field == knownFields[SlotConsentCertURL].Name {
			return fieldErrors
		}
	}
	return append(fieldErrors, failed)
}

// acceptsCertificateURL reports whether the address of a consent certificate is at a host that the
// campaign accepts. The address is a valid https address; its port is ignored.
func (c *Campaign) acceptsCertificateURL(certificateURL []byte) bool {
	if len(c.ConsentHosts) == 0 {
		return true
	}
	rest, ok := format.CutHTTPScheme(certificateURL, true)
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

// describeConsentHosts lists the accepted hosts for an error message, unless there are more than five.
func describeConsentHosts(hosts []string) string {
	if len(hosts) > 5 {
		return "a host that the campaign lists"
	}
	return strings.Join(hosts, " or ")
}

// hasLeadSource reports whether the set has the source of a lead. Case, spaces and invisible characters
// around the source are ignored.
func hasLeadSource(sources map[string]struct{}, leadSource []byte) bool {
	if len(leadSource) == 0 || len(sources) == 0 {
		return false
	}
	if _, ok := sources[string(leadSource)]; ok {
		return true
	}
	leadSource = trimSpaceAndZeroWidth(leadSource)
	for source := range sources {
		if bytes.EqualFold(leadSource, []byte(strings.TrimSpace(source))) {
			return true
		}
	}
	return false
}

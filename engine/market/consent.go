package market

import (
	"bytes"
	"strings"

	"pingpost/api/errcode"
)

// CheckConsent reports a lead whose source the campaign takes only with a
// certificate of consent, and that has none. The path is where the certificate
// would stand in the request at hand. Sources are compared without regard to
// case and to the spaces around them: writing one differently is no way round.
//
// Whether a certificate that is there is an https address, Fill has judged; a
// field that it has reported already is not reported again. One whose host is
// none of those that the campaign knows is reported whatever the source: a
// certificate from elsewhere proves nothing.
func (l *Lead) CheckConsent(c *Campaign, dst []FieldError, path string) []FieldError {
	var failed FieldError
	switch certificate := &l.Values[SlotConsentCertURL]; {
	case certificate.Kind == KindAbsent && c.needsConsent(l.Values[SlotSource].Text):
		failed = FieldError{Field: path, Code: errcode.FieldMissingRequired, Expected: "an https address, which this source requires"}
	case certificate.Kind != KindAbsent && !c.knowsConsentHost(certificate.Text):
		failed = FieldError{Field: path, Code: errcode.FieldNotAllowedValue, Expected: "an https address at " + listHosts(c.ConsentHosts)}
	default:
		return dst
	}
	for i := range dst {
		if dst[i].Field == path || dst[i].Field == known[SlotConsentCertURL].Name {
			return dst
		}
	}
	return append(dst, failed)
}

// knowsConsentHost tells whether an address that Fill has passed is at one of
// the campaign's hosts. The port does not count.
func (c *Campaign) knowsConsentHost(address []byte) bool {
	if len(c.ConsentHosts) == 0 {
		return true
	}
	rest, ok := cutScheme(address, true)
	if !ok {
		return false
	}
	if end := bytes.IndexAny(rest, "/?#"); end >= 0 {
		rest = rest[:end]
	}
	if port := bytes.LastIndexByte(rest, ':'); port >= 0 && !bytes.HasSuffix(rest, []byte("]")) {
		rest = rest[:port]
	}
	host := lower(string(bytes.TrimSuffix(rest, []byte("."))))
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

func listHosts(hosts []string) string {
	if len(hosts) > 5 {
		return "a host that the campaign lists"
	}
	return strings.Join(hosts, " or ")
}

func (c *Campaign) needsConsent(source []byte) bool {
	if len(source) == 0 || len(c.ConsentSources) == 0 {
		return false
	}
	if _, ok := c.ConsentSources[string(source)]; ok {
		return true
	}
	source = trim(source)
	for required := range c.ConsentSources {
		if bytes.EqualFold(source, []byte(strings.TrimSpace(required))) {
			return true
		}
	}
	return false
}

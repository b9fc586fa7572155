package market

import (
	"bytes"
	"strings"
)

// CheckConsent reports a lead whose source the campaign takes only with a
// certificate of consent, and that has none. The path is where the certificate
// would stand in the request at hand. Sources are compared without regard to
// case and to the spaces around them: writing one differently is no way round.
//
// Whether a certificate that is there is an https address, Fill has judged; a
// field that it has reported already is not reported again.
func (l *Lead) CheckConsent(c *Campaign, dst []FieldError, path string) []FieldError {
	if l.Values[SlotConsentCertURL].Kind != KindAbsent || !c.needsConsent(l.Values[SlotSource].Text) {
		return dst
	}
	for i := range dst {
		if dst[i].Field == path || dst[i].Field == known[SlotConsentCertURL].Name {
			return dst
		}
	}
	return append(dst, FieldError{Field: path, Code: CodeMissingRequired, Expected: "an https address, which this source requires"})
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

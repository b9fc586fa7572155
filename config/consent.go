package config

import (
	"regexp"
	"slices"
	"strings"
)

// hostName is a DNS name of two labels or more, in small letters.
var hostName = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

// consentHosts is where certificates of consent may be, in order; none for
// anywhere.
func (c *compiler) consentHosts(at place, names []string) []string {
	seen := make(map[string]place, len(names))
	for i, name := range names {
		if host := strings.TrimPrefix(name, "*."); len(host) > 253 || !hostName.MatchString(host) {
			c.fail(at.at(i), "is not a host's name; write such as cert.example in small letters, or *.cert.example for those below it")
			continue
		}
		c.once(at.at(i), seen, name)
	}
	return slices.Sorted(slices.Values(names))
}

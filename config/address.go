package config

import (
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"unicode"

	"pingpost/config/schema"
	"pingpost/config/syntax"
	"pingpost/engine/market/escape"
)

var (
	secretCall  = regexp.MustCompile(`\{\{\s*secret\s+"([^"{}]*)"\s*\}\}`)
	secretBegun = regexp.MustCompile(`\{\{\s*secret\b`)
)

// secretOwner is the supplier or buyer whose secrets an address or a header may hold.
type secretOwner struct {
	prefix  string            // of the names of its sealed values
	secrets map[string]string // full names of its secrets, by their names in the document
}

// insertPlaceholders returns a text with a placeholder for each {{secret "name"}}. A mistake
// is reported at the place.
func (c *compiler) insertPlaceholders(at syntax.Path, text string, how escape.Kind, of secretOwner) string {
	out := secretCall.ReplaceAllStringFunc(text, func(call string) string {
		name := secretCall.FindStringSubmatch(call)[1]
		full, known := of.secrets[name]
		if !known {
			c.report(at, "there is no secret "+quote(name)+"; add it to the buyer's secrets, or correct the name")
			full = "unknown" // the rest of the address is judged all the same
		}
		return string(escape.AppendPlaceholder(nil, how, full))
	})
	if secretBegun.MatchString(out) {
		c.report(at, `holds {{secret}} in another form than {{secret "name"}}; no function takes a secret here`)
	}
	return out
}

// compileAddress judges an address and returns it as the catalog has it: with placeholders.
// A variable without a value here is judged like a secret of unknown value. Where it is
// in the host, nothing can be judged, and only the address in force may stay.
func (c *compiler) compileAddress(at syntax.Path, a schema.Address, withQuery bool, of secretOwner) string {
	if strings.ContainsFunc(string(a), unicode.IsControl) {
		c.report(at, "holds a control character; remove it")
		return ""
	}
	values, missing, fit := c.addressValues(at, a, of)
	text := a.ReplaceVariables(func(name string) string {
		return string(escape.AppendPlaceholder(nil, escape.None, of.variableSecret(name)))
	})
	text = c.insertPlaceholders(at, text, escape.URL, of)
	fill := func(secret string) string {
		filled, _ := escape.AppendWithSecrets(nil, []byte(text), func(name string) (string, bool) {
			if value, is := values[name]; is {
				return value, true
			}
			return secret, true
		})
		return string(filled)
	}
	one := fill("one")
	hostKnown := urlOrigin(one) != "" && urlOrigin(one) == urlOrigin(fill("two"))
	for _, name := range missing {
		kept := UnsetVariable{Secret: of.variableSecret(name)}
		if !hostKnown {
			kept.address = a
		}
		c.addUnset(at, kept, syntax.UnsetVariableError(name).Error())
	}
	if !fit || len(missing) > 0 && !hostKnown {
		return text
	}
	if c.checkURL(at, one, withQuery) && !hostKnown {
		c.report(at, `has {{secret "…"}} in its host; a secret stands in the path or in the query`)
	}
	return text
}

// addressValues are the values of an address's variables, by their sealed names, and the
// names of the variables without a value here. It is not fit where a value cannot stand
// in an address.
func (c *compiler) addressValues(at syntax.Path, a schema.Address, of secretOwner) (values map[string]string, missing []string, fit bool) {
	found, _ := c.source.find(at)
	values, fit = make(map[string]string), true
	for _, name := range a.VariableNames() {
		value, given := found.Variables[name]
		sealed := of.variableSecret(name)
		switch {
		case !given:
			missing = append(missing, name)
		case value == "" || len(value) > schema.MaxSecret || strings.ContainsFunc(value, isOutsideLine):
			c.report(at, "takes from the environment what is empty, too long or not one line of printable ASCII")
			fit = false
		case values[sealed] == "":
			c.out.Initial.Secrets = append(c.out.Initial.Secrets, InitialSecret{Name: sealed, Value: schema.NewSecret(value), Follows: true})
			values[sealed] = value
		}
	}
	return values, missing, fit
}

// settingAddress is an address of the settings with its values. It is not complete where
// a variable has none here.
func (c *compiler) settingAddress(at syntax.Path, a schema.Address) (text string, complete bool) {
	found, _ := c.source.find(at)
	complete = true
	return a.ReplaceVariables(func(name string) string {
		value, given := found.Variables[name]
		if !given {
			c.addUnset(at, UnsetVariable{}, syntax.UnsetVariableError(name).Error())
			complete = false
		}
		return value
	}), complete
}

// urlOrigin is the scheme and host of an address, as a request would find them. It is
// empty where there is no host.
func urlOrigin(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// variableSecret is the name of the sealed value of a variable.
func (o secretOwner) variableSecret(name string) string { return o.prefix + escape.VariablePart + name }

const maxURL = 2048

// checkURL judges an address that the exchange will call. Plain http to an IP
// address is allowed inside the trusted networks alone; a host name is judged
// when it is dialled, since only then its address is known. The address itself
// is never quoted: a query may hold a key.
func (c *compiler) checkURL(at syntax.Path, text string, withQuery bool) bool {
	u, ok := c.parseURL(at, text, withQuery)
	return ok && c.checkPlainHTTP(at, u)
}

// parseURL judges the form of such an address, wherever it leads.
func (c *compiler) parseURL(at syntax.Path, text string, withQuery bool) (*url.URL, bool) {
	u, err := url.Parse(text)
	switch {
	case err != nil || len(text) > maxURL || u.Host == "" || u.Hostname() == "" || u.Opaque != "":
		c.report(at, "is not an address; write such as https://buyer.example/leads")
	case u.Scheme != "https" && u.Scheme != "http":
		c.report(at, "is neither https nor http")
	case u.User != nil:
		c.report(at, "holds a user or password; give credentials under auth")
	case u.Fragment != "" || strings.Contains(text, "#"):
		c.report(at, "has a fragment (#…), which is never sent; remove it")
	case !withQuery && (u.RawQuery != "" || u.ForceQuery):
		c.report(at, "has a query (?…), but paths are added to it; give ping_url and post_url instead")
	default:
		return u, true
	}
	return nil, false
}

// isUntrusted tells whether a host is an IP address outside the trusted networks.
func (c *compiler) isUntrusted(host string) bool {
	address, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	address = address.Unmap().WithZone("")
	for _, network := range c.networks {
		if network.Contains(address) {
			return false
		}
	}
	return true
}

// checkPlainHTTP reports plain http to an address outside the trusted networks. A host name
// is resolved when it is dialled, and must lead into them then. So without trusted
// networks it can never work.
func (c *compiler) checkPlainHTTP(at syntax.Path, u *url.URL) bool {
	host := u.Hostname()
	_, err := netip.ParseAddr(host)
	local := strings.EqualFold(host, "localhost")
	switch {
	case u.Scheme != "http":
	case err == nil && c.isUntrusted(host):
		c.report(at, "is plain http outside trusted_networks; use https, or add its network to trusted_networks")
		return false
	case local && c.isUntrusted("127.0.0.1") && c.isUntrusted("::1"):
		c.reportUnworkable(at, "is plain http outside trusted_networks; use https, or add 127.0.0.0/8 to trusted_networks")
	case err != nil && len(c.networks) == 0:
		c.reportUnworkable(at, "is plain http by a host name, and there are no trusted_networks; use https, or add the network that the name leads to")
	case err != nil && !local:
		c.warn(at, "is plain http by a host name; requests fail while the name leads outside trusted_networks. Use https, or make sure of it")
	}
	return true
}

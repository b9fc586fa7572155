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

// secretOwner is the supplier or buyer whose addresses, headers and templates are compiled, with the
// secrets that they may use.
type secretOwner struct {
	prefix  string            // of the full names of its sealed values
	secrets map[string]string // full names by the names in the document
}

// replaceSecretCallsByPlaceholders returns the text with a placeholder in place of each {{secret
// "name"}}. It reports unknown names, and other uses of secret, at path `at`. The exchange puts in the
// value, with this escaping, when it sends a request.
func (c *compiler) replaceSecretCallsByPlaceholders(at syntax.KeyPath, text string, escaping escape.SecretEscaping, owner secretOwner) string {
	out := secretCall.ReplaceAllStringFunc(text, func(call string) string {
		name := secretCall.FindStringSubmatch(call)[1]
		full, known := owner.secrets[name]
		if !known {
			c.reportMistake(at, "there is no secret "+quoteShortened(name)+"; in a buyer, add it to secrets or correct the name; in a supplier's address, write ${NAME} instead")
			full = "unknown" // checking of the address continues
		}
		return string(escape.AppendSecretPlaceholder(nil, escaping, full))
	})
	if secretBegun.MatchString(out) {
		c.reportMistake(at, `uses secret in another form than {{secret "name"}}; functions cannot take a secret here`)
	}
	return out
}

// compileAddress checks an address that the exchange will call. It returns the address with
// placeholders in place of secrets and variables, as the catalog stores it. It treats a
// variable without a value like a secret. If such a variable is part of the host, the host
// cannot be checked, and only the address in force is acceptable (see UnsetEnvironmentVariable).
func (c *compiler) compileAddress(at syntax.KeyPath, a schema.OutboundURL, allowQuery bool, owner secretOwner) (addressWithPlaceholders string) {
	if strings.ContainsFunc(string(a), unicode.IsControl) {
		c.reportMistake(at, "contains a control character; remove it")
		return ""
	}
	values, missing, valid := c.recordAddressVariableValues(at, a, owner)
	text := a.ReplaceVariables(func(name string) string {
		return string(escape.AppendSecretPlaceholder(nil, escape.None, owner.storedSecretName(name)))
	})
	text = c.replaceSecretCallsByPlaceholders(at, text, escape.URL, owner)
	fill := func(secret string) string {
		filled, _ := escape.AppendWithSecretsInserted(nil, []byte(text), func(name string) (string, bool) {
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
		kept := UnsetEnvironmentVariable{Secret: owner.storedSecretName(name)}
		if !hostKnown {
			kept.address = a
		}
		c.recordUnset(at, kept, syntax.UnsetVariableError(name).Error())
	}
	if !valid || len(missing) > 0 && !hostKnown {
		return text
	}
	if c.checkURL(at, one, allowQuery) && !hostKnown {
		c.reportMistake(at, `has {{secret "…"}} in its host; use secrets only in the path or the query`)
	}
	return text
}

// recordAddressVariableValues returns the values of an address's variables by their sealed names,
// and the variables that have no value in this process. It adds the values to the document's
// initial secrets. It reports values that an address cannot contain; valid is then false.
func (c *compiler) recordAddressVariableValues(at syntax.KeyPath, a schema.OutboundURL, owner secretOwner) (valuesByStoredSecretName map[string]string, missingVariables []string, valid bool) {
	found, _ := c.source.findNode(at)
	valuesByStoredSecretName, valid = make(map[string]string), true
	for _, name := range a.VariableNames() {
		value, given := found.Variables[name]
		sealed := owner.storedSecretName(name)
		switch {
		case !given:
			missingVariables = append(missingVariables, name)
		case value == "" || len(value) > schema.MaxSecret || strings.ContainsFunc(value, isNotPrintableASCII):
			c.reportMistake(at, "contains the variable "+name+", whose value is empty, longer than 4096 bytes or not one line of printable ASCII; correct the variable")
			valid = false
		case valuesByStoredSecretName[sealed] == "":
			c.out.Initial.Secrets = append(c.out.Initial.Secrets, InitialOutboundSecret{Name: sealed, Value: schema.NewSecret(value), Follows: true})
			valuesByStoredSecretName[sealed] = value
		}
	}
	return valuesByStoredSecretName, missingVariables, valid
}

// expandSettingAddress returns an address of the settings with the values of its variables.
// complete is false if this process lacks the value of one; the function then records the
// variable as unset.
func (c *compiler) expandSettingAddress(at syntax.KeyPath, a schema.OutboundURL) (text string, complete bool) {
	found, _ := c.source.findNode(at)
	complete = true
	return a.ReplaceVariables(func(name string) string {
		value, given := found.Variables[name]
		if !given {
			c.recordUnset(at, UnsetEnvironmentVariable{}, syntax.UnsetVariableError(name).Error())
			complete = false
		}
		return value
	}), complete
}

// urlOrigin returns the scheme and host of a URL, or "" if the URL is invalid or has no host.
func urlOrigin(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// storedSecretName returns the name under which the exchange stores the encrypted (sealed) value
// of a ${VARIABLE} that an address of this owner contains, such as buyer/acme/variable/KEY.
func (o secretOwner) storedSecretName(variableName string) string {
	return o.prefix + escape.VariablePart + variableName
}

const maxURL = 2048

// checkURL reports mistakes in an address that the exchange will call. It allows plain http to an IP
// address only within the trusted networks. The dialer checks host names later, because only then their
// addresses are known. This function reports plain http to a host name that can never work, but still
// returns true. Messages never quote the address: a query may contain a key.
func (c *compiler) checkURL(at syntax.KeyPath, text string, allowQuery bool) (valid bool) {
	u, ok := c.parseAndCheckURL(at, text, allowQuery)
	return ok && c.checkPlainHTTP(at, u)
}

// parseAndCheckURL parses an address and reports mistakes in its form. Unlike checkURL, it
// allows plain http everywhere. allowQuery allows a query (?…). It returns false after a
// mistake.
func (c *compiler) parseAndCheckURL(at syntax.KeyPath, text string, allowQuery bool) (parsed *url.URL, valid bool) {
	u, err := url.Parse(text)
	switch {
	case err != nil || len(text) > maxURL || u.Host == "" || u.Hostname() == "" || u.Opaque != "":
		c.reportMistake(at, "is not an address; write for example https://buyer.example/leads")
	case u.Scheme != "https" && u.Scheme != "http":
		c.reportMistake(at, "has a scheme other than https and http; begin it with https://")
	case u.User != nil:
		c.reportMistake(at, "contains a user or password; give credentials under auth")
	case u.Fragment != "" || strings.Contains(text, "#"):
		c.reportMistake(at, "has a fragment (#…), which is never sent; remove it")
	case !allowQuery && (u.RawQuery != "" || u.ForceQuery):
		c.reportMistake(at, "has a query (?…), but paths are added to it; give ping_url and post_url instead")
	default:
		return u, true
	}
	return nil, false
}

// isIPOutsideTrustedNetworks reports whether host is an IP address outside the configured
// trusted networks. It returns false for a host name.
func (c *compiler) isIPOutsideTrustedNetworks(host string) bool {
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

// checkPlainHTTP reports plain http to an address outside the trusted networks. The
// dialer resolves a host name and requires an address within them. Without trusted
// networks, plain http to a host name can therefore never work, and is reported too. With trusted
// networks, a host name other than localhost only causes a warning. The result is false only for an
// IP address outside the trusted networks.
func (c *compiler) checkPlainHTTP(at syntax.KeyPath, u *url.URL) (ipAllowed bool) {
	host := u.Hostname()
	_, err := netip.ParseAddr(host)
	local := strings.EqualFold(host, "localhost")
	switch {
	case u.Scheme != "http":
	case err == nil && c.isIPOutsideTrustedNetworks(host):
		c.reportMistake(at, "is plain http outside trusted_networks; use https, or add its network to trusted_networks")
		return false
	case local && c.isIPOutsideTrustedNetworks("127.0.0.1") && c.isIPOutsideTrustedNetworks("::1"):
		c.reportNeverWorksOrWarnIfAccepted(at, "is plain http outside trusted_networks; use https, or add 127.0.0.0/8 to trusted_networks")
	case err != nil && len(c.networks) == 0:
		c.reportNeverWorksOrWarnIfAccepted(at, "is plain http to a host name, and trusted_networks is empty; use https, or add the network of the host")
	case err != nil && !local:
		c.addWarning(at, "is plain http to a host name; requests fail if the host's address is outside trusted_networks. Use https, or check the address")
	}
	return true
}

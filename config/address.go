package config

import (
	"net/url"
	"regexp"
	"strings"
	"unicode"

	"pingpost/engine/market/escape"
)

// Address is a URL that the exchange calls. ${NAME} in it is a secret: it stays ${NAME}
// wherever the document is written, and the value is sealed. The braces of a reference
// are the two characters that no text may hold, so that a plain ${ is none.
type Address string

func (a *Address) read(n *node) error {
	if !n.expanded {
		return readText(n, (*string)(a))
	}
	text, _, err := expand(n.raw, func(name string) (string, bool) {
		return "$" + string(hiddenOpen) + name + string(hiddenClose), true
	})
	*a = Address(text)
	return err
}

var (
	addressVariable = regexp.MustCompile(`\$` + string(hiddenOpen) + `(\w+)` + string(hiddenClose))
	secretCall      = regexp.MustCompile(`\{\{\s*secret\s+"([^"{}]*)"\s*\}\}`)
	secretBegun     = regexp.MustCompile(`\{\{\s*secret\b`)
)

// owner is the supplier or buyer whose secrets an address or a header may hold.
type owner struct {
	prefix string            // of the names of its sealed values
	names  map[string]string // full names of its secrets, by their names in the document
}

// placeholders returns a text with a placeholder for each {{secret "name"}}. A mistake
// is reported at the place.
func (c *compiler) placeholders(at place, text string, how escape.Kind, of owner) string {
	out := secretCall.ReplaceAllStringFunc(text, func(call string) string {
		name := secretCall.FindStringSubmatch(call)[1]
		full, known := of.names[name]
		if !known {
			c.fail(at, "there is no secret "+quote(name)+"; add it to the buyer's secrets, or correct the name")
			full = "unknown" // the rest of the address is judged all the same
		}
		return string(escape.AppendPlaceholder(nil, how, full))
	})
	if secretBegun.MatchString(out) {
		c.fail(at, `holds {{secret}} in another form than {{secret "name"}}; no function takes a secret here`)
	}
	return out
}

// remote judges an address and returns it as the catalog has it: with placeholders.
// A variable without a value here is judged like a secret of unknown value. Where it is
// in the host, nothing can be judged, and only the address in force may stay.
func (c *compiler) remote(at place, a Address, withQuery bool, of owner) string {
	if strings.ContainsFunc(string(a), unicode.IsControl) {
		c.fail(at, "holds a control character; remove it")
		return ""
	}
	values, missing, fit := c.variables(at, a, of)
	text := addressVariable.ReplaceAllStringFunc(string(a), func(reference string) string {
		return string(escape.AppendPlaceholder(nil, escape.None, of.variable(addressVariable.FindStringSubmatch(reference)[1])))
	})
	text = c.placeholders(at, text, escape.URL, of)
	fill := func(secret string) string {
		filled, _ := escape.AppendResolved(nil, []byte(text), func(name string) (string, bool) {
			if value, is := values[name]; is {
				return value, true
			}
			return secret, true
		})
		return string(filled)
	}
	one := fill("one")
	hostKnown := originOf(one) != "" && originOf(one) == originOf(fill("two"))
	for _, name := range missing {
		kept := Kept{Secret: of.variable(name)}
		if !hostKnown {
			kept.address = a
		}
		c.lacksFor(at, kept, missingVariable(name).Error())
	}
	if !fit || len(missing) > 0 && !hostKnown {
		return text
	}
	if c.url(at, one, withQuery) && !hostKnown {
		c.fail(at, `has {{secret "…"}} in its host; a secret stands in the path or in the query`)
	}
	return text
}

// variables are the values of an address's variables, by their sealed names, and the
// names of the variables without a value here. It is not fit where a value cannot stand
// in an address.
func (c *compiler) variables(at place, a Address, of owner) (values map[string]string, missing []string, fit bool) {
	found, _ := c.source.find(at)
	values, fit = make(map[string]string), true
	for _, name := range a.variables() {
		value, given := found.values[name]
		sealed := of.variable(name)
		switch {
		case !given:
			missing = append(missing, name)
		case value == "" || len(value) > maxSecret || strings.ContainsFunc(value, notInLine):
			c.fail(at, "takes from the environment what is empty, too long or not one line of printable ASCII")
			fit = false
		case values[sealed] == "":
			c.out.Firsts.Secrets = append(c.out.Firsts.Secrets, FirstSecret{Name: sealed, Value: NewSecret(value), Follows: true})
			values[sealed] = value
		}
	}
	return values, missing, fit
}

// variables are the names of the variables in an address.
func (a Address) variables() (names []string) {
	for _, reference := range addressVariable.FindAllStringSubmatch(string(a), -1) {
		names = append(names, reference[1])
	}
	return names
}

// settingAddress is an address of the settings with its values. It is not complete where
// a variable has none here.
func (c *compiler) settingAddress(at place, a Address) (text string, complete bool) {
	found, _ := c.source.find(at)
	complete = true
	return addressVariable.ReplaceAllStringFunc(string(a), func(reference string) string {
		name := addressVariable.FindStringSubmatch(reference)[1]
		value, given := found.values[name]
		if !given {
			c.lacksFor(at, Kept{}, missingVariable(name).Error())
			complete = false
		}
		return value
	}), complete
}

// originOf is the scheme and host of an address, as a request would find them. It is
// empty where there is no host.
func originOf(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// variable is the name of the sealed value of a variable.
func (o owner) variable(name string) string { return o.prefix + escape.VariablePart + name }

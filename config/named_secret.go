package config

import (
	"strings"

	"pingpost/config/schema"
	"pingpost/config/syntax"
	"pingpost/engine/market/escape"
)

const maxSecrets = 32

// BuyerNamedSecretName returns the name under which the exchange stores a buyer's secret with the
// given short name.
func BuyerNamedSecretName(buyer, name string) string {
	return buyerSecretPrefix(buyer) + "/secret/" + name
}

func buyerSecretPrefix(id string) string { return "buyer/" + id }

func supplierSecretPrefix(id string) string { return "supplier/" + id }

// compileNamedSecrets checks a buyer's named secrets and records their initial values. It
// returns them for the buyer's addresses, headers and templates.
func (c *compiler) compileNamedSecrets(at syntax.KeyPath, b *schema.Buyer) secretOwner {
	owner := secretOwner{prefix: buyerSecretPrefix(b.ID), secrets: make(map[string]string, len(b.Secrets))}
	if len(b.Secrets) > maxSecrets {
		c.reportMistake(at, "are more than 32; an adapter cannot use more")
	}
	seen := make(map[string]syntax.KeyPath, len(b.Secrets))
	for i := range b.Secrets {
		here, s := at.Index(i), &b.Secrets[i]
		if c.checkID(here.Key("name"), s.Name) {
			c.checkUnique(here.Key("name"), seen, s.Name)
		}
		c.requireSecret(here.Key("value"), s.Value)
		if value := s.Value.Reveal(); len(value) > schema.MaxSecret || strings.ContainsFunc(value, isNotPrintableASCII) {
			c.reportMistake(here.Key("value"), "is not one line of printable ASCII; check its ends")
		}
		owner.secrets[s.Name] = c.addInitialSecretOrRecordUnset(here.Key("value"), BuyerNamedSecretName(b.ID, s.Name), s.Value)
	}
	return owner
}

// DescribeSecretMistake checks a value for the stored secret with this name. It returns the
// required form if the value is invalid, otherwise "". The rules are those for secrets in a
// document.
func DescribeSecretMistake(storedName, value string) (requiredForm string) {
	of, kind, _ := strings.Cut(storedName, "/")
	_, kind, _ = strings.Cut(kind, "/")
	switch {
	case of == "supplier" && !IsValidWebhookSecret(value):
		return "a webhook secret: whsec_ followed by base64"
	case (kind == "bearer" || kind == "api_key") && !schema.NewSecret(value).CanBeHeaderValue():
		return "at most 4096 visible ASCII characters, without spaces"
	case len(value) > schema.MaxSecret || strings.ContainsFunc(value, isNotPrintableASCII):
		return "one line of printable ASCII, at most 4096 characters"
	}
	return ""
}

// IsAddressVariable reports whether the stored secret of this name is the value of a ${VARIABLE} in
// a URL of a supplier or buyer. Only the configuration and its environment set such a value; the
// API cannot.
func IsAddressVariable(secretName string) bool {
	return escape.IsVariableName(secretName)
}

package config

import (
	"strings"

	"pingpost/engine/market/escape"
)

// NamedSecret is a secret that stands in a buyer's addresses, headers and bodies where
// these say {{secret "name"}}.
type NamedSecret struct {
	Name  string `json:"name"`
	Value Secret `json:"value,omitzero"`
}

const maxSecrets = 32

// BuyerSecretName is the full name of a buyer's named secret.
func BuyerSecretName(buyer, name string) string { return buyerPrefix(buyer) + "/secret/" + name }

func buyerPrefix(id string) string    { return "buyer/" + id }
func supplierPrefix(id string) string { return "supplier/" + id }

// secrets judges a buyer's named secrets.
func (c *compiler) secrets(at place, b *Buyer) owner {
	of := owner{prefix: buyerPrefix(b.ID), names: make(map[string]string, len(b.Secrets))}
	if len(b.Secrets) > maxSecrets {
		c.fail(at, "are over 32; an endpoint that needs more is not one that an adapter is for")
	}
	seen := make(map[string]place, len(b.Secrets))
	for i := range b.Secrets {
		here, s := at.at(i), &b.Secrets[i]
		if c.id(here.key("name"), s.Name) {
			c.once(here.key("name"), seen, s.Name)
		}
		c.needed(here.key("value"), s.Value)
		if value := s.Value.Reveal(); len(value) > maxSecret || strings.ContainsFunc(value, notInLine) {
			c.fail(here.key("value"), "is not one line of printable ASCII; check its ends")
		}
		of.names[s.Name] = c.keep(here.key("value"), BuyerSecretName(b.ID, s.Name), s.Value)
	}
	return of
}

// UnfitSecret reports why a value cannot be that of a sealed secret, empty where it can:
// the rule that a document's secrets have.
func UnfitSecret(name, value string) string {
	of, kind, _ := strings.Cut(name, "/")
	_, kind, _ = strings.Cut(kind, "/")
	switch {
	case of == "supplier" && !Signs(value):
		return "a webhook secret: whsec_ followed by base64"
	case (kind == "bearer" || kind == "api_key") && !NewSecret(value).visible():
		return "at most 4096 visible ASCII characters, without spaces"
	case len(value) > maxSecret || strings.ContainsFunc(value, notInLine):
		return "one line of printable ASCII, at most 4096 characters"
	}
	return ""
}

// IsVariable reports whether a sealed value is a variable of an address. The document
// and its environment have the word on it.
func IsVariable(secret string) bool { return strings.Contains(secret, escape.VariablePart) }

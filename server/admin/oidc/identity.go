package oidc

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	gooidc "github.com/coreos/go-oidc/v3/oidc"

	"pingpost/engine/market"
)

// NamePrefix begins the names of people who sign in at the provider. No account's name begins so.
const NamePrefix = "oidc:"

// Identity is a person whom the provider has authenticated.
type Identity struct {
	Name string // for log records, such as oidc:anna@example.com; at most 64 bytes
	Role market.OperatorRole
}

// identifyAndRequireRole returns the person of a verified id token. The error is ErrNoRole without a
// role or an allowed domain, and ErrInvalid for a token of another client.
//
// A verified e-mail address is the name. Without one it is the subject with a prefix, because anyone
// could claim an unverified address and act under its name.
func (p *Provider) identifyAndRequireRole(token *gooidc.IDToken) (Identity, error) {
	var claims map[string]any
	var about struct {
		Email         string `json:"email"`
		EmailVerified any    `json:"email_verified"` // some providers send it as text
		Party         string `json:"azp"`
	}
	if err := token.Claims(&claims); err != nil {
		return Identity{}, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if err := token.Claims(&about); err != nil {
		return Identity{}, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if about.Party != "" && about.Party != p.options.ClientID || about.Party == "" && len(token.Audience) > 1 {
		return Identity{}, fmt.Errorf("%w: the id token is for another client", ErrInvalid)
	}
	subject := "sub:" + token.Subject
	isVerified := about.Email != "" && (about.EmailVerified == true || about.EmailVerified == "true")
	if isVerified {
		subject = strings.ToLower(about.Email)
	}
	if len(p.options.AllowedDomains) > 0 {
		_, domain, _ := cutLast(subject, "@")
		if !isVerified || !slices.Contains(p.options.AllowedDomains, domain) {
			return Identity{}, fmt.Errorf("%w: the e-mail address is not verified, or its domain is not in admin.oidc.allowed_domains", ErrNoRole)
		}
	}
	role := p.highestRoleOrDefault(claims)
	if role == 0 {
		return Identity{}, fmt.Errorf("%w: no value of the claim %q is in admin.oidc.roles.map", ErrNoRole, p.options.RolesClaim)
	}
	return Identity{Name: logNameOf(subject), Role: role}, nil
}

// highestRoleOrDefault returns the highest role that the claims give, or the default role.
func (p *Provider) highestRoleOrDefault(claims map[string]any) (highest market.OperatorRole) {
	for _, value := range textsOf(findClaim(claims, p.options.RolesClaim)) {
		highest = max(highest, p.options.Roles[value])
	}
	if highest == 0 {
		return p.options.DefaultRole
	}
	return highest
}

// findClaim returns the claim of this name. A name with dots that no claim has leads into objects:
// realm_access.roles is the member roles of the claim realm_access.
func findClaim(claims map[string]any, name string) any {
	if value, ok := claims[name]; ok {
		return value
	}
	first, rest, _ := strings.Cut(name, ".")
	if inner, ok := claims[first].(map[string]any); ok && rest != "" {
		return findClaim(inner, rest)
	}
	return nil
}

// textsOf returns the texts of a claim that is a text or a list of texts.
func textsOf(claim any) (texts []string) {
	switch claim := claim.(type) {
	case string:
		return []string{claim}
	case []any:
		for _, item := range claim {
			if text, ok := item.(string); ok {
				texts = append(texts, text)
			}
		}
	}
	return texts
}

const maxName = 64 // bytes

// logNameOf returns the name for log records. A long subject, or one with characters that could confuse
// a reader, is replaced by a beginning and a hash, so that two people never have one name.
func logNameOf(subject string) string {
	plain := strings.Map(func(r rune) rune {
		if r <= ' ' || r > '~' {
			return -1
		}
		return r
	}, subject)
	if plain == subject && len(NamePrefix)+len(subject) <= maxName {
		return NamePrefix + subject
	}
	sum := sha256.Sum256([]byte(subject))
	return NamePrefix + plain[:min(len(plain), 40)] + "~" + hex.EncodeToString(sum[:8])
}

// cutLast cuts the text at the last separator.
func cutLast(text, separator string) (before, after string, found bool) {
	if i := strings.LastIndex(text, separator); i >= 0 {
		return text[:i], text[i+len(separator):], true
	}
	return text, "", false
}

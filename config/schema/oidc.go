package schema

import (
	"encoding/json"
	"maps"

	"pingpost/config/syntax"
)

// OIDCSignIn configures the sign-in of operators at an OpenID Connect provider.
type OIDCSignIn struct {
	Issuer         string    `json:"issuer"`
	ClientID       string    `json:"client_id"`
	ClientSecret   Secret    `json:"client_secret,omitzero"`
	Label          string    `json:"label,omitempty"` // name of the provider on the sign-in page
	Scopes         []string  `json:"scopes,omitempty"`
	Roles          OIDCRoles `json:"roles"`
	DefaultRole    string    `json:"default_role,omitempty"`
	AllowedDomains []string  `json:"allowed_domains,omitempty"`
}

// OIDCRoles says which values of a claim give which role.
type OIDCRoles struct {
	Claim string  `json:"claim"`
	Map   RoleMap `json:"map,omitzero"`
}

const defaultRolesClaim = "groups"

func (o *OIDCSignIn) fillDefaults() {
	if o == nil {
		return
	}
	setDefault(&o.Roles.Claim, defaultRolesClaim)
	if o.Scopes == nil {
		o.Scopes = []string{"openid", "email", "profile"}
	}
}

// RoleMap maps values of a claim to names of roles. It is written as a mapping whose keys are any
// texts, so it decodes itself.
type RoleMap struct{ byValue map[string]string }

// NewRoleMap returns a RoleMap with these names of roles by the claim's values.
func NewRoleMap(byValue map[string]string) RoleMap { return RoleMap{byValue} }

// ByValue returns the names of roles by the claim's values.
func (m RoleMap) ByValue() map[string]string { return maps.Clone(m.byValue) }

// IsZero reports whether the map is empty. encoding/json calls it for the option omitzero.
func (m RoleMap) IsZero() bool { return len(m.byValue) == 0 }

// MarshalJSON writes the map as an object with sorted keys.
func (m RoleMap) MarshalJSON() ([]byte, error) { return json.Marshal(m.byValue) }

func (m *RoleMap) decodeNode(n *syntax.Node) error {
	if n.Kind != syntax.Mapping {
		return newExpectedError("a mapping of the claim's values to roles, such as {ops: operator}", n)
	}
	m.byValue = make(map[string]string, len(n.Members))
	for _, member := range n.Members {
		var role string
		if err := readText(member.Value, &role); err != nil {
			return err
		}
		m.byValue[member.Key] = role
	}
	return nil
}

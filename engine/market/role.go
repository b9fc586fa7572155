package market

// Role is what an operator may do: all that one below it may, and more. Numbers are
// in the log.
type Role uint8

const (
	RoleViewer   Role = 1 // looks at what is no secret
	RoleOperator Role = 2 // runs the day: pauses, returns, deliveries, webhooks
	RoleAdmin    Role = 3 // changes what the exchange is, its money and its secrets
)

func (r Role) String() string {
	switch r {
	case RoleViewer:
		return "viewer"
	case RoleOperator:
		return "operator"
	case RoleAdmin:
		return "admin"
	}
	return "none"
}

// ParseRole reads a role's name.
func ParseRole(name string) (Role, bool) {
	for r := RoleViewer; r <= RoleAdmin; r++ {
		if r.String() == name {
			return r, true
		}
	}
	return 0, false
}
